-- Jobs: runs that operators ask for, once or again and again, and what became of each run.

CREATE TYPE job_kind AS ENUM ('crawl', 'refresh', 'discover', 'recalculate', 'prune', 'import');
CREATE TYPE job_status AS ENUM ('pending', 'scheduled', 'running', 'paused', 'completed', 'failed', 'cancelled');
CREATE TYPE execution_status AS ENUM ('running', 'completed', 'failed', 'cancelled');
CREATE TYPE log_category AS ENUM ('lifecycle', 'fetch', 'extract', 'error', 'rate_limit', 'queue', 'metrics');

CREATE TABLE jobs (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind job_kind NOT NULL DEFAULT 'crawl',
  status job_status NOT NULL,
  source_id integer REFERENCES sources ON DELETE CASCADE,
  -- NULL: the source's address.
  url text,
  -- NULL: it runs once.
  interval_seconds integer CHECK (interval_seconds BETWEEN 60 AND 31536000),
  schedule_enabled boolean NOT NULL DEFAULT true,
  adaptive_scheduling boolean NOT NULL DEFAULT true,
  -- Runs in a row that found the same articles as the run before; the interval doubles with each.
  unchanged_runs smallint NOT NULL DEFAULT 0 CHECK (unchanged_runs >= 0),
  -- Of the set of article URLs that the last run found.
  found_hash bytea CHECK (octet_length(found_hash) = 32),
  next_run_at timestamptz,
  -- A time of its phase. Recurring runs keep to it, whatever retries, recoveries and forced runs come in between.
  phase_at timestamptz,
  -- next_run_at stands outside the phase: a retry, or a run that was recovered.
  off_phase boolean NOT NULL DEFAULT false,
  max_retries smallint NOT NULL DEFAULT 3 CHECK (max_retries BETWEEN 0 AND 100),
  retry_backoff_seconds integer NOT NULL DEFAULT 60 CHECK (retry_backoff_seconds BETWEEN 1 AND 3600),
  retries smallint NOT NULL DEFAULT 0 CHECK (retries >= 0),
  max_pages integer CHECK (max_pages > 0),
  max_depth smallint CHECK (max_depth >= -1),
  metadata jsonb NOT NULL DEFAULT '{}',
  -- Why it rests: an operator paused it, or its source was disabled and takes it along when it is enabled again.
  pause_reason text CHECK (pause_reason IN ('operator', 'source_disabled')),
  -- Where it goes when a forced run ends: a paused job is paused again.
  returns_to job_status CHECK (returns_to IN ('scheduled', 'paused')),
  -- Who runs it. The token is the fence: whoever has lost it changes nothing.
  lock_token uuid,
  locked_by text,
  heartbeat_at timestamptz,
  execution_id bigint,
  -- Whoever ran it has stopped in order: the next scheduler goes on with the same execution.
  handed_back boolean NOT NULL DEFAULT false,
  executions integer NOT NULL DEFAULT 0,
  -- When rebalancing last gave it another time.
  moved_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'running') = (lock_token IS NOT NULL)),
  CHECK ((status = 'running') = (execution_id IS NOT NULL)),
  CHECK ((status = 'running') = (heartbeat_at IS NOT NULL)),
  CHECK ((status = 'paused') = (pause_reason IS NOT NULL)),
  CHECK (status = 'running' OR NOT handed_back),
  CHECK (status NOT IN ('pending', 'scheduled') OR next_run_at IS NOT NULL),
  CHECK (kind NOT IN ('crawl', 'refresh', 'discover') OR source_id IS NOT NULL)
) WITH (fillfactor = 70);
-- What is due, and what stands in which slot.
CREATE INDEX jobs_due ON jobs (next_run_at) WHERE status IN ('pending', 'scheduled');
CREATE INDEX jobs_running ON jobs (heartbeat_at) WHERE status = 'running';
-- Lists, newest first and by the next run; there is no order by both a source and a time, of whose jobs there are few.
CREATE INDEX jobs_source ON jobs (source_id, id);
CREATE INDEX jobs_status ON jobs (status, id);
CREATE INDEX jobs_kind ON jobs (kind, id);
CREATE INDEX jobs_next ON jobs (coalesce(next_run_at, 'infinity'::timestamptz), id);
CREATE INDEX jobs_status_next ON jobs (status, coalesce(next_run_at, 'infinity'::timestamptz), id);

