-- Back to the indexes of the mode that needs no settings.
DROP INDEX IF EXISTS domain_slots_bucket_ready, domain_slots_bucket_wake;
CREATE INDEX IF NOT EXISTS domain_slots_ready ON domain_slots (pool, top, next_at) WHERE top IS NOT NULL;
CREATE INDEX IF NOT EXISTS domain_slots_wake ON domain_slots (wake_at) WHERE wake_at IS NOT NULL;
DROP TABLE settings, foreign_hosts;
