DROP INDEX discoveries_source;
DROP INDEX discoveries_open;
ALTER TABLE discoveries DROP COLUMN looked_at;
CREATE INDEX discoveries_open ON discoveries (id) WHERE finished_at IS NULL;
