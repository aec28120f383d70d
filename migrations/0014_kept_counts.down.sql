DROP INDEX sources_url_prefix;
DROP INDEX domains_name;
DROP INDEX domains_status;
CREATE INDEX domains_status ON domains (status, name);
DROP TABLE source_totals;
ALTER TABLE counter_deltas
  DROP COLUMN rows_pending, DROP COLUMN rows_fetched, DROP COLUMN rows_redirected, DROP COLUMN rows_duplicate,
  DROP COLUMN rows_failed, DROP COLUMN rows_needs_render, DROP COLUMN rows_dead, DROP COLUMN rows_channel;
