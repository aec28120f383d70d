-- Publishers, what we poll of them, and the processes that do the work. Small local tables, never written on the
-- hot path, so plain integer identities are fine here.

CREATE TABLE sources (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9_]+$'),
  name text NOT NULL,
  url text NOT NULL UNIQUE,
  enabled boolean NOT NULL DEFAULT true,
  disabled_at timestamptz,
  disable_reason text,
  ingestion_mode text NOT NULL DEFAULT 'feed' CHECK (ingestion_mode IN ('feed', 'spider', 'both')),
  feed_poll_interval_minutes integer NOT NULL DEFAULT 15 CHECK (feed_poll_interval_minutes BETWEEN 1 AND 43200),
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
  rate_limit_ms integer CHECK (rate_limit_ms >= 0),
  -- Rarely read as a filter, always read as a whole: patterns, selectors, render, images, copies, proxy, group.
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (enabled = (disabled_at IS NULL))
);

CREATE TABLE channels (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source_id integer NOT NULL REFERENCES sources ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('feed', 'sitemap', 'page')),
  url text NOT NULL,
  -- The frontier row that is polled; one address is one channel, whoever asks for it second is told so.
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL UNIQUE,
  enabled boolean NOT NULL DEFAULT true,
  interval_seconds integer NOT NULL DEFAULT 900 CHECK (interval_seconds BETWEEN 30 AND 2592000),
  found_by text NOT NULL DEFAULT 'manual' CHECK (found_by IN ('manual', 'link', 'path', 'robots')),
  title text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX channels_source ON channels (source_id);

-- Looking for the channels of a source: one row per attempt, moved on by the schedule role.
CREATE TABLE discoveries (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source_id integer NOT NULL REFERENCES sources ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'page', 'candidates', 'found', 'nothing')),
  -- [{url, by, probe: "<url id>", outcome}] in the order they were tried.
  candidates jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  deadline_at timestamptz NOT NULL DEFAULT now() + interval '1 hour',
  finished_at timestamptz,
  CHECK ((state IN ('found', 'nothing')) = (finished_at IS NOT NULL))
);
CREATE INDEX discoveries_open ON discoveries (id) WHERE finished_at IS NULL;

CREATE TABLE workers (
  id text PRIMARY KEY,
  role text NOT NULL CHECK (role IN ('serve', 'fetch', 'schedule', 'run')),
  pool text NOT NULL DEFAULT 'default',
  version text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  state jsonb NOT NULL DEFAULT '{}'
);
