-- Readies parked rows that are due. Returns how many slots it woke; a full batch means: call again.
CREATE FUNCTION frontier_promote(
  p_slots integer, p_rows_per_slot integer DEFAULT 1000, p_skew interval DEFAULT '0', p_bucket smallint DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_buckets smallint[];
  v_keys bigint[];
BEGIN
  -- Two statements, because each mode has its own index.
  IF p_bucket IS NULL THEN
    SELECT array_agg(x.bucket), array_agg(x.domain_key) INTO v_buckets, v_keys
      FROM (SELECT bucket, domain_key FROM domain_slots WHERE wake_at <= v_now
             ORDER BY wake_at LIMIT p_slots FOR UPDATE SKIP LOCKED) x;
  ELSE
    SELECT array_agg(x.bucket), array_agg(x.domain_key) INTO v_buckets, v_keys
      FROM (SELECT bucket, domain_key FROM domain_slots WHERE bucket = p_bucket AND wake_at <= v_now
             ORDER BY wake_at LIMIT p_slots FOR UPDATE SKIP LOCKED) x;
  END IF;
  IF v_keys IS NULL THEN
    RETURN 0;
  END IF;

  WITH readied AS (
    UPDATE url_frontier f
       SET ready = true, status = CASE WHEN f.status = 'fetched' THEN 'pending' ELSE f.status END
      FROM unnest(v_buckets, v_keys) AS l(bucket, domain_key)
     CROSS JOIN LATERAL (
       SELECT p.url_hash FROM url_frontier p
        WHERE p.bucket = l.bucket AND p.domain_key = l.domain_key AND NOT p.ready AND p.due_at <= v_now
        ORDER BY p.due_at LIMIT p_rows_per_slot) p
     WHERE f.bucket = l.bucket AND f.domain_key = l.domain_key AND f.url_hash = p.url_hash
    RETURNING f.bucket, f.domain_key, f.level
  )
  UPDATE domain_slots s
     SET queued = s.queued + coalesce(r.readied, 0), top = greatest(s.top, r.best),
         next_at = CASE WHEN r.best > coalesce(s.top, 0) THEN greatest(s.next_at, v_now) ELSE s.next_at END
    FROM unnest(v_buckets, v_keys) AS l(bucket, domain_key)
    LEFT JOIN (SELECT bucket, domain_key, count(*)::integer AS readied, max(level) AS best
                 FROM readied GROUP BY bucket, domain_key) r USING (bucket, domain_key)
   WHERE s.bucket = l.bucket AND s.domain_key = l.domain_key;

  UPDATE domain_slots s SET wake_at = (
      SELECT f.due_at FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
         AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1)
    FROM unnest(v_buckets, v_keys) AS l(bucket, domain_key)
   WHERE s.bucket = l.bucket AND s.domain_key = l.domain_key;
  RETURN cardinality(v_keys);
END $$;
