-- Archive discovery: which domains are looked at and when, and what was tried there with what success.

-- One row per domain that is spidered by a source or was seeded. Key begins with the bucket, as with every table that
-- grows with the domains.
CREATE TABLE archive_domains (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  domain_key bigint NOT NULL,
  -- Whose its pages are; NULL: seeded, nobody's. No reference: a look at the domain finds out that the source is gone.
  source_id integer,
  -- Its day: a look is due a day after the last, whatever waits.
  looked_at timestamptz NOT NULL,
  next_at timestamptz NOT NULL,
  PRIMARY KEY (bucket, domain_key)
) WITH (fillfactor = 70);
CREATE INDEX archive_domains_next ON archive_domains (next_at);

-- What was tried, under the hash of the page's row or of the channel's.
CREATE TABLE archive_tries (
  bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL CHECK (octet_length(url_hash) = 32),
  url text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('sitemap', 'page')),
  -- robots: its robots.txt names it; learned: dates in addresses that were seen; path, date: a usual place.
  found_by text NOT NULL CHECK (found_by IN ('robots', 'learned', 'path', 'date')),
  -- known: it had a row already, so nothing was asked.
  state text NOT NULL CHECK (state IN ('asked', 'worked', 'failed', 'known')),
  detail text,
  asked_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- Not before this time again; NULL: never.
  again_at timestamptz,
  PRIMARY KEY (bucket, domain_key, url_hash),
  CHECK ((state = 'asked') = (ended_at IS NULL))
);

ALTER TABLE channels
  -- Its first read takes everything it lists, however old, at the lowest priority.
  ADD COLUMN takes_all boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT channels_found_by_check,
  ADD CONSTRAINT channels_found_by_check CHECK (found_by IN ('manual', 'link', 'path', 'robots', 'index', 'archive'));

-- Sources that came, changed or were enabled since somebody last looked, oldest change first.
CREATE INDEX sources_spidered ON sources (updated_at, id) WHERE enabled AND ingestion_mode <> 'feed';

-- Domains that were seeded before; those seeded from now on enter with their seed. Spread over a day.
INSERT INTO archive_domains (bucket, domain_key, looked_at, next_at)
SELECT bucket, domain_key, now(), now() + random() * interval '1 day' FROM domains WHERE dataset IS NOT NULL;
