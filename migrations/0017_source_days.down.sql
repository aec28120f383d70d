DROP TABLE source_days;
ALTER TABLE counter_deltas DROP COLUMN pages, DROP COLUMN errors, DROP COLUMN recovered;
