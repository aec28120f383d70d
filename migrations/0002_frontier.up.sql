-- The frontier. Every key begins with bucket so that the hot tables can be distributed by it (docs: scale).
-- States are enums: four bytes, checked by the type, and readable in psql and in the functions of 0004.

CREATE TYPE url_kind AS ENUM ('article', 'listing', 'channel', 'image', 'probe');
CREATE TYPE url_origin AS ENUM ('feed', 'sitemap', 'push', 'spider', 'archive', 'refresh', 'redirect', 'manual');
CREATE TYPE url_status AS ENUM ('pending', 'fetched', 'redirected', 'duplicate', 'failed', 'needs_render', 'dead');
CREATE TYPE hold_reason AS ENUM ('politeness', 'retry_after', 'circuit', 'cooldown', 'robots', 'operator');
CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');

CREATE TABLE url_frontier (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  level smallint NOT NULL CHECK (level BETWEEN 1 AND 12),
  priority smallint NOT NULL CHECK (priority BETWEEN 1 AND 10),
  depth smallint NOT NULL DEFAULT 0 CHECK (depth >= 0),
  domain_key bigint NOT NULL,
  due_at timestamptz,
  discovered_at timestamptz NOT NULL,
  last_fetched_at timestamptz,
  kind url_kind NOT NULL,
  origin url_origin NOT NULL,
  status url_status NOT NULL DEFAULT 'pending',
  source_id integer,
  fetch_count integer NOT NULL DEFAULT 0,
  refresh_seconds integer,
  hops smallint NOT NULL DEFAULT 0 CHECK (hops >= 0),
  tries smallint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  crashes smallint NOT NULL DEFAULT 0 CHECK (crashes >= 0),
  http_status smallint,
  ready boolean NOT NULL,
  execution_id bigint,
  url_hash bytea NOT NULL CHECK (octet_length(url_hash) = 32),
  content_hash bytea CHECK (octet_length(content_hash) = 32),
  duplicate_of bytea CHECK (octet_length(duplicate_of) = 32),
  url text NOT NULL,
  parent_url text,
  etag text,
  last_modified text,
  redirected_to text,
  error_code text,
  error_text text,
  validation_status text CHECK (validation_status IN ('valid', 'rejected', 'stub')),
  rejection_reason text,
  PRIMARY KEY (bucket, domain_key, url_hash),
  CHECK (NOT ready OR status IN ('pending', 'failed', 'needs_render')),
  CHECK (NOT ready OR due_at IS NOT NULL),
  CHECK (status <> 'dead' OR error_code IS NOT NULL),
  CHECK (status <> 'redirected' OR redirected_to IS NOT NULL),
  CHECK (status <> 'duplicate' OR duplicate_of IS NOT NULL)
);

-- The lease takes a domain's best rows from here and nothing else is in it.
CREATE INDEX url_frontier_pick ON url_frontier (bucket, domain_key, level DESC, due_at) WHERE ready;
-- Promotion finds what has become due; parked rows cost the pick index nothing.
CREATE INDEX url_frontier_parked ON url_frontier (bucket, domain_key, due_at) WHERE NOT ready AND due_at IS NOT NULL;
-- Lists by source, and an execution's rows.
CREATE INDEX url_frontier_source ON url_frontier (source_id, discovered_at);

-- One narrow row per domain: who may fetch it, when, and what it has to offer. All five functions lock it first.
CREATE TABLE domain_slots (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  top smallint CHECK (top BETWEEN 1 AND 12),
  expired_runs smallint NOT NULL DEFAULT 0,
  good_run smallint NOT NULL DEFAULT 0,
  queued integer NOT NULL DEFAULT 0 CHECK (queued >= 0),
  domain_key bigint NOT NULL,
  next_at timestamptz NOT NULL,
  wake_at timestamptz,
  lease_epoch bigint NOT NULL DEFAULT 0,
  leased_at timestamptz,
  lease_until timestamptz,
  robots_delay_ms integer CHECK (robots_delay_ms >= 0),
  configured_delay_ms integer CHECK (configured_delay_ms >= 0),
  penalty_ms integer NOT NULL DEFAULT 0 CHECK (penalty_ms >= 0),
  hold_reason hold_reason,
  pool text NOT NULL DEFAULT 'default',
  lease_owner text,
  in_flight bytea[],
  PRIMARY KEY (bucket, domain_key),
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK ((lease_owner IS NULL) = (in_flight IS NULL))
) WITH (fillfactor = 60);
-- Leased slots have next_at beyond their lease, so a due entry is a leasable one and an expired lease returns by itself.
CREATE INDEX domain_slots_ready ON domain_slots (pool, top, next_at) WHERE top IS NOT NULL;
CREATE INDEX domain_slots_wake ON domain_slots (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE domains (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  name text NOT NULL,
  parent_domain text,
  status domain_status NOT NULL DEFAULT 'pending',
  status_reason text,
  status_since timestamptz NOT NULL DEFAULT now(),
  host_rules jsonb NOT NULL DEFAULT '{}',
  entry_url text,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_crawled_at timestamptz,
  pages_known bigint NOT NULL DEFAULT 0,
  pages_crawled bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  errors_total bigint NOT NULL DEFAULT 0,
  errors_consecutive integer NOT NULL DEFAULT 0,
  PRIMARY KEY (bucket, domain_key)
) WITH (fillfactor = 80);

CREATE TABLE domain_events (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  at timestamptz NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  from_status domain_status,
  to_status domain_status NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL,
  PRIMARY KEY (bucket, domain_key, at, id)
);

-- robots.txt per origin, shared by all fetchers. rules is the last good copy and serves up to 30 days of failures.
CREATE TABLE robots (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  origin text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('rules', 'allow_all', 'unavailable')),
  http_status smallint,
  error_code text,
  rules jsonb,
  fetched_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  last_good_at timestamptz,
  PRIMARY KEY (bucket, domain_key, origin)
);

