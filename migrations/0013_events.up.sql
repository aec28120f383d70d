-- What happened, readable as it comes: the audit and the moves of domains in the order of their transactions.

-- A reader that remembers the last number of a sequence, or the last time, passes by what a slower transaction commits
-- later. By the transaction's own number nothing is passed by: a reader takes only what is older than every transaction
-- under way (pg_snapshot_xmin), and that is complete. Rows from before get the number of this transaction.
ALTER TABLE audit ADD COLUMN tx xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE domain_events ADD COLUMN tx xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX audit_tx ON audit (tx, id);
CREATE INDEX domain_events_tx ON domain_events (tx, id);

-- Lists of channels begin with trouble. Only failing polls write it.
CREATE INDEX channel_state_trouble ON channel_state (errors_in_row DESC, channel_id) WHERE errors_in_row > 0;
