DROP INDEX url_frontier_render, domain_slots_rendering, domain_slots_unrendered;
UPDATE domain_slots SET pool = own_pool, wake_at = now() WHERE pool <> own_pool;
ALTER TABLE domain_slots DROP COLUMN own_pool, DROP COLUMN awaits_render, DROP COLUMN render_until;
ALTER TABLE workers DROP COLUMN renders;
