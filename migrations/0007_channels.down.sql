DROP INDEX discoveries_channel;
ALTER TABLE discoveries DROP COLUMN channel_id, DROP COLUMN reason;
DROP TABLE sitemap_seen, channel_addresses;
ALTER TABLE channel_state DROP COLUMN slept_at, DROP COLUMN sleep_reason, DROP COLUMN redirect_to, DROP COLUMN redirects,
  DROP COLUMN rhythm, DROP COLUMN weight, DROP COLUMN floor_seconds, DROP COLUMN delays, DROP COLUMN delay_seconds,
  DROP COLUMN late_seconds;
-- The older program knows no files of an index: it reads them while it reads the index.
DELETE FROM channels WHERE parent_id IS NOT NULL;
ALTER TABLE channels DROP COLUMN parent_id, DROP COLUMN depth, DROP COLUMN replaces_id,
  DROP CONSTRAINT channels_found_by_check,
  ADD CONSTRAINT channels_found_by_check CHECK (found_by IN ('manual', 'link', 'path', 'robots'));
