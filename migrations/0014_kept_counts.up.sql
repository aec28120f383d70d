-- Counts that screens ask for, kept instead of counted: a million rows took 0.7 s to count, a row per source takes 1 ms.

-- What a call changed about how many rows of each status a source has, beside what it counts anyway: the deltas are
-- written with the rows, so a crash cannot part them. Polls are counted apart and probes not at all.
ALTER TABLE counter_deltas
  ADD COLUMN rows_pending integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_fetched integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_redirected integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_duplicate integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_failed integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_needs_render integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_dead integer NOT NULL DEFAULT 0,
  ADD COLUMN rows_channel integer NOT NULL DEFAULT 0;

-- All deltas that were folded, by source; 0 stands for "no source". counters has the same by minute and grows for ever.
CREATE TABLE source_totals (
  source_id integer PRIMARY KEY,
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
  rows_pending bigint NOT NULL DEFAULT 0,
  rows_fetched bigint NOT NULL DEFAULT 0,
  rows_redirected bigint NOT NULL DEFAULT 0,
  rows_duplicate bigint NOT NULL DEFAULT 0,
  rows_failed bigint NOT NULL DEFAULT 0,
  rows_needs_render bigint NOT NULL DEFAULT 0,
  rows_dead bigint NOT NULL DEFAULT 0,
  rows_channel bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

INSERT INTO source_totals (source_id, inserted, items_seen, items_duplicate, items_rejected, requests, bytes, fetched, unchanged,
    redirected, duplicate, failed, needs_render, dead, robots_blocked, polled, documents, versions)
SELECT source_id, sum(inserted), sum(items_seen), sum(items_duplicate), sum(items_rejected), sum(requests), sum(bytes),
       sum(fetched), sum(unchanged), sum(redirected), sum(duplicate), sum(failed), sum(needs_render), sum(dead),
       sum(robots_blocked), sum(polled), sum(documents), sum(versions)
  FROM counters GROUP BY source_id;
INSERT INTO source_totals AS t (source_id, rows_pending, rows_fetched, rows_redirected, rows_duplicate, rows_failed,
    rows_needs_render, rows_dead, rows_channel)
SELECT coalesce(source_id, 0), count(*) FILTER (WHERE kind <> 'channel' AND status = 'pending'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'fetched'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'redirected'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'duplicate'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'failed'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'needs_render'),
       count(*) FILTER (WHERE kind <> 'channel' AND status = 'dead'), count(*) FILTER (WHERE kind = 'channel')
  FROM url_frontier WHERE kind <> 'probe' GROUP BY 1
ON CONFLICT (source_id) DO UPDATE SET
  rows_pending = excluded.rows_pending, rows_fetched = excluded.rows_fetched, rows_redirected = excluded.rows_redirected,
  rows_duplicate = excluded.rows_duplicate, rows_failed = excluded.rows_failed,
  rows_needs_render = excluded.rows_needs_render, rows_dead = excluded.rows_dead, rows_channel = excluded.rows_channel;

-- Names in the order of their bytes, which every server sorts alike and a prefix can be looked up in. Neither column
-- changes often, so a settle still touches no index.
DROP INDEX domains_status;
CREATE INDEX domains_status ON domains (status, name COLLATE "C", domain_key);
CREATE INDEX domains_name ON domains (name COLLATE "C", domain_key);

-- Which source a domain belongs to: its address begins with the domain.
CREATE INDEX sources_url_prefix ON sources (url text_pattern_ops);