-- Every change of status, with who or what did it.
CREATE TABLE job_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id integer NOT NULL REFERENCES jobs ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  from_status job_status,
  to_status job_status NOT NULL,
  -- create, lease, complete, fail, retry, recover, pause, resume, cancel, force_run, schedule, …
  action text NOT NULL,
  reason text,
  actor text NOT NULL,
  execution_id bigint,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX job_events_job ON job_events (job_id, id);
CREATE INDEX job_events_tx ON job_events (tx, id);
-- Locks whose holders fell silent: few, and looked for by everybody who asks how things stand.
CREATE INDEX job_events_recovered ON job_events (at) WHERE action = 'recover';

CREATE TABLE job_executions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id integer NOT NULL REFERENCES jobs ON DELETE CASCADE,
  number integer NOT NULL CHECK (number >= 1),
  status execution_status NOT NULL DEFAULT 'running',
  -- What made it run: its time came, an operator forced it, or the run before failed.
  trigger text NOT NULL CHECK (trigger IN ('schedule', 'force_run', 'retry')),
  worker text NOT NULL,
  started_at timestamptz NOT NULL,
  completed_at timestamptz,
  items_crawled integer NOT NULL DEFAULT 0,
  items_indexed integer NOT NULL DEFAULT 0,
  retry_attempt smallint NOT NULL DEFAULT 0,
  error_message text,
  error_stack text,
  -- As the workers that did its pages report them.
  cpu_ms bigint NOT NULL DEFAULT 0,
  peak_memory_bytes bigint,
  -- Of the set of article URLs it found.
  found_hash bytea CHECK (octet_length(found_hash) = 32),
  -- Lines so far: the number of the next is given under this row's lock, so that they commit in their order.
  log_lines integer NOT NULL DEFAULT 0,
  -- Its first step is done: whoever takes it over does not take it again.
  begun boolean NOT NULL DEFAULT false,
  -- What the rows that still wait under it become: ordinary ones, or dead with this code. NULL: nothing is left to do.
  sweep text CHECK (sweep IN ('free', 'run_ended', 'cancelled')),
  metadata jsonb NOT NULL DEFAULT '{}',
  UNIQUE (job_id, number),
  CHECK ((status = 'running') = (completed_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX job_executions_started ON job_executions (started_at);
CREATE INDEX job_executions_sweep ON job_executions (id) WHERE sweep IS NOT NULL;

CREATE TABLE execution_logs (
  execution_id bigint NOT NULL REFERENCES job_executions ON DELETE CASCADE,
  id integer NOT NULL CHECK (id >= 1),
  at timestamptz NOT NULL,
  category log_category NOT NULL,
  level text NOT NULL CHECK (level IN ('info', 'warn', 'error')),
  message text NOT NULL,
  detail jsonb,
  PRIMARY KEY (execution_id, id)
);

-- A source that the spider reads gets its job by itself, once: one that was deleted on purpose does not come back.
ALTER TABLE sources ADD COLUMN job_made_at timestamptz;
-- Looked through every ten seconds.
CREATE INDEX sources_jobless ON sources (id) WHERE job_made_at IS NULL AND ingestion_mode IN ('spider', 'both');

-- What settles tell the executions whose rows they ended. Whoever runs one takes its reports away and writes them into
-- its log in the same transaction, so that no line is lost or doubled however late a settle commits.
CREATE TABLE execution_reports (
  bucket smallint NOT NULL,
  status smallint,
  execution_id bigint NOT NULL,
  at timestamptz NOT NULL,
  total_ms integer,
  words integer,
  bytes bigint,
  -- request, document or hold.
  what text NOT NULL CHECK (what IN ('request', 'document', 'hold')),
  kind text,
  outcome text,
  url text,
  title text
);
CREATE INDEX execution_reports_execution ON execution_reports (execution_id, at);

-- The articles that a run's listings named; gone when it ends, when their hash is taken.
CREATE TABLE execution_found (
  execution_id bigint NOT NULL,
  url_hash bytea NOT NULL CHECK (octet_length(url_hash) = 32),
  is_new boolean NOT NULL,
  PRIMARY KEY (execution_id, url_hash)
);

-- An execution's rows while they wait. Rows without an execution and rows that are done have no entry and pay nothing.
CREATE INDEX url_frontier_execution ON url_frontier (execution_id, bucket, domain_key)
  WHERE execution_id IS NOT NULL AND status IN ('pending', 'failed', 'needs_render');

-- What schedulers know together: when one of them last looked for due jobs.
CREATE TABLE job_scheduler (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  polled_at timestamptz
);
