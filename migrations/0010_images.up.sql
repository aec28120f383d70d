-- Stored images and the pages that show them.

-- The bucket is the last byte of the image's own hash: the same bytes at two hosts are one image.
CREATE TABLE images (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  width integer NOT NULL CHECK (width > 0),
  height integer NOT NULL CHECK (height > 0),
  bytes integer NOT NULL CHECK (bytes > 0),
  perceptual_hash bigint,             -- NULL: nothing we have decodes it, or it is plain
  first_seen_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  stored_at timestamptz,              -- NULL: announced; its bytes may or may not be in the store
  idle_since timestamptz,             -- since when no page is known to show it
  format text NOT NULL CHECK (format IN ('jpeg', 'png', 'gif', 'webp', 'avif')),
  stored_in text NOT NULL CHECK (stored_in IN ('folder', 's3')),
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  PRIMARY KEY (bucket, sha256)
);
CREATE INDEX images_idle ON images (idle_since) WHERE idle_since IS NOT NULL;

-- Which page shows which image address, in the bucket of the address; the image once it is stored.
CREATE TABLE image_sightings (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL CHECK (octet_length(url_hash) = 32),
  page_domain_key bigint NOT NULL,
  page_hash bytea NOT NULL CHECK (octet_length(page_hash) = 32),
  first_seen_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  execution_id bigint,
  source_id integer,
  sha256 bytea CHECK (octet_length(sha256) = 32),
  PRIMARY KEY (bucket, domain_key, url_hash, page_domain_key, page_hash)
) WITH (fillfactor = 80);
CREATE INDEX image_sightings_page ON image_sightings (page_domain_key, page_hash);
CREATE INDEX image_sightings_image ON image_sightings (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX image_sightings_source ON image_sightings (source_id, first_seen_at);
