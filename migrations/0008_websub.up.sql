-- Pushes from hubs, and searches by the thousand.

-- The order in which open searches are looked at: by age alone, a few that wait for slow sites would hold up the rest.
ALTER TABLE discoveries ADD COLUMN looked_at timestamptz NOT NULL DEFAULT now();
DROP INDEX discoveries_open;
CREATE INDEX discoveries_open ON discoveries (looked_at) WHERE finished_at IS NULL;
CREATE INDEX discoveries_source ON discoveries (source_id, id);
