-- Documents, their history, and the outbox that carries them to every sink.

CREATE TABLE documents (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  word_count integer NOT NULL,
  confidence real NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  crawled_at timestamptz NOT NULL,
  published_at timestamptz,
  modified_at timestamptz,
  classified_at timestamptz,
  content_hash bytea NOT NULL,
  page_type text NOT NULL CHECK (page_type IN ('article', 'stub', 'listing', 'other')),
  language text,
  classification_status text NOT NULL DEFAULT 'pending' CHECK (classification_status IN ('pending', 'classified', 'failed')),
  url text NOT NULL,
  canonical_url text,
  title text,
  section text,
  description text,
  lead_image text,
  authors text[] NOT NULL DEFAULT '{}',
  keywords text[] NOT NULL DEFAULT '{}',
  labels jsonb NOT NULL DEFAULT '{}',
  -- OpenGraph, Twitter, other meta, JSON-LD fields, images, evidence: read as a whole.
  meta jsonb NOT NULL DEFAULT '{}',
  text text NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash)
);
-- The same text under another URL of the domain is a duplicate; stubs never count.
CREATE UNIQUE INDEX documents_text ON documents (bucket, domain_key, content_hash) WHERE page_type <> 'stub';
CREATE INDEX documents_recent ON documents (crawled_at);

CREATE TABLE document_versions (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamptz NOT NULL,
  content_hash bytea NOT NULL,
  title text,
  text text NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash, version)
);

-- Bytes as they came over the wire. EXTERNAL: they are compressed already, TOAST must not try again.
CREATE TABLE raw_pages (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  fetched_at timestamptz NOT NULL,
  encoding text NOT NULL,
  content_type text,
  body bytea NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash, fetched_at)
) PARTITION BY RANGE (fetched_at);
ALTER TABLE raw_pages ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE raw_pages_default PARTITION OF raw_pages DEFAULT;
ALTER TABLE raw_pages_default ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE sinks (
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_-]+$'),
  kind text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO sinks (name, kind) VALUES ('index', 'postgres');

-- One row per document version and sink, deleted on delivery.
CREATE TABLE outbox (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  enqueued_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  PRIMARY KEY (bucket, sink, domain_key, url_hash, version)
);

-- Full text, written by the index consumer: in settle it would cost twenty times the settle itself.
CREATE TABLE document_search (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamptz NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (bucket, domain_key, url_hash)
);
CREATE INDEX document_search_words ON document_search USING gin (words);
