DROP TABLE document_changes, dead_letters, sink_states;
ALTER TABLE outbox DROP COLUMN held, DROP COLUMN retry_at;
ALTER TABLE sinks DROP COLUMN takes;
