DROP INDEX sources_spidered;
UPDATE channels SET found_by = CASE WHEN parent_id IS NULL THEN 'path' ELSE 'index' END WHERE found_by = 'archive';
ALTER TABLE channels
  DROP COLUMN takes_all,
  DROP CONSTRAINT channels_found_by_check,
  ADD CONSTRAINT channels_found_by_check CHECK (found_by IN ('manual', 'link', 'path', 'robots', 'index'));
DROP TABLE archive_tries;
DROP TABLE archive_domains;
