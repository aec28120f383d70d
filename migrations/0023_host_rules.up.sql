-- Host rules: what operators know of the addresses of a domain. They are few; the index is all that a process reads to
-- know them, and updates of other columns stay heap-only.
CREATE INDEX domains_with_rules ON domains (bucket, domain_key) WHERE host_rules <> '{}';

-- Domains whose rules changed, until all that waits in them has its key by the new ones.
CREATE TABLE domain_rekeys (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  was jsonb NOT NULL,                    -- the rules that held before: what waits has its key by one of them
  changed_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,           -- the next portion is not looked at before
  began_at timestamptz NOT NULL,         -- of the pass under way
  after_hash bytea NOT NULL DEFAULT '',  -- how far it is
  again boolean NOT NULL DEFAULT false,  -- it left something for the next one
  moved bigint NOT NULL DEFAULT 0,
  merged bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (bucket, domain_key)
);