-- Poll state of a channel beyond its frontier row, written by settle only.
CREATE TABLE channel_state (
  bucket smallint NOT NULL,
  channel_id integer NOT NULL,
  polls bigint NOT NULL DEFAULT 0,
  not_modified bigint NOT NULL DEFAULT 0,
  items_seen bigint NOT NULL DEFAULT 0,
  items_new bigint NOT NULL DEFAULT 0,
  errors_in_row integer NOT NULL DEFAULT 0,
  error_kind text,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_item_at timestamptz,
  format text,
  hub text,
  PRIMARY KEY (bucket, channel_id)
) WITH (fillfactor = 70);

-- Who else told us of a URL; the first teller is on the URL's row itself.
CREATE TABLE url_sightings (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer NOT NULL,
  parent_hash bytea NOT NULL,
  origin url_origin NOT NULL,
  parent_url text,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash, source_id, parent_hash)
);

-- What a probe (discovery preview, selector test, extract) found; read by whoever asked, deleted a day later.
CREATE TABLE probe_results (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  at timestamptz NOT NULL,
  result jsonb NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash)
);

-- Every request, whatever became of it. Partitioned by day; the default partition catches a missing one.
CREATE TABLE crawl_log (
  at timestamptz NOT NULL,
  bucket smallint NOT NULL,
  status smallint,
  domain_key bigint NOT NULL,
  epoch bigint NOT NULL,
  source_id integer,
  wait_ms integer,
  headers_ms integer,
  total_ms integer,
  bytes bigint,
  execution_id bigint,
  kind text NOT NULL,
  outcome text NOT NULL,
  url_hash bytea,
  url text NOT NULL,
  worker text NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE crawl_log_default PARTITION OF crawl_log DEFAULT;
CREATE INDEX crawl_log_domain ON crawl_log (bucket, domain_key, at);

-- Settle only inserts here; the schedule role folds deltas into counters every 10 s. Statistics read both.
CREATE TABLE counter_deltas (
  bucket smallint NOT NULL,
  minute timestamptz NOT NULL,
  source_id integer,
  inserted integer NOT NULL DEFAULT 0,
  items_seen integer NOT NULL DEFAULT 0,
  items_duplicate integer NOT NULL DEFAULT 0,
  items_rejected integer NOT NULL DEFAULT 0,
  requests integer NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  fetched integer NOT NULL DEFAULT 0,
  unchanged integer NOT NULL DEFAULT 0,
  redirected integer NOT NULL DEFAULT 0,
  duplicate integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  needs_render integer NOT NULL DEFAULT 0,
  dead integer NOT NULL DEFAULT 0,
  robots_blocked integer NOT NULL DEFAULT 0,
  polled integer NOT NULL DEFAULT 0,
  documents integer NOT NULL DEFAULT 0,
  versions integer NOT NULL DEFAULT 0
);

-- source_id 0 stands for "no source": a key column cannot be NULL.
CREATE TABLE counters (
  minute timestamptz NOT NULL,
  source_id integer NOT NULL,
  inserted bigint NOT NULL DEFAULT 0,
  items_seen bigint NOT NULL DEFAULT 0,
  items_duplicate bigint NOT NULL DEFAULT 0,
  items_rejected bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  fetched bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  redirected bigint NOT NULL DEFAULT 0,
  duplicate bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  needs_render bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0,
  robots_blocked bigint NOT NULL DEFAULT 0,
  polled bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  versions bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (minute, source_id)
);
