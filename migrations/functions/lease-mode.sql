-- Bucket mode: which buckets have something due, best level first. An unlocked read over all buckets, made about once a
-- second by each worker; the lease then names one bucket, so it never locks across them.
CREATE FUNCTION frontier_due_buckets(p_pool text, p_skew interval DEFAULT '0')
RETURNS TABLE (bucket smallint, level smallint) LANGUAGE sql STABLE AS $$
  SELECT b.bucket, l.level
    FROM (SELECT generate_series(0, 255)::smallint AS bucket) b
   CROSS JOIN LATERAL (
     SELECT l.level FROM (SELECT generate_series(12, 1, -1)::smallint AS level) l
      WHERE EXISTS (SELECT FROM domain_slots s WHERE s.bucket = b.bucket AND s.pool = p_pool AND s.top = l.level
                       AND s.next_at <= now() + p_skew)
      LIMIT 1) l
   ORDER BY l.level DESC, random()
$$;

-- The same for promotion: buckets in which a parked row has become due.
CREATE FUNCTION frontier_waking_buckets(p_skew interval DEFAULT '0')
RETURNS TABLE (bucket smallint) LANGUAGE sql STABLE AS $$
  SELECT b.bucket FROM (SELECT generate_series(0, 255)::smallint AS bucket) b
   WHERE EXISTS (SELECT FROM domain_slots s WHERE s.bucket = b.bucket AND s.wake_at <= now() + p_skew)
   ORDER BY random()
$$;

-- Switches between the two modes: the ready and wake indexes of one are dropped, those of the other made. One statement
-- for each: Citus drops no two things at once.
CREATE FUNCTION frontier_set_lease_mode(p_mode text, p_actor text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_mode = 'bucket' THEN
    DROP INDEX IF EXISTS domain_slots_ready;
    DROP INDEX IF EXISTS domain_slots_wake;
    CREATE INDEX IF NOT EXISTS domain_slots_bucket_ready ON domain_slots (bucket, pool, top, next_at) WHERE top IS NOT NULL;
    CREATE INDEX IF NOT EXISTS domain_slots_bucket_wake ON domain_slots (bucket, wake_at) WHERE wake_at IS NOT NULL;
  ELSIF p_mode = 'single' THEN
    DROP INDEX IF EXISTS domain_slots_bucket_ready;
    DROP INDEX IF EXISTS domain_slots_bucket_wake;
    CREATE INDEX IF NOT EXISTS domain_slots_ready ON domain_slots (pool, top, next_at) WHERE top IS NOT NULL;
    CREATE INDEX IF NOT EXISTS domain_slots_wake ON domain_slots (wake_at) WHERE wake_at IS NOT NULL;
  ELSE
    RAISE EXCEPTION 'lease mode is single or bucket, not %', p_mode;
  END IF;
  PERFORM setting_set('lease_mode', to_jsonb(p_mode), p_actor);
END $$;

-- When the next domain of a pool becomes due, so that an idle worker sleeps that long and no longer.
CREATE FUNCTION frontier_next_due(p_pool text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT min(d.next_at)
    FROM generate_series(1, 12) AS l(level)
   CROSS JOIN LATERAL (
     SELECT s.next_at FROM domain_slots s WHERE s.pool = p_pool AND s.top = l.level AND s.next_at > now()
      ORDER BY s.next_at LIMIT 1) d
$$;
