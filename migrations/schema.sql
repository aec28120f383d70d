-- The schema after all migrations, written by src/db/schema.test.ts. Do not edit.

-- types
CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');
CREATE TYPE execution_status AS ENUM ('running', 'completed', 'failed', 'cancelled');
CREATE TYPE hold_reason AS ENUM ('politeness', 'retry_after', 'circuit', 'cooldown', 'robots', 'operator');
CREATE TYPE job_kind AS ENUM ('crawl', 'refresh', 'discover', 'recalculate', 'prune', 'import');
CREATE TYPE job_status AS ENUM ('pending', 'scheduled', 'running', 'paused', 'completed', 'failed', 'cancelled');
CREATE TYPE log_category AS ENUM ('lifecycle', 'fetch', 'extract', 'error', 'rate_limit', 'queue', 'metrics');
CREATE TYPE url_kind AS ENUM ('article', 'listing', 'channel', 'image', 'probe');
CREATE TYPE url_origin AS ENUM ('feed', 'sitemap', 'push', 'spider', 'archive', 'refresh', 'redirect', 'manual');
CREATE TYPE url_status AS ENUM ('pending', 'fetched', 'redirected', 'duplicate', 'failed', 'needs_render', 'dead');
CREATE TYPE archive_item AS (ord integer, url_hash bytea, url text, kind text, found_by text);
CREATE TYPE backfill_item AS (bucket smallint, domain_key bigint, domain text, parent_domain text, first_seen_at timestamp with time zone, last_crawled_at timestamp with time zone, pages_known bigint, pages_crawled bigint, documents bigint, errors_total bigint, block_reason text, rest_ms double precision);
CREATE TYPE image_sighting AS (ord integer, bucket smallint, domain_key bigint, url_hash bytea, page_domain_key bigint, page_hash bytea, source_id integer, execution_id bigint);
CREATE TYPE rekey_move AS (url_hash bytea, to_hash bytea, url text, seat text);
CREATE TYPE seed_item AS (ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, rank integer);
CREATE TYPE settle_document AS (url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamp with time zone, modified_at timestamp with time zone, content_hash bytea, page_type text, language text, canonical_url text, title text, section text, description text, lead_image text, authors text[], keywords text[], meta jsonb, text_start integer, text_length integer, raw_start integer, raw_length integer, raw_encoding text, raw_type text, hold boolean);
CREATE TYPE settle_domain AS (hold_ms double precision, hold_reason hold_reason, penalty_ms integer, good_run smallint, robots_delay_ms integer, source_delay_ms integer, ladder jsonb, trial_passed boolean, move_to domain_status, move_reason text, rest_ms double precision[]);
CREATE TYPE settle_item AS (url_hash bytea, status url_status, due_in_ms double precision, tries smallint, http_status smallint, error_code text, error_text text, etag text, last_modified text, content_hash bytea, redirected_to text, url text, refresh_seconds integer, validation_status text, rejection_reason text, fetched boolean, unchanged boolean, target boolean, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, items_seen integer, items_duplicate integer, items_rejected integer, channel_id integer, channel_error text, channel_new integer, channel_format text, channel_hub text, channel_sleep text, channel_redirect text, channel_rhythm jsonb, channel_weight real, channel_floor integer, channel_delays integer, channel_delay_s double precision, channel_late_s double precision, channel_topic text, last_item_at timestamp with time zone, result jsonb, execution_id bigint, becomes url_kind);
CREATE TYPE settle_request AS (ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer, execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint);
CREATE TYPE settle_response AS (id uuid, ago_ms double precision, status smallint, method text, url text, address text, truncated text, payload_digest bytea, etag text, last_modified text, sent_etag text, sent_last_modified text, start integer, request_length integer, head_length integer, body_length integer);
CREATE TYPE settle_stored AS (made bytea[], changed integer, same bytea[], images integer, twins bytea[], twin_of bytea[], sources integer[]);
CREATE TYPE submit_item AS (ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, parent_hash bytea, execution_id bigint, due_at timestamp with time zone, modified_at timestamp with time zone, refetch_before timestamp with time zone, own boolean);

