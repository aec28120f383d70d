DROP TABLE sink_replays, document_changes, dead_letters, sink_states;
DROP INDEX document_search_recent, document_search_source;
ALTER TABLE document_search ALTER COLUMN words SET STORAGE EXTENDED;
ALTER TABLE document_search DROP COLUMN source_id, DROP COLUMN dated_at, DROP COLUMN language;
ALTER TABLE outbox DROP COLUMN held, DROP COLUMN retry_at;
ALTER TABLE sinks DROP COLUMN takes;
