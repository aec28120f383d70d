-- Seeds: domains that somebody lists, with a rank and the name of the list.

CREATE TYPE seed_item AS (
  ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, rank integer
);

-- New domains enter as pending; known ones keep their state and learn their rank and list. Answers for each whether it
-- is new, and whether it waits for its entry URL: pending and without any row. The entry URL is submitted afterwards, so
-- a crash in between is healed by seeding again.
CREATE FUNCTION domain_seed(p_items json, p_dataset text, p_skew interval DEFAULT '0')
RETURNS TABLE (ord integer, is_new boolean, needs_entry boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_items seed_item[];
  v_new bigint[];
BEGIN
  SELECT array_agg(i ORDER BY i.bucket, i.domain_key) INTO v_items FROM json_populate_recordset(NULL::seed_item, p_items) i;
  WITH made AS (
    INSERT INTO domains (bucket, domain_key, name, parent_domain, status_since, first_seen_at, seed_rank, dataset)
    SELECT i.bucket, i.domain_key, i.domain, i.parent_domain, v_now, v_now, i.rank, p_dataset
      FROM unnest(v_items) i
     WHERE NOT EXISTS (SELECT FROM domains d WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key)
     ORDER BY i.bucket, i.domain_key
    ON CONFLICT DO NOTHING
    RETURNING domain_key)
  SELECT coalesce(array_agg(m.domain_key), '{}') INTO v_new FROM made m;
  INSERT INTO domain_slots (bucket, domain_key, next_at)
  SELECT i.bucket, i.domain_key, v_now FROM unnest(v_items) i
   WHERE NOT EXISTS (SELECT FROM domain_slots s WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key)
   ORDER BY i.bucket, i.domain_key
  ON CONFLICT DO NOTHING;
  -- A settle writes counters of the domain under its slot's lock, and so does this.
  PERFORM FROM domain_slots s
    WHERE (s.bucket, s.domain_key) IN (SELECT i.bucket, i.domain_key FROM unnest(v_items) i)
    ORDER BY s.bucket, s.domain_key
    FOR UPDATE;
  UPDATE domains d SET seed_rank = coalesce(i.rank, d.seed_rank), dataset = p_dataset
    FROM unnest(v_items) i
   WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key
     AND (d.seed_rank, d.dataset) IS DISTINCT FROM (coalesce(i.rank, d.seed_rank), p_dataset);
  UPDATE domains d SET score = domain_score(d, s.queued, v_now)
    FROM unnest(v_items) i JOIN domain_slots s ON s.bucket = i.bucket AND s.domain_key = i.domain_key
   WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key AND abs(d.score - domain_score(d, s.queued, v_now)) >= 1;
  -- Before its first row a new slot may take its level from the score; others follow with their next settle.
  UPDATE domain_slots s SET shift = score_shift(d.score)
    FROM unnest(v_items) i JOIN domains d ON d.bucket = i.bucket AND d.domain_key = i.domain_key
   WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key AND s.queued = 0 AND s.lease_owner IS NULL
     AND s.shift <> score_shift(d.score);
  -- Its archives are looked for once it was crawled; spread, so that a million seeds are not due at once.
  INSERT INTO archive_domains (bucket, domain_key, looked_at, next_at)
  SELECT i.bucket, i.domain_key, v_now, v_now + interval '1 hour' + random() * interval '1 day' FROM unnest(v_items) i
  ON CONFLICT DO NOTHING;
  RETURN QUERY
    SELECT i.ord, i.domain_key = ANY (v_new),
           d.status = 'pending' AND NOT EXISTS (
             SELECT FROM url_frontier f WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key)
      FROM unnest(v_items) i JOIN domains d ON d.bucket = i.bucket AND d.domain_key = i.domain_key;
END $$;
