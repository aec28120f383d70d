DROP INDEX sources_name_prefix;
DROP INDEX sources_slug_prefix;
DROP INDEX domain_slots_circuit;
DROP TABLE rollups;
ALTER TABLE counter_deltas DROP COLUMN latencies, DROP COLUMN delays;