-- tables
CREATE TABLE api_tokens (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  created_by text NOT NULL,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text
);
CREATE TABLE archive_domains (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer,
  looked_at timestamp with time zone NOT NULL,
  next_at timestamp with time zone NOT NULL
) WITH (fillfactor=70);
CREATE TABLE archive_tries (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  url text NOT NULL,
  kind text NOT NULL,
  found_by text NOT NULL,
  state text NOT NULL,
  detail text,
  asked_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  again_at timestamp with time zone
);
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT now() NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  detail jsonb DEFAULT '{}'::jsonb NOT NULL,
  tx xid8 DEFAULT pg_current_xact_id() NOT NULL
);
CREATE TABLE auth_secrets (
  name text NOT NULL,
  value bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  announced_at timestamp with time zone
);
CREATE TABLE channel_addresses (
  url_hash bytea NOT NULL,
  channel_id integer NOT NULL,
  url text NOT NULL,
  left_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE channel_state (
  bucket smallint NOT NULL,
  channel_id integer NOT NULL,
  polls bigint DEFAULT 0 NOT NULL,
  not_modified bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_new bigint DEFAULT 0 NOT NULL,
  errors_in_row integer DEFAULT 0 NOT NULL,
  error_kind text,
  failing_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_item_at timestamp with time zone,
  format text,
  hub text,
  slept_at timestamp with time zone,
  sleep_reason text,
  redirect_to text,
  redirects smallint DEFAULT 0 NOT NULL,
  rhythm jsonb,
  weight real,
  floor_seconds integer,
  delays bigint DEFAULT 0 NOT NULL,
  delay_seconds double precision DEFAULT 0 NOT NULL,
  late_seconds double precision DEFAULT 0 NOT NULL,
  topic text,
  pushed_until timestamp with time zone
) WITH (fillfactor=70);
CREATE TABLE channels (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  source_id integer NOT NULL,
  kind text NOT NULL,
  url text NOT NULL,
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  interval_seconds integer DEFAULT 900 NOT NULL,
  found_by text DEFAULT 'manual'::text NOT NULL,
  title text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  parent_id integer,
  depth smallint DEFAULT 0 NOT NULL,
  replaces_id integer,
  takes_all boolean DEFAULT false NOT NULL
);
CREATE TABLE counter_deltas (
  bucket smallint NOT NULL,
  minute timestamp with time zone NOT NULL,
  source_id integer,
  inserted integer DEFAULT 0 NOT NULL,
  items_seen integer DEFAULT 0 NOT NULL,
  items_duplicate integer DEFAULT 0 NOT NULL,
  items_rejected integer DEFAULT 0 NOT NULL,
  requests integer DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched integer DEFAULT 0 NOT NULL,
  unchanged integer DEFAULT 0 NOT NULL,
  redirected integer DEFAULT 0 NOT NULL,
  duplicate integer DEFAULT 0 NOT NULL,
  failed integer DEFAULT 0 NOT NULL,
  needs_render integer DEFAULT 0 NOT NULL,
  dead integer DEFAULT 0 NOT NULL,
  robots_blocked integer DEFAULT 0 NOT NULL,
  polled integer DEFAULT 0 NOT NULL,
  documents integer DEFAULT 0 NOT NULL,
  versions integer DEFAULT 0 NOT NULL,
  rows_pending integer DEFAULT 0 NOT NULL,
  rows_fetched integer DEFAULT 0 NOT NULL,
  rows_redirected integer DEFAULT 0 NOT NULL,
  rows_duplicate integer DEFAULT 0 NOT NULL,
  rows_failed integer DEFAULT 0 NOT NULL,
  rows_needs_render integer DEFAULT 0 NOT NULL,
  rows_dead integer DEFAULT 0 NOT NULL,
  rows_channel integer DEFAULT 0 NOT NULL,
  latencies smallint[],
  delays smallint[],
  pages integer DEFAULT 0 NOT NULL,
  errors integer DEFAULT 0 NOT NULL,
  recovered integer DEFAULT 0 NOT NULL
);
CREATE TABLE counters (
  minute timestamp with time zone NOT NULL,
  source_id integer NOT NULL,
  inserted bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_duplicate bigint DEFAULT 0 NOT NULL,
  items_rejected bigint DEFAULT 0 NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched bigint DEFAULT 0 NOT NULL,
  unchanged bigint DEFAULT 0 NOT NULL,
  redirected bigint DEFAULT 0 NOT NULL,
  duplicate bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  needs_render bigint DEFAULT 0 NOT NULL,
  dead bigint DEFAULT 0 NOT NULL,
  robots_blocked bigint DEFAULT 0 NOT NULL,
  polled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  versions bigint DEFAULT 0 NOT NULL
);
CREATE TABLE crawl_log (
  at timestamp with time zone NOT NULL,
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
  worker text NOT NULL,
  stale boolean DEFAULT false NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE dead_letters (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  dead_at timestamp with time zone NOT NULL,
  attempts integer NOT NULL,
  error text NOT NULL
);
CREATE TABLE discoveries (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  source_id integer NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  candidates jsonb DEFAULT '[]'::jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  deadline_at timestamp with time zone DEFAULT (now() + '01:00:00'::interval) NOT NULL,
  finished_at timestamp with time zone,
  channel_id integer,
  reason text,
  looked_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE document_bands (
  bucket smallint NOT NULL,
  band bigint NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL
);
CREATE TABLE document_changes (
  seq bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL
);
CREATE TABLE document_copies (
  bucket smallint NOT NULL,
  cluster_domain_key bigint NOT NULL,
  cluster_url_hash bytea NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL
);
CREATE TABLE document_search (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  words tsvector NOT NULL,
  source_id integer,
  dated_at timestamp with time zone NOT NULL,
  language text
);
CREATE TABLE document_signatures (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  cluster_domain_key bigint,
  cluster_url_hash bytea,
  signature bytea NOT NULL
);
CREATE TABLE document_versions (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  content_hash bytea NOT NULL,
  title text,
  text text NOT NULL
);
CREATE TABLE documents (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer,
  version integer DEFAULT 1 NOT NULL,
  word_count integer NOT NULL,
  confidence real NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  published_at timestamp with time zone,
  modified_at timestamp with time zone,
  classified_at timestamp with time zone,
  content_hash bytea NOT NULL,
  page_type text NOT NULL,
  language text,
  classification_status text DEFAULT 'pending'::text NOT NULL,
  url text NOT NULL,
  canonical_url text,
  title text,
  section text,
  description text,
  lead_image text,
  authors text[] DEFAULT '{}'::text[] NOT NULL,
  keywords text[] DEFAULT '{}'::text[] NOT NULL,
  labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  meta jsonb DEFAULT '{}'::jsonb NOT NULL,
  text text NOT NULL
);
CREATE TABLE domain_events (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  from_status domain_status,
  to_status domain_status NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL,
  tx xid8 DEFAULT pg_current_xact_id() NOT NULL
);
CREATE TABLE domain_pins (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer NOT NULL,
  pool text NOT NULL,
  was text,
  pinned_at timestamp with time zone NOT NULL
);
CREATE TABLE domain_rekeys (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  was jsonb NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  began_at timestamp with time zone NOT NULL,
  after_hash bytea DEFAULT '\x'::bytea NOT NULL,
  again boolean DEFAULT false NOT NULL,
  moved bigint DEFAULT 0 NOT NULL,
  merged bigint DEFAULT 0 NOT NULL
);
CREATE TABLE domain_runs (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  started_at timestamp with time zone NOT NULL,
  until_at timestamp with time zone NOT NULL,
  mode text NOT NULL,
  budget integer NOT NULL,
  pages integer DEFAULT 0 NOT NULL,
  documents integer DEFAULT 0 NOT NULL
);
CREATE TABLE domain_slots (
  bucket smallint NOT NULL,
  top smallint,
  expired_runs smallint DEFAULT 0 NOT NULL,
  good_run smallint DEFAULT 0 NOT NULL,
  queued integer DEFAULT 0 NOT NULL,
  domain_key bigint NOT NULL,
  next_at timestamp with time zone NOT NULL,
  wake_at timestamp with time zone,
  lease_epoch bigint DEFAULT 0 NOT NULL,
  leased_at timestamp with time zone,
  lease_until timestamp with time zone,
  robots_delay_ms integer,
  configured_delay_ms integer,
  penalty_ms integer DEFAULT 0 NOT NULL,
  hold_reason hold_reason,
  pool text DEFAULT 'default'::text NOT NULL,
  lease_owner text,
  in_flight bytea[],
  asleep boolean DEFAULT true NOT NULL,
  shift smallint DEFAULT 0 NOT NULL,
  circuit_good smallint,
  network_failures smallint DEFAULT 0 NOT NULL,
  budgeted integer DEFAULT 0 NOT NULL,
  budget_left integer,
  budget_max integer,
  source_delay_ms integer,
  budget_until timestamp with time zone,
  rest_until timestamp with time zone,
  last_good_at timestamp with time zone,
  network_since timestamp with time zone,
  refusals text[],
  circuit_opens timestamp with time zone[],
  circuit_reasons text[],
  own_pool text DEFAULT 'default'::text NOT NULL,
  awaits_render boolean DEFAULT false NOT NULL,
  render_until timestamp with time zone
) WITH (fillfactor=60);
CREATE TABLE domains (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  name text NOT NULL,
  parent_domain text,
  status domain_status DEFAULT 'pending'::domain_status NOT NULL,
  status_reason text,
  status_since timestamp with time zone DEFAULT now() NOT NULL,
  host_rules jsonb DEFAULT '{}'::jsonb NOT NULL,
  entry_url text,
  first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  last_crawled_at timestamp with time zone,
  pages_known bigint DEFAULT 0 NOT NULL,
  pages_crawled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  errors_total bigint DEFAULT 0 NOT NULL,
  errors_consecutive integer DEFAULT 0 NOT NULL,
  first_blocked_at timestamp with time zone,
  block_count integer DEFAULT 0 NOT NULL,
  unreachable_count integer DEFAULT 0 NOT NULL,
  images_found bigint DEFAULT 0 NOT NULL,
  images_stored bigint DEFAULT 0 NOT NULL,
  depth_reached smallint DEFAULT 0 NOT NULL,
  score real DEFAULT 0 NOT NULL,
  seed_rank integer,
  dataset text
) WITH (fillfactor=80);
CREATE TABLE ended_sessions (
  id text NOT NULL,
  expires_at timestamp with time zone NOT NULL
);
CREATE TABLE execution_found (
  execution_id bigint NOT NULL,
  url_hash bytea NOT NULL,
  is_new boolean NOT NULL
);
CREATE TABLE execution_logs (
  execution_id bigint NOT NULL,
  id integer NOT NULL,
  at timestamp with time zone NOT NULL,
  category log_category NOT NULL,
  level text NOT NULL,
  message text NOT NULL,
  detail jsonb
);
CREATE TABLE execution_reports (
  bucket smallint NOT NULL,
  status smallint,
  execution_id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  total_ms integer,
  words integer,
  bytes bigint,
  what text NOT NULL,
  kind text,
  outcome text,
  url text,
  title text
);
CREATE TABLE foreign_hosts (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer NOT NULL,
  day date NOT NULL,
  urls integer NOT NULL,
  is_new boolean NOT NULL
);
CREATE TABLE former_sources (
  id integer NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  deleted_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE image_sightings (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  page_domain_key bigint NOT NULL,
  page_hash bytea NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  execution_id bigint,
  source_id integer,
  sha256 bytea
) WITH (fillfactor=80);
CREATE TABLE images (
  bucket smallint NOT NULL,
  width integer NOT NULL,
  height integer NOT NULL,
  bytes integer NOT NULL,
  perceptual_hash bigint,
  first_seen_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  stored_at timestamp with time zone,
  idle_since timestamp with time zone,
  format text NOT NULL,
  stored_in text NOT NULL,
  sha256 bytea NOT NULL
);
CREATE TABLE job_events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  job_id integer NOT NULL,
  at timestamp with time zone DEFAULT now() NOT NULL,
  from_status job_status,
  to_status job_status NOT NULL,
  action text NOT NULL,
  reason text,
  actor text NOT NULL,
  execution_id bigint,
  tx xid8 DEFAULT pg_current_xact_id() NOT NULL
);
CREATE TABLE job_executions (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  job_id integer NOT NULL,
  number integer NOT NULL,
  status execution_status DEFAULT 'running'::execution_status NOT NULL,
  trigger text NOT NULL,
  worker text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  items_crawled integer DEFAULT 0 NOT NULL,
  items_indexed integer DEFAULT 0 NOT NULL,
  retry_attempt smallint DEFAULT 0 NOT NULL,
  error_message text,
  error_stack text,
  cpu_ms bigint DEFAULT 0 NOT NULL,
  peak_memory_bytes bigint,
  found_hash bytea,
  log_lines integer DEFAULT 0 NOT NULL,
  begun boolean DEFAULT false NOT NULL,
  sweep text,
  metadata jsonb DEFAULT '{}'::jsonb NOT NULL
) WITH (fillfactor=70);
CREATE TABLE job_scheduler (
  one boolean DEFAULT true NOT NULL,
  polled_at timestamp with time zone
);
CREATE TABLE jobs (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind job_kind DEFAULT 'crawl'::job_kind NOT NULL,
  status job_status NOT NULL,
  source_id integer,
  url text,
  interval_seconds integer,
  schedule_enabled boolean DEFAULT true NOT NULL,
  adaptive_scheduling boolean DEFAULT true NOT NULL,
  unchanged_runs smallint DEFAULT 0 NOT NULL,
  found_hash bytea,
  next_run_at timestamp with time zone,
  phase_at timestamp with time zone,
  off_phase boolean DEFAULT false NOT NULL,
  max_retries smallint DEFAULT 3 NOT NULL,
  retry_backoff_seconds integer DEFAULT 60 NOT NULL,
  retries smallint DEFAULT 0 NOT NULL,
  max_pages integer,
  max_depth smallint,
  metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
  pause_reason text,
  returns_to job_status,
  lock_token uuid,
  locked_by text,
  heartbeat_at timestamp with time zone,
  execution_id bigint,
  handed_back boolean DEFAULT false NOT NULL,
  executions integer DEFAULT 0 NOT NULL,
  moved_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  created_by text NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL
) WITH (fillfactor=70);
CREATE TABLE outbox (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  held boolean DEFAULT false NOT NULL,
  retry_at timestamp with time zone
);
CREATE TABLE outbox_responses (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  id uuid NOT NULL,
  domain_key bigint NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  at timestamp with time zone NOT NULL,
  status smallint NOT NULL,
  bytes integer NOT NULL,
  method text NOT NULL,
  url text NOT NULL,
  address text,
  payload_digest bytea,
  truncated text,
  revisit text,
  refers_to uuid,
  refers_to_at timestamp with time zone,
  request_head bytea NOT NULL,
  response_head bytea NOT NULL,
  body bytea
);
CREATE TABLE pagination_rules (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  base text NOT NULL,
  form text NOT NULL,
  evidence integer NOT NULL,
  highest integer NOT NULL,
  reached integer NOT NULL,
  pages integer NOT NULL,
  wanted integer,
  end_reason text,
  ended_at timestamp with time zone,
  first_entries text[] DEFAULT '{}'::text[] NOT NULL,
  seen_at timestamp with time zone NOT NULL
) WITH (fillfactor=70);
CREATE TABLE probe_results (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  at timestamp with time zone NOT NULL,
  result jsonb NOT NULL
);
CREATE TABLE raw_pages (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  fetched_at timestamp with time zone NOT NULL,
  encoding text NOT NULL,
  content_type text,
  body bytea NOT NULL
) PARTITION BY RANGE (fetched_at);
CREATE TABLE response_marks (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  address_hash bytea NOT NULL,
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL,
  payload_digest bytea NOT NULL,
  etag text,
  last_modified text
);
CREATE TABLE robots (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  origin text NOT NULL,
  outcome text NOT NULL,
  http_status smallint,
  error_code text,
  rules jsonb,
  fetched_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  last_good_at timestamp with time zone,
  revive_after bytea
);
CREATE TABLE rollups (
  minutes smallint NOT NULL,
  at timestamp with time zone NOT NULL,
  inserted bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_duplicate bigint DEFAULT 0 NOT NULL,
  items_rejected bigint DEFAULT 0 NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched bigint DEFAULT 0 NOT NULL,
  unchanged bigint DEFAULT 0 NOT NULL,
  redirected bigint DEFAULT 0 NOT NULL,
  duplicate bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  needs_render bigint DEFAULT 0 NOT NULL,
  dead bigint DEFAULT 0 NOT NULL,
  robots_blocked bigint DEFAULT 0 NOT NULL,
  polled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  versions bigint DEFAULT 0 NOT NULL,
  looked_at timestamp with time zone,
  backlog bigint,
  delivered bigint,
  latencies integer[],
  delays integer[]
) WITH (fillfactor=70);
CREATE TABLE settings (
  name text NOT NULL,
  value jsonb NOT NULL,
  changed_at timestamp with time zone DEFAULT now() NOT NULL,
  changed_by text NOT NULL
);
CREATE TABLE sign_in_codes (
  hash bytea NOT NULL,
  name text NOT NULL,
  expires_at timestamp with time zone NOT NULL
);
CREATE TABLE sink_replays (
  sink text NOT NULL,
  source_id integer,
  since timestamp with time zone,
  asked_at timestamp with time zone DEFAULT now() NOT NULL,
  enqueued bigint DEFAULT 0 NOT NULL,
  bucket smallint,
  domain_key bigint,
  url_hash bytea
);
CREATE TABLE sink_states (
  sink text NOT NULL,
  lease_epoch bigint DEFAULT 0 NOT NULL,
  lease_until timestamp with time zone,
  lease_owner text,
  delivered bigint DEFAULT 0 NOT NULL,
  delivered_at timestamp with time zone,
  failing_since timestamp with time zone,
  retry_at timestamp with time zone,
  failures integer DEFAULT 0 NOT NULL,
  error text,
  "position" jsonb
);
CREATE TABLE sinks (
  name text NOT NULL,
  kind text NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  takes text DEFAULT 'documents'::text NOT NULL
);
CREATE TABLE site_prefixes (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  prefix text NOT NULL,
  pages integer NOT NULL,
  content integer NOT NULL,
  barren integer NOT NULL,
  shapes jsonb DEFAULT '{}'::jsonb NOT NULL,
  cap_reason text,
  capped_at timestamp with time zone
) WITH (fillfactor=70);
CREATE TABLE site_refusals (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  reason text NOT NULL,
  links bigint NOT NULL
) WITH (fillfactor=70);
CREATE TABLE site_shapes (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  shape text NOT NULL,
  level smallint NOT NULL,
  articles integer DEFAULT 0 NOT NULL,
  listings integer DEFAULT 0 NOT NULL,
  others integer DEFAULT 0 NOT NULL,
  sampled integer DEFAULT 0 NOT NULL
) WITH (fillfactor=70);
CREATE TABLE sitemap_seen (
  bucket smallint NOT NULL,
  channel_id integer NOT NULL,
  seen bytea NOT NULL
);
CREATE TABLE source_days (
  source_id integer NOT NULL,
  day date NOT NULL,
  inserted bigint DEFAULT 0 NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  pages bigint DEFAULT 0 NOT NULL,
  errors bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  recovered bigint DEFAULT 0 NOT NULL
) WITH (fillfactor=70);
CREATE TABLE source_totals (
  source_id integer NOT NULL,
  inserted bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_duplicate bigint DEFAULT 0 NOT NULL,
  items_rejected bigint DEFAULT 0 NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched bigint DEFAULT 0 NOT NULL,
  unchanged bigint DEFAULT 0 NOT NULL,
  redirected bigint DEFAULT 0 NOT NULL,
  duplicate bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  needs_render bigint DEFAULT 0 NOT NULL,
  dead bigint DEFAULT 0 NOT NULL,
  robots_blocked bigint DEFAULT 0 NOT NULL,
  polled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  versions bigint DEFAULT 0 NOT NULL,
  rows_pending bigint DEFAULT 0 NOT NULL,
  rows_fetched bigint DEFAULT 0 NOT NULL,
  rows_redirected bigint DEFAULT 0 NOT NULL,
  rows_duplicate bigint DEFAULT 0 NOT NULL,
  rows_failed bigint DEFAULT 0 NOT NULL,
  rows_needs_render bigint DEFAULT 0 NOT NULL,
  rows_dead bigint DEFAULT 0 NOT NULL,
  rows_channel bigint DEFAULT 0 NOT NULL
) WITH (fillfactor=70);
CREATE TABLE sources (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  disabled_at timestamp with time zone,
  disable_reason text,
  ingestion_mode text DEFAULT 'feed'::text NOT NULL,
  feed_poll_interval_minutes integer DEFAULT 15 NOT NULL,
  priority smallint DEFAULT 5 NOT NULL,
  rate_limit_ms integer,
  settings jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  job_made_at timestamp with time zone
);
CREATE TABLE url_frontier (
  bucket smallint NOT NULL,
  level smallint NOT NULL,
  priority smallint NOT NULL,
  depth smallint DEFAULT 0 NOT NULL,
  domain_key bigint NOT NULL,
  due_at timestamp with time zone,
  discovered_at timestamp with time zone NOT NULL,
  last_fetched_at timestamp with time zone,
  kind url_kind NOT NULL,
  origin url_origin NOT NULL,
  status url_status DEFAULT 'pending'::url_status NOT NULL,
  source_id integer,
  fetch_count integer DEFAULT 0 NOT NULL,
  refresh_seconds integer,
  hops smallint DEFAULT 0 NOT NULL,
  tries smallint DEFAULT 0 NOT NULL,
  crashes smallint DEFAULT 0 NOT NULL,
  http_status smallint,
  ready boolean NOT NULL,
  execution_id bigint,
  url_hash bytea NOT NULL,
  content_hash bytea,
  duplicate_of bytea,
  url text NOT NULL,
  parent_url text,
  etag text,
  last_modified text,
  redirected_to text,
  error_code text,
  error_text text,
  validation_status text,
  rejection_reason text,
  budgeted boolean DEFAULT false NOT NULL
);
CREATE TABLE url_sightings (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer NOT NULL,
  parent_hash bytea NOT NULL,
  origin url_origin NOT NULL,
  parent_url text,
  seen_at timestamp with time zone NOT NULL
);
CREATE TABLE websub_subscriptions (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  channel_id integer NOT NULL,
  state text DEFAULT 'requested'::text NOT NULL,
  token text NOT NULL,
  secret text NOT NULL,
  hub text NOT NULL,
  topic text NOT NULL,
  callback text NOT NULL,
  tries smallint DEFAULT 0 NOT NULL,
  next_at timestamp with time zone DEFAULT now() NOT NULL,
  asked_at timestamp with time zone,
  lease_until timestamp with time zone,
  last_push_at timestamp with time zone,
  pushes bigint DEFAULT 0 NOT NULL,
  items bigint DEFAULT 0 NOT NULL,
  unsigned bigint DEFAULT 0 NOT NULL,
  unreadable bigint DEFAULT 0 NOT NULL,
  error text,
  created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE workers (
  id text NOT NULL,
  role text NOT NULL,
  pool text DEFAULT 'default'::text NOT NULL,
  version text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamp with time zone DEFAULT now() NOT NULL,
  heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
  state jsonb DEFAULT '{}'::jsonb NOT NULL,
  renders boolean DEFAULT false NOT NULL
);
CREATE TABLE crawl_log_default PARTITION OF crawl_log DEFAULT;
CREATE TABLE raw_pages_default PARTITION OF raw_pages DEFAULT;

-- column storage
ALTER TABLE document_search ALTER COLUMN words SET STORAGE EXTERNAL;
ALTER TABLE outbox_responses ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE raw_pages ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE sitemap_seen ALTER COLUMN seen SET STORAGE EXTERNAL;

-- constraints
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_hash_key UNIQUE (hash);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL)));
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_hash_check CHECK ((octet_length(hash) = 32));
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_role_check CHECK ((role = ANY (ARRAY['read'::text, 'write'::text, 'admin'::text])));
ALTER TABLE archive_domains ADD CONSTRAINT archive_domains_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE archive_domains ADD CONSTRAINT archive_domains_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_check CHECK (((state = 'asked'::text) = (ended_at IS NULL)));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_found_by_check CHECK ((found_by = ANY (ARRAY['robots'::text, 'learned'::text, 'path'::text, 'date'::text])));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_kind_check CHECK ((kind = ANY (ARRAY['sitemap'::text, 'page'::text])));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'worked'::text, 'failed'::text, 'known'::text])));
ALTER TABLE archive_tries ADD CONSTRAINT archive_tries_url_hash_check CHECK ((octet_length(url_hash) = 32));
ALTER TABLE audit ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE auth_secrets ADD CONSTRAINT auth_secrets_pkey PRIMARY KEY (name);
ALTER TABLE auth_secrets ADD CONSTRAINT auth_secrets_value_check CHECK ((octet_length(value) >= 32));
ALTER TABLE channel_addresses ADD CONSTRAINT channel_addresses_pkey PRIMARY KEY (url_hash);
ALTER TABLE channel_state ADD CONSTRAINT channel_state_pkey PRIMARY KEY (bucket, channel_id);
ALTER TABLE channel_state ADD CONSTRAINT channel_state_check CHECK (((slept_at IS NULL) = (sleep_reason IS NULL)));
ALTER TABLE channel_state ADD CONSTRAINT channel_state_weight_check CHECK ((weight > (0)::double precision));
ALTER TABLE channels ADD CONSTRAINT channels_pkey PRIMARY KEY (id);
ALTER TABLE channels ADD CONSTRAINT channels_url_hash_key UNIQUE (url_hash);
ALTER TABLE channels ADD CONSTRAINT channels_depth_check CHECK (((depth >= 0) AND (depth <= 3)));
ALTER TABLE channels ADD CONSTRAINT channels_found_by_check CHECK ((found_by = ANY (ARRAY['manual'::text, 'link'::text, 'path'::text, 'robots'::text, 'index'::text, 'archive'::text])));
ALTER TABLE channels ADD CONSTRAINT channels_interval_seconds_check CHECK (((interval_seconds >= 30) AND (interval_seconds <= 2592000)));
ALTER TABLE channels ADD CONSTRAINT channels_kind_check CHECK ((kind = ANY (ARRAY['feed'::text, 'sitemap'::text, 'page'::text])));
ALTER TABLE counters ADD CONSTRAINT counters_pkey PRIMARY KEY (minute, source_id);
ALTER TABLE dead_letters ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (bucket, sink, domain_key, url_hash, version);
ALTER TABLE discoveries ADD CONSTRAINT discoveries_pkey PRIMARY KEY (id);
ALTER TABLE discoveries ADD CONSTRAINT discoveries_check CHECK (((state = ANY (ARRAY['found'::text, 'nothing'::text])) = (finished_at IS NOT NULL)));
ALTER TABLE discoveries ADD CONSTRAINT discoveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'page'::text, 'candidates'::text, 'found'::text, 'nothing'::text])));
ALTER TABLE document_bands ADD CONSTRAINT document_bands_pkey PRIMARY KEY (bucket, band, first_seen_at, domain_key, url_hash);
ALTER TABLE document_changes ADD CONSTRAINT document_changes_pkey PRIMARY KEY (seq);
ALTER TABLE document_copies ADD CONSTRAINT document_copies_pkey PRIMARY KEY (bucket, cluster_domain_key, cluster_url_hash, first_seen_at, domain_key, url_hash);
ALTER TABLE document_search ADD CONSTRAINT document_search_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_check CHECK (((cluster_domain_key IS NULL) = (cluster_url_hash IS NULL)));
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_signature_check CHECK ((octet_length(signature) = 256));
ALTER TABLE document_versions ADD CONSTRAINT document_versions_pkey PRIMARY KEY (bucket, domain_key, url_hash, version);
ALTER TABLE documents ADD CONSTRAINT documents_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE documents ADD CONSTRAINT documents_classification_status_check CHECK ((classification_status = ANY (ARRAY['pending'::text, 'classified'::text, 'failed'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_page_type_check CHECK ((page_type = ANY (ARRAY['article'::text, 'stub'::text, 'listing'::text, 'other'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_version_check CHECK ((version >= 1));
ALTER TABLE domain_events ADD CONSTRAINT domain_events_pkey PRIMARY KEY (bucket, domain_key, at, id);
ALTER TABLE domain_pins ADD CONSTRAINT domain_pins_pkey PRIMARY KEY (bucket, domain_key, source_id);
ALTER TABLE domain_pins ADD CONSTRAINT domain_pins_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE domain_rekeys ADD CONSTRAINT domain_rekeys_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domain_runs ADD CONSTRAINT domain_runs_pkey PRIMARY KEY (bucket, domain_key, started_at);
ALTER TABLE domain_runs ADD CONSTRAINT domain_runs_mode_check CHECK ((mode = ANY (ARRAY['discovery'::text, 'refresh'::text])));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_budget_max_check CHECK ((budget_max >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_budgeted_check CHECK ((budgeted >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check CHECK (((lease_owner IS NULL) = (lease_until IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check1 CHECK (((lease_owner IS NULL) = (in_flight IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_circuit_good_check CHECK (((circuit_good >= 0) AND (circuit_good <= 1)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_configured_delay_ms_check CHECK ((configured_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_own_pool_check CHECK ((own_pool !~ '^render(:|$)'::text));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_penalty_ms_check CHECK ((penalty_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_queued_check CHECK ((queued >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_robots_delay_ms_check CHECK ((robots_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_shift_check CHECK (((shift >= '-1'::integer) AND (shift <= 1)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_source_delay_ms_check CHECK ((source_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_top_check CHECK (((top >= 1) AND (top <= 12)));
ALTER TABLE domains ADD CONSTRAINT domains_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domains ADD CONSTRAINT domains_seed_rank_check CHECK ((seed_rank >= 1));
ALTER TABLE ended_sessions ADD CONSTRAINT ended_sessions_pkey PRIMARY KEY (id);
ALTER TABLE execution_found ADD CONSTRAINT execution_found_pkey PRIMARY KEY (execution_id, url_hash);
ALTER TABLE execution_found ADD CONSTRAINT execution_found_url_hash_check CHECK ((octet_length(url_hash) = 32));
ALTER TABLE execution_logs ADD CONSTRAINT execution_logs_pkey PRIMARY KEY (execution_id, id);
ALTER TABLE execution_logs ADD CONSTRAINT execution_logs_id_check CHECK ((id >= 1));
ALTER TABLE execution_logs ADD CONSTRAINT execution_logs_level_check CHECK ((level = ANY (ARRAY['info'::text, 'warn'::text, 'error'::text])));
ALTER TABLE execution_reports ADD CONSTRAINT execution_reports_what_check CHECK ((what = ANY (ARRAY['request'::text, 'document'::text, 'hold'::text])));
ALTER TABLE foreign_hosts ADD CONSTRAINT foreign_hosts_pkey PRIMARY KEY (bucket, domain_key, source_id, day);
ALTER TABLE former_sources ADD CONSTRAINT former_sources_pkey PRIMARY KEY (id);
ALTER TABLE image_sightings ADD CONSTRAINT image_sightings_pkey PRIMARY KEY (bucket, domain_key, url_hash, page_domain_key, page_hash);
ALTER TABLE image_sightings ADD CONSTRAINT image_sightings_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE image_sightings ADD CONSTRAINT image_sightings_page_hash_check CHECK ((octet_length(page_hash) = 32));
ALTER TABLE image_sightings ADD CONSTRAINT image_sightings_sha256_check CHECK ((octet_length(sha256) = 32));
ALTER TABLE image_sightings ADD CONSTRAINT image_sightings_url_hash_check CHECK ((octet_length(url_hash) = 32));
ALTER TABLE images ADD CONSTRAINT images_pkey PRIMARY KEY (bucket, sha256);
ALTER TABLE images ADD CONSTRAINT images_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE images ADD CONSTRAINT images_bytes_check CHECK ((bytes > 0));
ALTER TABLE images ADD CONSTRAINT images_format_check CHECK ((format = ANY (ARRAY['jpeg'::text, 'png'::text, 'gif'::text, 'webp'::text, 'avif'::text])));
ALTER TABLE images ADD CONSTRAINT images_height_check CHECK ((height > 0));
ALTER TABLE images ADD CONSTRAINT images_sha256_check CHECK ((octet_length(sha256) = 32));
ALTER TABLE images ADD CONSTRAINT images_stored_in_check CHECK ((stored_in = ANY (ARRAY['folder'::text, 's3'::text])));
ALTER TABLE images ADD CONSTRAINT images_width_check CHECK ((width > 0));
ALTER TABLE job_events ADD CONSTRAINT job_events_pkey PRIMARY KEY (id);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_pkey PRIMARY KEY (id);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_job_id_number_key UNIQUE (job_id, number);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_check CHECK (((status = 'running'::execution_status) = (completed_at IS NULL)));
ALTER TABLE job_executions ADD CONSTRAINT job_executions_found_hash_check CHECK ((octet_length(found_hash) = 32));
ALTER TABLE job_executions ADD CONSTRAINT job_executions_number_check CHECK ((number >= 1));
ALTER TABLE job_executions ADD CONSTRAINT job_executions_sweep_check CHECK ((sweep = ANY (ARRAY['free'::text, 'run_ended'::text, 'cancelled'::text])));
ALTER TABLE job_executions ADD CONSTRAINT job_executions_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'force_run'::text, 'retry'::text])));
ALTER TABLE job_scheduler ADD CONSTRAINT job_scheduler_pkey PRIMARY KEY (one);
ALTER TABLE job_scheduler ADD CONSTRAINT job_scheduler_one_check CHECK (one);
ALTER TABLE jobs ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE jobs ADD CONSTRAINT jobs_check CHECK (((status = 'running'::job_status) = (lock_token IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check1 CHECK (((status = 'running'::job_status) = (execution_id IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check2 CHECK (((status = 'running'::job_status) = (heartbeat_at IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check3 CHECK (((status = 'paused'::job_status) = (pause_reason IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check4 CHECK (((status = 'running'::job_status) OR (NOT handed_back)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check5 CHECK (((status <> ALL (ARRAY['pending'::job_status, 'scheduled'::job_status])) OR (next_run_at IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_check6 CHECK (((kind <> ALL (ARRAY['crawl'::job_kind, 'refresh'::job_kind, 'discover'::job_kind])) OR (source_id IS NOT NULL)));
ALTER TABLE jobs ADD CONSTRAINT jobs_found_hash_check CHECK ((octet_length(found_hash) = 32));
ALTER TABLE jobs ADD CONSTRAINT jobs_interval_seconds_check CHECK (((interval_seconds >= 60) AND (interval_seconds <= 31536000)));
ALTER TABLE jobs ADD CONSTRAINT jobs_max_depth_check CHECK ((max_depth >= '-1'::integer));
ALTER TABLE jobs ADD CONSTRAINT jobs_max_pages_check CHECK ((max_pages > 0));
ALTER TABLE jobs ADD CONSTRAINT jobs_max_retries_check CHECK (((max_retries >= 0) AND (max_retries <= 100)));
ALTER TABLE jobs ADD CONSTRAINT jobs_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['operator'::text, 'source_disabled'::text])));
ALTER TABLE jobs ADD CONSTRAINT jobs_retries_check CHECK ((retries >= 0));
ALTER TABLE jobs ADD CONSTRAINT jobs_retry_backoff_seconds_check CHECK (((retry_backoff_seconds >= 1) AND (retry_backoff_seconds <= 3600)));
ALTER TABLE jobs ADD CONSTRAINT jobs_returns_to_check CHECK ((returns_to = ANY (ARRAY['scheduled'::job_status, 'paused'::job_status])));
ALTER TABLE jobs ADD CONSTRAINT jobs_unchanged_runs_check CHECK ((unchanged_runs >= 0));
ALTER TABLE outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (bucket, sink, domain_key, url_hash, version);
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_pkey PRIMARY KEY (bucket, sink, id) INCLUDE (bytes);
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_check CHECK (((refers_to IS NULL) = (refers_to_at IS NULL)));
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_check1 CHECK (((refers_to IS NULL) OR (revisit IS NOT NULL)));
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_check2 CHECK (((revisit IS NOT NULL) OR (body IS NOT NULL)));
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_payload_digest_check CHECK ((octet_length(payload_digest) = 32));
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_revisit_check CHECK ((revisit = ANY (ARRAY['server-not-modified'::text, 'identical-payload-digest'::text])));
ALTER TABLE outbox_responses ADD CONSTRAINT outbox_responses_truncated_check CHECK ((truncated = ANY (ARRAY['length'::text, 'time'::text, 'disconnect'::text, 'unspecified'::text])));
ALTER TABLE pagination_rules ADD CONSTRAINT pagination_rules_pkey PRIMARY KEY (bucket, domain_key, base, form);
ALTER TABLE pagination_rules ADD CONSTRAINT pagination_rules_check CHECK (((end_reason IS NULL) = (ended_at IS NULL)));
ALTER TABLE pagination_rules ADD CONSTRAINT pagination_rules_end_reason_check CHECK ((end_reason = ANY (ARRAY['not_found'::text, 'empty'::text, 'repeat'::text])));
ALTER TABLE probe_results ADD CONSTRAINT probe_results_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE raw_pages ADD CONSTRAINT raw_pages_pkey PRIMARY KEY (bucket, domain_key, url_hash, fetched_at);
ALTER TABLE response_marks ADD CONSTRAINT response_marks_pkey PRIMARY KEY (bucket, sink, domain_key, address_hash);
ALTER TABLE response_marks ADD CONSTRAINT response_marks_address_hash_check CHECK ((octet_length(address_hash) = 16));
ALTER TABLE response_marks ADD CONSTRAINT response_marks_payload_digest_check CHECK ((octet_length(payload_digest) = 32));
ALTER TABLE robots ADD CONSTRAINT robots_pkey PRIMARY KEY (bucket, domain_key, origin);
ALTER TABLE robots ADD CONSTRAINT robots_outcome_check CHECK ((outcome = ANY (ARRAY['rules'::text, 'allow_all'::text, 'unavailable'::text])));
ALTER TABLE rollups ADD CONSTRAINT rollups_pkey PRIMARY KEY (minutes, at);
ALTER TABLE rollups ADD CONSTRAINT rollups_check CHECK (((looked_at IS NULL) = (backlog IS NULL)));
ALTER TABLE rollups ADD CONSTRAINT rollups_delays_check CHECK ((cardinality(delays) = 24));
ALTER TABLE rollups ADD CONSTRAINT rollups_latencies_check CHECK ((cardinality(latencies) = 24));
ALTER TABLE rollups ADD CONSTRAINT rollups_minutes_check CHECK ((minutes = ANY (ARRAY[1, 5, 60])));
ALTER TABLE settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE sign_in_codes ADD CONSTRAINT sign_in_codes_pkey PRIMARY KEY (hash);
ALTER TABLE sign_in_codes ADD CONSTRAINT sign_in_codes_hash_check CHECK ((octet_length(hash) = 32));
ALTER TABLE sink_replays ADD CONSTRAINT sink_replays_pkey PRIMARY KEY (sink);
ALTER TABLE sink_states ADD CONSTRAINT sink_states_pkey PRIMARY KEY (sink);
ALTER TABLE sink_states ADD CONSTRAINT sink_states_check CHECK (((lease_owner IS NULL) = (lease_until IS NULL)));
ALTER TABLE sink_states ADD CONSTRAINT sink_states_check1 CHECK (((failing_since IS NULL) = (failures = 0)));
ALTER TABLE sinks ADD CONSTRAINT sinks_pkey PRIMARY KEY (name);
ALTER TABLE sinks ADD CONSTRAINT sinks_name_check CHECK ((name ~ '^[a-z0-9_-]+$'::text));
ALTER TABLE sinks ADD CONSTRAINT sinks_takes_check CHECK ((takes = ANY (ARRAY['documents'::text, 'responses'::text])));
ALTER TABLE site_prefixes ADD CONSTRAINT site_prefixes_pkey PRIMARY KEY (bucket, domain_key, prefix);
ALTER TABLE site_prefixes ADD CONSTRAINT site_prefixes_check CHECK (((cap_reason IS NULL) = (capped_at IS NULL)));
ALTER TABLE site_refusals ADD CONSTRAINT site_refusals_pkey PRIMARY KEY (bucket, domain_key, reason);
ALTER TABLE site_shapes ADD CONSTRAINT site_shapes_pkey PRIMARY KEY (bucket, domain_key, shape);
ALTER TABLE site_shapes ADD CONSTRAINT site_shapes_level_check CHECK (((level >= 0) AND (level <= 2)));
ALTER TABLE sitemap_seen ADD CONSTRAINT sitemap_seen_pkey PRIMARY KEY (bucket, channel_id);
ALTER TABLE source_days ADD CONSTRAINT source_days_pkey PRIMARY KEY (source_id, day);
ALTER TABLE source_totals ADD CONSTRAINT source_totals_pkey PRIMARY KEY (source_id);
ALTER TABLE sources ADD CONSTRAINT sources_pkey PRIMARY KEY (id);
ALTER TABLE sources ADD CONSTRAINT sources_slug_key UNIQUE (slug);
ALTER TABLE sources ADD CONSTRAINT sources_url_key UNIQUE (url);
ALTER TABLE sources ADD CONSTRAINT sources_check CHECK ((enabled = (disabled_at IS NULL)));
ALTER TABLE sources ADD CONSTRAINT sources_feed_poll_interval_minutes_check CHECK (((feed_poll_interval_minutes >= 1) AND (feed_poll_interval_minutes <= 43200)));
ALTER TABLE sources ADD CONSTRAINT sources_ingestion_mode_check CHECK ((ingestion_mode = ANY (ARRAY['feed'::text, 'spider'::text, 'both'::text])));
ALTER TABLE sources ADD CONSTRAINT sources_priority_check CHECK (((priority >= 1) AND (priority <= 10)));
ALTER TABLE sources ADD CONSTRAINT sources_rate_limit_ms_check CHECK ((rate_limit_ms >= 0));
ALTER TABLE sources ADD CONSTRAINT sources_slug_check CHECK ((slug ~ '^[a-z0-9_]+$'::text));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check CHECK (((NOT ready) OR (status = ANY (ARRAY['pending'::url_status, 'failed'::url_status, 'needs_render'::url_status]))));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check1 CHECK (((NOT ready) OR (due_at IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check2 CHECK (((status <> 'dead'::url_status) OR (error_code IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check3 CHECK (((status <> 'redirected'::url_status) OR (redirected_to IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check4 CHECK (((status <> 'duplicate'::url_status) OR (duplicate_of IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_content_hash_check CHECK ((octet_length(content_hash) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_crashes_check CHECK ((crashes >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_depth_check CHECK ((depth >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_duplicate_of_check CHECK ((octet_length(duplicate_of) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_hops_check CHECK ((hops >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_level_check CHECK (((level >= 1) AND (level <= 12)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_priority_check CHECK (((priority >= 1) AND (priority <= 10)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_tries_check CHECK ((tries >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_url_hash_check CHECK ((octet_length(url_hash) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_validation_status_check CHECK ((validation_status = ANY (ARRAY['valid'::text, 'rejected'::text, 'stub'::text])));
ALTER TABLE url_sightings ADD CONSTRAINT url_sightings_pkey PRIMARY KEY (bucket, domain_key, url_hash, source_id, parent_hash);
ALTER TABLE websub_subscriptions ADD CONSTRAINT websub_subscriptions_pkey PRIMARY KEY (id);
ALTER TABLE websub_subscriptions ADD CONSTRAINT websub_subscriptions_token_key UNIQUE (token);
ALTER TABLE websub_subscriptions ADD CONSTRAINT websub_subscriptions_check CHECK (((state <> 'active'::text) OR (lease_until IS NOT NULL)));
ALTER TABLE websub_subscriptions ADD CONSTRAINT websub_subscriptions_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'active'::text, 'denied'::text, 'ending'::text])));
ALTER TABLE websub_subscriptions ADD CONSTRAINT websub_subscriptions_token_check CHECK ((token ~ '^[0-9a-f]{32}$'::text));
ALTER TABLE workers ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE workers ADD CONSTRAINT workers_role_check CHECK ((role = ANY (ARRAY['serve'::text, 'fetch'::text, 'schedule'::text, 'run'::text])));

-- indexes
CREATE UNIQUE INDEX api_tokens_name ON api_tokens USING btree (name) WHERE (revoked_at IS NULL);
CREATE INDEX archive_domains_next ON archive_domains USING btree (next_at);
CREATE INDEX audit_tx ON audit USING btree (tx, id);
CREATE INDEX channel_addresses_channel ON channel_addresses USING btree (channel_id, left_at);
CREATE INDEX channel_state_hub ON channel_state USING btree (bucket, channel_id) WHERE (hub IS NOT NULL);
CREATE INDEX channel_state_trouble ON channel_state USING btree (errors_in_row DESC, channel_id) WHERE (errors_in_row > 0);
CREATE INDEX channels_parent ON channels USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX channels_source ON channels USING btree (source_id);
CREATE INDEX crawl_log_domain ON ONLY public.crawl_log USING btree (bucket, domain_key, at);
CREATE INDEX discoveries_channel ON discoveries USING btree (channel_id, created_at) WHERE (channel_id IS NOT NULL);
CREATE INDEX discoveries_open ON discoveries USING btree (looked_at) WHERE (finished_at IS NULL);
CREATE INDEX discoveries_source ON discoveries USING btree (source_id, id);
CREATE INDEX document_search_recent ON document_search USING btree (crawled_at);
CREATE INDEX document_search_source ON document_search USING btree (source_id, crawled_at);
CREATE INDEX document_search_words ON document_search USING gin (words);
CREATE INDEX documents_recent ON documents USING btree (crawled_at);
CREATE UNIQUE INDEX documents_text ON documents USING btree (bucket, domain_key, content_hash) WHERE (page_type <> 'stub'::text);
CREATE INDEX domain_events_tx ON domain_events USING btree (tx, id);
CREATE INDEX domain_pins_source ON domain_pins USING btree (source_id);
CREATE INDEX domain_slots_circuit ON domain_slots USING btree (bucket, domain_key) WHERE (circuit_good IS NOT NULL);
CREATE INDEX domain_slots_ready ON domain_slots USING btree (pool, top, next_at) WHERE (top IS NOT NULL);
CREATE INDEX domain_slots_rendering ON domain_slots USING btree (bucket, domain_key) WHERE (pool <> own_pool);
CREATE INDEX domain_slots_unrendered ON domain_slots USING btree (bucket, domain_key) WHERE (awaits_render AND (pool = own_pool) AND (top IS NULL));
CREATE INDEX domain_slots_wake ON domain_slots USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX domains_name ON domains USING btree (name COLLATE "C", domain_key);
CREATE INDEX domains_status ON domains USING btree (status, name COLLATE "C", domain_key);
CREATE INDEX domains_with_rules ON domains USING btree (bucket, domain_key) WHERE (host_rules <> '{}'::jsonb);
CREATE INDEX execution_reports_execution ON execution_reports USING btree (execution_id, at);
CREATE INDEX foreign_hosts_source ON foreign_hosts USING btree (source_id, day) WHERE is_new;
CREATE INDEX image_sightings_image ON image_sightings USING btree (sha256) WHERE (sha256 IS NOT NULL);
CREATE INDEX image_sightings_page ON image_sightings USING btree (page_domain_key, page_hash);
CREATE INDEX image_sightings_recent ON image_sightings USING btree (first_seen_at DESC, url_hash, page_hash);
CREATE INDEX image_sightings_source ON image_sightings USING btree (source_id, first_seen_at);
CREATE INDEX images_idle ON images USING btree (idle_since) WHERE (idle_since IS NOT NULL);
CREATE INDEX job_events_job ON job_events USING btree (job_id, id);
CREATE INDEX job_events_recovered ON job_events USING btree (at) WHERE (action = 'recover'::text);
CREATE INDEX job_events_tx ON job_events USING btree (tx, id);
CREATE INDEX job_executions_started ON job_executions USING btree (started_at);
CREATE INDEX job_executions_sweep ON job_executions USING btree (id) WHERE (sweep IS NOT NULL);
CREATE INDEX jobs_due ON jobs USING btree (next_run_at) WHERE (status = ANY (ARRAY['pending'::job_status, 'scheduled'::job_status]));
CREATE INDEX jobs_kind ON jobs USING btree (kind, id);
CREATE INDEX jobs_next ON jobs USING btree (COALESCE(next_run_at, 'infinity'::timestamp with time zone), id);
CREATE INDEX jobs_running ON jobs USING btree (heartbeat_at) WHERE (status = 'running'::job_status);
CREATE INDEX jobs_source ON jobs USING btree (source_id, id);
CREATE INDEX jobs_status ON jobs USING btree (status, id);
CREATE INDEX jobs_status_next ON jobs USING btree (status, COALESCE(next_run_at, 'infinity'::timestamp with time zone), id);
CREATE INDEX robots_revive ON robots USING btree (bucket, domain_key) WHERE (revive_after IS NOT NULL);
CREATE INDEX source_days_day ON source_days USING btree (day);
CREATE INDEX sources_jobless ON sources USING btree (id) WHERE ((job_made_at IS NULL) AND (ingestion_mode = ANY (ARRAY['spider'::text, 'both'::text])));
CREATE INDEX sources_name_prefix ON sources USING btree (lower(name) text_pattern_ops);
CREATE INDEX sources_slug_prefix ON sources USING btree (slug text_pattern_ops);
CREATE INDEX sources_spidered ON sources USING btree (updated_at, id) WHERE (enabled AND (ingestion_mode <> 'feed'::text));
CREATE INDEX sources_url_prefix ON sources USING btree (url text_pattern_ops);
CREATE INDEX url_frontier_execution ON url_frontier USING btree (execution_id, bucket, domain_key) WHERE ((execution_id IS NOT NULL) AND (status = ANY (ARRAY['pending'::url_status, 'failed'::url_status, 'needs_render'::url_status])));
CREATE INDEX url_frontier_parked ON url_frontier USING btree (bucket, domain_key, due_at) WHERE ((NOT ready) AND (due_at IS NOT NULL) AND (status <> 'fetched'::url_status));
CREATE INDEX url_frontier_pick ON url_frontier USING btree (bucket, domain_key, budgeted, level DESC, due_at) WHERE ready;
CREATE INDEX url_frontier_refresh ON url_frontier USING btree (bucket, domain_key, due_at) WHERE ((status = 'fetched'::url_status) AND (due_at IS NOT NULL));
CREATE INDEX url_frontier_render ON url_frontier USING btree (bucket, domain_key, level DESC, discovered_at) WHERE (status = 'needs_render'::url_status);
CREATE INDEX url_frontier_source ON url_frontier USING btree (source_id, discovered_at);
CREATE UNIQUE INDEX websub_subscriptions_channel ON websub_subscriptions USING btree (channel_id) WHERE (state <> 'ending'::text);
CREATE INDEX websub_subscriptions_due ON websub_subscriptions USING btree (next_at);

-- foreign keys
ALTER TABLE channel_addresses ADD CONSTRAINT channel_addresses_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE;
ALTER TABLE channels ADD CONSTRAINT channels_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES channels(id) ON DELETE CASCADE;
ALTER TABLE channels ADD CONSTRAINT channels_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;
ALTER TABLE discoveries ADD CONSTRAINT discoveries_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;
ALTER TABLE execution_logs ADD CONSTRAINT execution_logs_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES job_executions(id) ON DELETE CASCADE;
ALTER TABLE job_events ADD CONSTRAINT job_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;
ALTER TABLE job_executions ADD CONSTRAINT job_executions_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;
ALTER TABLE jobs ADD CONSTRAINT jobs_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;
ALTER TABLE sink_replays ADD CONSTRAINT sink_replays_sink_fkey FOREIGN KEY (sink) REFERENCES sinks(name) ON DELETE CASCADE;
ALTER TABLE sink_states ADD CONSTRAINT sink_states_sink_fkey FOREIGN KEY (sink) REFERENCES sinks(name) ON DELETE CASCADE;
