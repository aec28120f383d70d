-- What operators do to the frontier, and what producers may not do to other people's hosts.

-- New URLs a source brought of hosts that are not its own, by day. Feeds that list other people's hosts stay bounded.
CREATE TABLE foreign_hosts (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer NOT NULL,
  day date NOT NULL,
  urls integer NOT NULL,
  is_new boolean NOT NULL,
  PRIMARY KEY (bucket, domain_key, source_id, day)
);
-- Counting a source's new hosts of a day.
CREATE INDEX foreign_hosts_source ON foreign_hosts (source_id, day) WHERE is_new;

-- Values that operators change while the engine runs.
CREATE TABLE settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  changed_by text NOT NULL
);
