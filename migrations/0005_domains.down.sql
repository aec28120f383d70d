DROP TABLE audit, domain_runs;
ALTER TABLE crawl_log DROP COLUMN stale;
DROP INDEX robots_revive;
ALTER TABLE robots DROP COLUMN revive_after;
DROP INDEX domains_status;
ALTER TABLE domains DROP COLUMN first_blocked_at, DROP COLUMN block_count, DROP COLUMN unreachable_count,
  DROP COLUMN images_found, DROP COLUMN images_stored, DROP COLUMN depth_reached, DROP COLUMN score,
  DROP COLUMN seed_rank, DROP COLUMN dataset;
ALTER TABLE domain_slots DROP COLUMN asleep, DROP COLUMN shift, DROP COLUMN circuit_good, DROP COLUMN network_failures,
  DROP COLUMN budgeted, DROP COLUMN budget_left, DROP COLUMN budget_max, DROP COLUMN source_delay_ms,
  DROP COLUMN budget_until, DROP COLUMN rest_until, DROP COLUMN last_good_at, DROP COLUMN network_since,
  DROP COLUMN refusals, DROP COLUMN circuit_opens, DROP COLUMN circuit_reasons;
DROP INDEX url_frontier_refresh;
-- A page waiting for its refresh would be taken for a parked row by the older program.
UPDATE url_frontier SET due_at = NULL WHERE status = 'fetched' AND NOT ready;
DROP INDEX url_frontier_parked;
CREATE INDEX url_frontier_parked ON url_frontier (bucket, domain_key, due_at) WHERE NOT ready AND due_at IS NOT NULL;
DROP INDEX url_frontier_pick;
ALTER TABLE url_frontier DROP COLUMN budgeted;
CREATE INDEX url_frontier_pick ON url_frontier (bucket, domain_key, level DESC, due_at) WHERE ready;
