-- What charts show: sums over all sources by minute, five minutes and hour, kept as they are drawn. By source and minute
-- (counters) a week would be ten thousand rows for each source.

-- Which bucket each answer's time and each found item's delay falls into, written by settle beside what it counts anyway.
ALTER TABLE counter_deltas
  ADD COLUMN latencies smallint[],
  ADD COLUMN delays smallint[];

-- One row per step that anything happened in or that a schedule role looked at. A step without a row: nobody worked.
CREATE TABLE rollups (
  minutes smallint NOT NULL CHECK (minutes IN (1, 5, 60)),
  at timestamptz NOT NULL,
  inserted bigint NOT NULL DEFAULT 0,
  items_seen bigint NOT NULL DEFAULT 0,
  items_duplicate bigint NOT NULL DEFAULT 0,
  items_rejected bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  fetched bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  redirected bigint NOT NULL DEFAULT 0,
  duplicate bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  needs_render bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0,
  robots_blocked bigint NOT NULL DEFAULT 0,
  polled bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  versions bigint NOT NULL DEFAULT 0,
  -- As they stood when somebody last looked within the step: rows that wait, and all deliveries so far.
  looked_at timestamptz,
  backlog bigint,
  delivered bigint,
  -- Answers and found items by bucket (histogram_of); NULL: there were none.
  latencies integer[] CHECK (cardinality(latencies) = 24),
  delays integer[] CHECK (cardinality(delays) = 24),
  PRIMARY KEY (minutes, at),
  CHECK ((looked_at IS NULL) = (backlog IS NULL))
) WITH (fillfactor = 70);

INSERT INTO rollups (minutes, at, inserted, items_seen, items_duplicate, items_rejected, requests, bytes, fetched, unchanged,
    redirected, duplicate, failed, needs_render, dead, robots_blocked, polled, documents, versions)
SELECT g.minutes, date_bin(make_interval(mins => g.minutes), c.minute, 'epoch'), sum(inserted), sum(items_seen),
       sum(items_duplicate), sum(items_rejected), sum(requests), sum(bytes), sum(fetched), sum(unchanged), sum(redirected),
       sum(duplicate), sum(failed), sum(needs_render), sum(dead), sum(robots_blocked), sum(polled), sum(documents),
       sum(versions)
  FROM counters c CROSS JOIN unnest(ARRAY[1, 5, 60]) AS g(minutes)
 WHERE c.minute > now() - interval '8 days' GROUP BY 1, 2;

-- Open circuits. Every lease and settle writes the slot's other indexes anyway; to this one it adds a row only for a
-- domain that refuses us.
CREATE INDEX domain_slots_circuit ON domain_slots (bucket, domain_key) WHERE circuit_good IS NOT NULL;

-- A source by the beginning of its short name or its name.
CREATE INDEX sources_slug_prefix ON sources (slug text_pattern_ops);
CREATE INDEX sources_name_prefix ON sources (lower(name) text_pattern_ops);
