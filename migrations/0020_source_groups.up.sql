-- Groups of fetchers for sources: which source pins which domain to which group. The newest pin of a domain holds; when
-- the last is taken away the domain gets back what it had before the first.
CREATE TABLE domain_pins (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  domain_key bigint NOT NULL,
  -- No reference: pins are taken away one by one before their source is deleted, so that their domains are given back.
  source_id integer NOT NULL,
  pool text NOT NULL,
  -- The domain's group before anybody pinned it; NULL: none of its own.
  was text,
  pinned_at timestamptz NOT NULL,
  PRIMARY KEY (bucket, domain_key, source_id)
);
CREATE INDEX domain_pins_source ON domain_pins (source_id);
