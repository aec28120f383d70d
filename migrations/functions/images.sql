CREATE TYPE image_sighting AS (
  ord integer, bucket smallint, domain_key bigint, url_hash bytea, -- the image's address
  page_domain_key bigint, page_hash bytea, source_id integer, execution_id bigint
);

-- Bucket of an image: the last byte of its hash.
CREATE FUNCTION image_bucket(p_sha256 bytea) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT get_byte(p_sha256, 31)::smallint $$;

-- Notes which pages show which image addresses. They were submitted before; an address that leads elsewhere is answered
-- with its end, so that the caller notes that one too. Slots are locked, so that a settle which stores one of the images
-- at this moment either finds the sighting or has written the hash that is read here.
CREATE FUNCTION image_sight(p_items json, p_skew interval DEFAULT '0')
RETURNS TABLE (ord integer, redirected_to text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_items image_sighting[];
BEGIN
  -- A page that is read again within a day shows its images still: that costs no write.
  SELECT array_agg(i) INTO v_items
    FROM (SELECT DISTINCT ON (i.bucket, i.domain_key, i.url_hash, i.page_domain_key, i.page_hash) i.*
            FROM json_populate_recordset(NULL::image_sighting, p_items) i
           ORDER BY i.bucket, i.domain_key, i.url_hash, i.page_domain_key, i.page_hash) i
   WHERE NOT EXISTS (
     SELECT FROM image_sightings s
      WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key AND s.url_hash = i.url_hash
        AND s.page_domain_key = i.page_domain_key AND s.page_hash = i.page_hash
        AND s.sha256 IS NOT NULL AND s.last_seen_at > v_now - interval '1 day');
  IF v_items IS NULL THEN
    RETURN;
  END IF;
  PERFORM FROM domain_slots s
    WHERE (s.bucket, s.domain_key) IN (SELECT i.bucket, i.domain_key FROM unnest(v_items) i)
    ORDER BY s.bucket, s.domain_key
    FOR UPDATE;

  -- Held from here on: what the sweep has not taken yet it leaves.
  PERFORM images_show(ARRAY(
    SELECT f.content_hash FROM unnest(v_items) i
      JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
     WHERE f.kind = 'image' AND f.content_hash IS NOT NULL), false, v_now);
  PERFORM image_requeue(v_items, v_now);

  INSERT INTO image_sightings AS s (bucket, domain_key, url_hash, page_domain_key, page_hash, first_seen_at,
                                    last_seen_at, execution_id, source_id, sha256)
  SELECT i.bucket, i.domain_key, i.url_hash, i.page_domain_key, i.page_hash, v_now, v_now, i.execution_id, i.source_id,
         f.content_hash
    FROM unnest(v_items) i
    JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
   WHERE f.kind = 'image'
   ORDER BY i.bucket, i.domain_key, i.url_hash, i.page_domain_key, i.page_hash
  ON CONFLICT (bucket, domain_key, url_hash, page_domain_key, page_hash) DO UPDATE SET
    last_seen_at = v_now, execution_id = coalesce(excluded.execution_id, s.execution_id),
    source_id = coalesce(excluded.source_id, s.source_id), sha256 = coalesce(excluded.sha256, s.sha256);
  RETURN QUERY
    SELECT i.ord, f.redirected_to FROM unnest(v_items) i
      JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
     WHERE f.kind = 'image' AND f.status = 'redirected' AND f.content_hash IS NULL;
END $$;

-- Makes addresses due again whose image was swept since, or whose row was given up with the source it belonged to
-- or because images were off.
CREATE FUNCTION image_requeue(p_items image_sighting[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_slot domain_slots;
  v_part record;
BEGIN
  FOR v_part IN
    WITH lost AS (
      SELECT DISTINCT ON (i.bucket, i.domain_key, i.url_hash) i.bucket, i.domain_key, i.url_hash, i.source_id,
             f.status AS was, f.source_id AS was_source
        FROM unnest(p_items) i
        JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
       WHERE f.kind = 'image' AND (
         f.status IN ('fetched', 'redirected') AND f.content_hash IS NOT NULL AND NOT EXISTS (
           SELECT FROM images m WHERE m.bucket = image_bucket(f.content_hash) AND m.sha256 = f.content_hash)
         OR f.status = 'dead' AND f.error_code IN ('source_deleted', 'images_off'))
    ), queued AS (
      UPDATE url_frontier f
         SET status = 'pending', ready = true, due_at = p_now, tries = 0, error_code = NULL, error_text = NULL,
             content_hash = NULL, redirected_to = NULL, source_id = l.source_id
        FROM lost l
       WHERE f.bucket = l.bucket AND f.domain_key = l.domain_key AND f.url_hash = l.url_hash
      RETURNING f.bucket, f.domain_key, f.url_hash, f.source_id, l.was, l.was_source
    ), counted AS (
      -- It may have belonged to another source: one that was deleted, for instance.
      INSERT INTO counter_deltas (bucket, minute, source_id, rows_pending, rows_fetched, rows_redirected, rows_dead)
      SELECT q.bucket, date_trunc('minute', p_now), x.source_id, sum(x.pending), sum(x.fetched), sum(x.redirected), sum(x.dead)
        FROM queued q CROSS JOIN LATERAL (VALUES (q.source_id, 1, 0, 0, 0),
               (q.was_source, 0, -(q.was = 'fetched')::integer, -(q.was = 'redirected')::integer, -(q.was = 'dead')::integer))
               AS x(source_id, pending, fetched, redirected, dead)
       GROUP BY q.bucket, x.source_id)
    SELECT q.bucket, q.domain_key, count(*)::integer AS rows, array_agg(q.url_hash) AS hashes
      FROM queued q GROUP BY q.bucket, q.domain_key
  LOOP
    UPDATE image_sightings s SET sha256 = NULL
     WHERE s.bucket = v_part.bucket AND s.domain_key = v_part.domain_key AND s.url_hash = ANY (v_part.hashes);
    SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = v_part.bucket AND s.domain_key = v_part.domain_key;
    v_slot.queued := v_slot.queued + v_part.rows;
    UPDATE domain_slots s
       SET queued = v_slot.queued, next_at = greatest(s.next_at, p_now),
           top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, p_now) ELSE s.top END,
           wake_at = CASE WHEN s.pool <> s.own_pool THEN p_now ELSE s.wake_at END
     WHERE s.bucket = v_part.bucket AND s.domain_key = v_part.domain_key;
  END LOOP;
END $$;

-- Images that a page shows, or that were stored just now: nobody sweeps them. Rows are locked in key order first, so
-- that two settles with the same images wait and never deadlock.
CREATE FUNCTION images_show(p_hashes bytea[], p_stored boolean, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM unnest(p_hashes) h(sha256) JOIN images m ON m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256
    ORDER BY m.bucket, m.sha256 FOR UPDATE OF m;
  UPDATE images m
     SET last_seen_at = p_now, idle_since = CASE WHEN p_stored OR m.stored_at IS NOT NULL THEN NULL ELSE m.idle_since END,
         stored_at = CASE WHEN p_stored THEN coalesce(m.stored_at, p_now) ELSE m.stored_at END
    FROM (SELECT DISTINCT h.sha256 FROM unnest(p_hashes) h(sha256)) h
   WHERE m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256;
END $$;

-- The images of a settle: their bytes are in the store, and the pages that show their addresses show them. Images
-- are locked before sightings, as everywhere, so that nobody waits for each other.
CREATE FUNCTION settle_images(p_bucket smallint, p_domain_key bigint, p_items json, p_hashes bytea[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM images_show(ARRAY(
    SELECT i.content_hash FROM json_populate_recordset(NULL::settle_item, p_items) i
     WHERE i.kind = 'image' AND i.content_hash IS NOT NULL AND i.url_hash = ANY (p_hashes)), true, p_now);
  UPDATE image_sightings s SET sha256 = i.content_hash
    FROM json_populate_recordset(NULL::settle_item, p_items) i
   WHERE i.kind = 'image' AND i.content_hash IS NOT NULL AND i.url_hash = ANY (p_hashes)
     AND s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = i.url_hash;
END $$;
