DROP INDEX channel_state_trouble, domain_events_tx, audit_tx;
ALTER TABLE domain_events DROP COLUMN tx;
ALTER TABLE audit DROP COLUMN tx;
