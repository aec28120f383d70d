-- What the spider learns of a domain's pages. Small tables: at most some hundred rows of a domain each, read by the range
-- of their key when the domain is leased to be spidered, and written once with each of its settles. Domains that are only
-- polled have none.

-- What pages of one shape of address turned out to be.
CREATE TABLE site_shapes (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  shape text NOT NULL,
  level smallint NOT NULL CHECK (level BETWEEN 0 AND 2), -- 0: with its words, 1: without them, 2: all slugs alike
  articles integer NOT NULL DEFAULT 0,
  listings integer NOT NULL DEFAULT 0,
  others integer NOT NULL DEFAULT 0,
  sampled integer NOT NULL DEFAULT 0,                    -- submitted only to find out
  PRIMARY KEY (bucket, domain_key, shape)
) WITH (fillfactor = 70);

-- What came of the pages under a path, or of one page with parameters. A prefix that is capped is a trap.
CREATE TABLE site_prefixes (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  prefix text NOT NULL,
  pages integer NOT NULL,
  content integer NOT NULL,
  barren integer NOT NULL,
  shapes jsonb NOT NULL DEFAULT '{}',
  cap_reason text,
  capped_at timestamptz,
  PRIMARY KEY (bucket, domain_key, prefix),
  CHECK ((cap_reason IS NULL) = (capped_at IS NULL))
) WITH (fillfactor = 70);

-- How the pages of a listing are addressed, how far they went, and why they ended.
CREATE TABLE pagination_rules (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  base text NOT NULL,           -- the first page: path and parameters
  form text NOT NULL,           -- ?page={N}
  evidence integer NOT NULL,    -- links that spoke for it; 0: a guess
  highest integer NOT NULL,     -- page that a link named or that was there
  reached integer NOT NULL,     -- highest page with a list of its own
  pages integer NOT NULL,       -- how many had one
  wanted integer,               -- the page that is asked for next
  end_reason text CHECK (end_reason IN ('not_found', 'empty', 'repeat')),
  ended_at timestamptz,
  first_entries text[] NOT NULL DEFAULT '{}',
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (bucket, domain_key, base, form),
  CHECK ((end_reason IS NULL) = (ended_at IS NULL))
) WITH (fillfactor = 70);

-- Links of a domain's pages that were not followed, by reason.
CREATE TABLE site_refusals (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  reason text NOT NULL,
  links bigint NOT NULL,
  PRIMARY KEY (bucket, domain_key, reason)
) WITH (fillfactor = 70);
