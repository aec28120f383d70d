-- How sources do, day by day: screens ask for weeks of a hundred sources, for which counters would have 20,000 rows each.

-- Requests by source that were pages or errors, as the domain counts them, and leases whose holder did not end them.
ALTER TABLE counter_deltas
  ADD COLUMN pages integer NOT NULL DEFAULT 0,
  ADD COLUMN errors integer NOT NULL DEFAULT 0,
  ADD COLUMN recovered integer NOT NULL DEFAULT 0;

-- All deltas that were folded, by source and day of UTC; 0 stands for "no source".
CREATE TABLE source_days (
  source_id integer NOT NULL,
  day date NOT NULL,
  inserted bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  pages bigint NOT NULL DEFAULT 0,
  errors bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  recovered bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (source_id, day)
) WITH (fillfactor = 70);
-- For deleting the oldest. A fold changes neither column of either index, so its update stays on its page.
CREATE INDEX source_days_day ON source_days (day);

-- What is known of the days before: requests and documents were counted without their source.
INSERT INTO source_days (source_id, day, inserted)
SELECT source_id, (minute AT TIME ZONE 'UTC')::date, sum(inserted)
  FROM counters WHERE minute > now() - interval '15 days' GROUP BY 1, 2;
INSERT INTO source_days AS s (source_id, day, documents)
SELECT coalesce(source_id, 0), (first_seen_at AT TIME ZONE 'UTC')::date, count(*)
  FROM documents WHERE first_seen_at > now() - interval '15 days' GROUP BY 1, 2
ON CONFLICT (source_id, day) DO UPDATE SET documents = excluded.documents;

-- GET /api/v1/sources/activity is about all of them.
UPDATE sources SET slug = 'activity_source'
 WHERE slug = 'activity' AND NOT EXISTS (SELECT FROM sources WHERE slug = 'activity_source');
