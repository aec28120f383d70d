-- Domains that remember: lifecycle, rests, circuit, budgets, score, refresh, seeds.

-- Held by the domain's budget: found by the spider or in archives, or known and due for a refresh.
ALTER TABLE url_frontier ADD COLUMN budgeted boolean NOT NULL DEFAULT false;
UPDATE url_frontier SET budgeted = true WHERE origin IN ('spider', 'archive') AND kind IN ('article', 'listing');

-- Budgeted rows stand apart in it, so that a used budget hides any number of them without touching one.
DROP INDEX url_frontier_pick;
CREATE INDEX url_frontier_pick ON url_frontier (bucket, domain_key, budgeted, level DESC, due_at) WHERE ready;
-- Fetched pages that will be looked at again are many and patient; retries and polls are few and watched.
DROP INDEX url_frontier_parked;
CREATE INDEX url_frontier_parked ON url_frontier (bucket, domain_key, due_at)
  WHERE NOT ready AND due_at IS NOT NULL AND status <> 'fetched';
CREATE INDEX url_frontier_refresh ON url_frontier (bucket, domain_key, due_at)
  WHERE status = 'fetched' AND due_at IS NOT NULL;

ALTER TABLE domain_slots
  -- The domain's status is not 'active': whoever leases it moves it there.
  ADD COLUMN asleep boolean NOT NULL DEFAULT true,
  -- How far the domain's score moves its budgeted rows, in levels.
  ADD COLUMN shift smallint NOT NULL DEFAULT 0 CHECK (shift BETWEEN -1 AND 1),
  ADD COLUMN circuit_good smallint CHECK (circuit_good BETWEEN 0 AND 1), -- NULL: closed; else successes since it opened
  ADD COLUMN network_failures smallint NOT NULL DEFAULT 0,
  ADD COLUMN budgeted integer NOT NULL DEFAULT 0 CHECK (budgeted >= 0),  -- ready rows the budget governs, part of queued
  ADD COLUMN budget_left integer,                                         -- NULL: no run has begun
  ADD COLUMN budget_max integer CHECK (budget_max >= 0),                  -- NULL: as configured
  ADD COLUMN source_delay_ms integer CHECK (source_delay_ms >= 0),
  ADD COLUMN budget_until timestamptz,
  ADD COLUMN rest_until timestamptz,
  ADD COLUMN last_good_at timestamptz,
  ADD COLUMN network_since timestamptz,
  ADD COLUMN refusals text[],              -- reasons of the refusals in a row
  ADD COLUMN circuit_opens timestamptz[],  -- the last openings, with the reason of each
  ADD COLUMN circuit_reasons text[];
UPDATE domain_slots s SET asleep = d.status <> 'active' FROM domains d
 WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key;
UPDATE domain_slots s SET budgeted = x.n
  FROM (SELECT bucket, domain_key, count(*)::integer AS n FROM url_frontier WHERE ready AND budgeted GROUP BY 1, 2) x
 WHERE x.bucket = s.bucket AND x.domain_key = s.domain_key;

ALTER TABLE domains
  ADD COLUMN first_blocked_at timestamptz,
  ADD COLUMN block_count integer NOT NULL DEFAULT 0,
  ADD COLUMN unreachable_count integer NOT NULL DEFAULT 0,
  ADD COLUMN images_found bigint NOT NULL DEFAULT 0,
  ADD COLUMN images_stored bigint NOT NULL DEFAULT 0,
  ADD COLUMN depth_reached smallint NOT NULL DEFAULT 0,
  ADD COLUMN score real NOT NULL DEFAULT 0,
  ADD COLUMN seed_rank integer CHECK (seed_rank >= 1),
  ADD COLUMN dataset text;
-- Lists by status; counters change all the time and must not touch an index.
CREATE INDEX domains_status ON domains (status, name);

CREATE TABLE domain_runs (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  started_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  mode text NOT NULL CHECK (mode IN ('discovery', 'refresh')),
  budget integer NOT NULL,
  pages integer NOT NULL DEFAULT 0,
  documents integer NOT NULL DEFAULT 0,
  PRIMARY KEY (bucket, domain_key, started_at)
);

-- Rows that robots.txt forbade are looked at again from here on; NULL: nothing to revive.
ALTER TABLE robots ADD COLUMN revive_after bytea;
CREATE INDEX robots_revive ON robots (bucket, domain_key) WHERE revive_after IS NOT NULL;

-- A late worker's requests are logged but change nothing, so counters leave them out too.
ALTER TABLE crawl_log ADD COLUMN stale boolean NOT NULL DEFAULT false;

-- Who changed what, for everything that is not a domain's status.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'
);
