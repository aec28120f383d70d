-- Pages that need a browser. Their rows are never ready: they wait as needs_render, and only a rendering fetcher, whose
-- turn the slot's pool says, is handed them. Nothing of the plain way reads them.

-- Whether a process has a browser. Heartbeats say whether it is still there.
ALTER TABLE workers ADD COLUMN renders boolean NOT NULL DEFAULT false;

-- own_pool is the domain's own group of fetchers; pool is the group whose turn it is: the own one, or that group's
-- rendering fetchers ('render', or 'render:' and the group's name).
ALTER TABLE domain_slots
  ADD COLUMN own_pool text NOT NULL DEFAULT 'default' CHECK (own_pool !~ '^render(:|$)'),
  ADD COLUMN awaits_render boolean NOT NULL DEFAULT false,
  ADD COLUMN render_until timestamptz;
UPDATE domain_slots SET own_pool = pool WHERE pool <> 'default' AND pool !~ '^render(:|$)';
-- The name means something now.
UPDATE domain_slots SET pool = 'default' WHERE pool ~ '^render(:|$)';

-- The sixth index of the frontier: no row but those that need a browser is ever in it.
CREATE INDEX url_frontier_render ON url_frontier (bucket, domain_key, level DESC, discovered_at) WHERE status = 'needs_render';
-- Slots whose turn is the browser's, and slots that have nothing but work for one and wait: both are few or none, and a
-- slot that is neither is in neither.
CREATE INDEX domain_slots_rendering ON domain_slots (bucket, domain_key) WHERE pool <> own_pool;
CREATE INDEX domain_slots_unrendered ON domain_slots (bucket, domain_key) WHERE awaits_render AND pool = own_pool AND top IS NULL;

UPDATE domain_slots s SET awaits_render = true
  FROM (SELECT DISTINCT f.bucket, f.domain_key FROM url_frontier f WHERE f.status = 'needs_render') f
 WHERE s.bucket = f.bucket AND s.domain_key = f.domain_key;
