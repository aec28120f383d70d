-- Sinks: what each takes, who delivers to it, what it has met, what it would not take, and the change feed.

ALTER TABLE sinks ADD COLUMN takes text NOT NULL DEFAULT 'documents' CHECK (takes IN ('documents', 'responses'));

-- Apart from sinks, which every settle reads and nothing on the way of a delivery writes.
CREATE TABLE sink_states (
  sink text PRIMARY KEY REFERENCES sinks ON DELETE CASCADE,
  -- One deliverer at a time; the epoch fences one that comes back late.
  lease_epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz,
  lease_owner text,
  delivered bigint NOT NULL DEFAULT 0,
  delivered_at timestamptz,
  -- Set while the sink as a whole takes nothing.
  failing_since timestamptz,
  retry_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  error text,
  -- How far the sink's file is certainly whole: what a deliverer wrote beyond it and died is cut off.
  position jsonb,
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK ((failing_since IS NULL) = (failures = 0))
);
INSERT INTO sink_states (sink) SELECT name FROM sinks;

ALTER TABLE outbox
  -- Waits until the index consumer knows whether it is a copy.
  ADD COLUMN held boolean NOT NULL DEFAULT false,
  ADD COLUMN retry_at timestamptz;

CREATE TABLE dead_letters (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  enqueued_at timestamptz NOT NULL,
  dead_at timestamptz NOT NULL,
  attempts integer NOT NULL,
  error text NOT NULL,
  PRIMARY KEY (bucket, sink, domain_key, url_hash, version)
);

-- A sink that is given its documents again, a portion at a time by the schedule role: where it stands.
CREATE TABLE sink_replays (
  sink text PRIMARY KEY REFERENCES sinks ON DELETE CASCADE,
  source_id integer,
  since timestamptz,
  asked_at timestamptz NOT NULL DEFAULT now(),
  enqueued bigint NOT NULL DEFAULT 0,
  -- The last document that was looked at.
  bucket smallint,
  domain_key bigint,
  url_hash bytea
);

-- What a search may be narrowed to stands beside its words: asked of the documents, every match would be a probe.
ALTER TABLE document_search
  ADD COLUMN source_id integer,
  ADD COLUMN dated_at timestamptz,
  ADD COLUMN language text;
UPDATE document_search x SET source_id = d.source_id, dated_at = coalesce(d.published_at, d.crawled_at), language = left(d.language, 2)
  FROM documents d WHERE d.bucket = x.bucket AND d.domain_key = x.domain_key AND d.url_hash = x.url_hash;
DELETE FROM document_search WHERE dated_at IS NULL;
ALTER TABLE document_search ALTER COLUMN dated_at SET NOT NULL;
-- Lists of words hardly shrink when compressed, and ranking unpacked 500 of them per search: most of its time.
ALTER TABLE document_search ALTER COLUMN words SET STORAGE EXTERNAL;
-- For words that stand in most documents: the newest are looked through instead of all that have them.
CREATE INDEX document_search_recent ON document_search (crawled_at);
CREATE INDEX document_search_source ON document_search (source_id, crawled_at);

-- The public change feed: numbered by one consumer after commit, so that a reader who has seen a number has seen all
-- before it. Not on the hot path and read in order of its own key, so without a bucket.
CREATE TABLE document_changes (
  seq bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL
);
