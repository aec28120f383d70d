DROP TABLE websub_subscriptions;
DROP INDEX channel_state_hub;
ALTER TABLE channel_state DROP COLUMN topic, DROP COLUMN pushed_until;
DROP INDEX discoveries_source;
DROP INDEX discoveries_open;
ALTER TABLE discoveries DROP COLUMN looked_at;
CREATE INDEX discoveries_open ON discoveries (id) WHERE finished_at IS NULL;
