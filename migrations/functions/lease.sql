-- Up to p_slots due domains, best level first, within a level longest waiting first; for each up to a batch of URLs
-- of its top level. p_marks[level] is the worker's low-water mark: entries below it are known to be dead. If it is given
-- (NULL elements: unknown), one more row comes last, with the marks for the next call and nothing else.
CREATE FUNCTION frontier_lease(
  p_owner text, p_pool text, p_slots integer, p_lease_ms integer, p_default_delay_ms integer, p_max_batch integer,
  p_marks timestamptz[] DEFAULT NULL, p_skew interval DEFAULT '0', p_bucket smallint DEFAULT NULL)
RETURNS TABLE (
  bucket smallint, domain_key bigint, epoch bigint, delay_ms integer, penalty_ms integer, good_run smallint,
  due_since timestamptz, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer,
  level smallint, priority smallint, depth smallint, hops smallint, tries smallint, fetch_count integer,
  etag text, last_modified text, content_hash bytea, due_at timestamptz, execution_id bigint, refresh_seconds integer,
  marks timestamptz[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_buckets smallint[] := '{}';
  v_keys bigint[] := '{}';
  v_first_buckets smallint[];
  v_first_keys bigint[];
  v_expired boolean := false;
  v_given_up bigint[];
  v_marks timestamptz[] := p_marks;
  v_due refcursor;
  v_last timestamptz;
  r record;
BEGIN
  FOR v_level IN REVERSE 12..1 LOOP
    EXIT WHEN cardinality(v_keys) >= p_slots;
    -- One statement per mode, because each has its own index; p_bucket names the one bucket of bucket mode.
    IF p_bucket IS NULL THEN
      OPEN v_due FOR
        SELECT s.bucket, s.domain_key, s.lease_epoch, s.lease_owner, s.next_at FROM domain_slots s
         WHERE s.pool = p_pool AND s.top = v_level AND s.next_at <= v_now
           AND s.next_at >= coalesce(p_marks[v_level], '-infinity')
         ORDER BY s.next_at LIMIT p_slots - cardinality(v_keys)
         FOR UPDATE SKIP LOCKED;
    ELSE
      OPEN v_due FOR
        SELECT s.bucket, s.domain_key, s.lease_epoch, s.lease_owner, s.next_at FROM domain_slots s
         WHERE s.bucket = p_bucket AND s.pool = p_pool AND s.top = v_level AND s.next_at <= v_now
         ORDER BY s.next_at LIMIT p_slots - cardinality(v_keys)
         FOR UPDATE SKIP LOCKED;
    END IF;
    LOOP
      FETCH v_due INTO r;
      EXIT WHEN NOT FOUND;
      v_last := r.next_at;
      v_buckets := v_buckets || r.bucket;
      v_keys := v_keys || r.domain_key;
      v_expired := v_expired OR r.lease_owner IS NOT NULL;
      IF r.lease_epoch = 0 THEN
        v_first_buckets := v_first_buckets || r.bucket;
        v_first_keys := v_first_keys || r.domain_key;
      END IF;
    END LOOP;
    CLOSE v_due;
    -- Up to the last entry taken, or up to now if none was left, a level has been emptied. Transactions under way write
    -- the next_at of the time they began: with a lock_timeout of 3 s they are younger than ten seconds, and one that is
    -- not is found by the worker's next full probe. A minute instead would leave six times the dead entries in reach.
    IF v_marks IS NOT NULL THEN
      v_marks[v_level] := least(v_now - interval '10 seconds', CASE WHEN cardinality(v_keys) >= p_slots THEN v_last END);
    END IF;
  END LOOP;
  IF cardinality(v_keys) = 0 THEN
    IF v_marks IS NOT NULL THEN
      marks := v_marks;
      RETURN NEXT;
    END IF;
    RETURN;
  END IF;

  IF v_expired THEN
    -- The holder died or was cut off. A run the server itself interrupted blames nobody; from the second expiry on
    -- the batch is one URL, and only a batch of one blames its URL.
    WITH expired AS (
      SELECT s.* FROM unnest(v_buckets, v_keys) AS l(b, k)
        JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k
       WHERE s.lease_owner IS NOT NULL AND s.leased_at > pg_postmaster_start_time()
    ), counted AS (
      UPDATE domain_slots s SET expired_runs = least(s.expired_runs + 1, 100)
        FROM expired e WHERE s.bucket = e.bucket AND s.domain_key = e.domain_key
    ), blamed AS (
      UPDATE url_frontier f
         SET crashes = CASE WHEN f.kind = 'channel' AND f.crashes >= 2 THEN 0 ELSE f.crashes + 1 END,
             -- A channel is never given up: it rests a day, as after a parse error.
             status = CASE WHEN f.crashes >= 2 AND f.kind <> 'channel' THEN 'dead' ELSE f.status END,
             ready = f.crashes < 2,
             due_at = CASE WHEN f.crashes < 2 THEN f.due_at WHEN f.kind = 'channel' THEN v_now + interval '1 day' END,
             error_code = CASE WHEN f.crashes >= 2 THEN 'crash_loop' ELSE f.error_code END,
             error_text = CASE WHEN f.crashes >= 2 THEN 'the worker died three times while it held only this URL' ELSE f.error_text END
        FROM expired e
       WHERE cardinality(e.in_flight) = 1
         AND f.bucket = e.bucket AND f.domain_key = e.domain_key AND f.url_hash = e.in_flight[1] AND f.ready
      RETURNING f.domain_key, f.ready
    )
    SELECT array_agg(domain_key) INTO v_given_up FROM blamed WHERE NOT ready;
    UPDATE domain_slots s
       -- Not counted anew: that would read a domain of a million URLs while its slot is locked.
       SET queued = s.queued - coalesce(s.domain_key = ANY (v_given_up), false)::integer,
           wake_at = (SELECT f.due_at FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
                         AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1),
           top = (SELECT f.level FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready
                   ORDER BY f.level DESC LIMIT 1),
           lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL
      FROM unnest(v_buckets, v_keys) AS l(b, k)
     WHERE s.bucket = l.b AND s.domain_key = l.k AND s.lease_owner IS NOT NULL;
  END IF;

  IF v_first_keys IS NOT NULL THEN
    UPDATE domains d SET status = 'active', status_since = v_now
      FROM unnest(v_first_buckets, v_first_keys) AS l(b, k)
     WHERE d.bucket = l.b AND d.domain_key = l.k AND d.status = 'pending';
    INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
    SELECT l.b, l.k, v_now, 'pending', 'active', 'first lease', p_owner
      FROM unnest(v_first_buckets, v_first_keys) AS l(b, k);
  END IF;

  -- The epoch and the order come with the slots, so that nothing is joined back to the rows: that join was a loop over
  -- rows times slots and half of the call.
  RETURN QUERY
  WITH slot AS (
    SELECT s.bucket, s.domain_key, s.top, s.next_at, s.penalty_ms, s.good_run, s.expired_runs, s.lease_epoch, l.ord,
           slot_delay_ms(s.robots_delay_ms, s.configured_delay_ms, s.penalty_ms, p_default_delay_ms) AS delay_ms
      FROM unnest(v_buckets, v_keys) WITH ORDINALITY AS l(b, k, ord)
      JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k
  ), picked AS (
    SELECT s.ord, s.bucket, s.domain_key, s.lease_epoch + 1 AS epoch, s.delay_ms, s.penalty_ms, s.good_run, s.next_at,
           f.url_hash, f.url, f.kind, f.origin, f.source_id, f.level, f.priority, f.depth, f.hops, f.tries,
           f.fetch_count, f.etag, f.last_modified, f.content_hash, f.due_at, f.execution_id, f.refresh_seconds
      FROM slot s CROSS JOIN LATERAL (
        SELECT f.* FROM url_frontier f
         WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND f.level = s.top
         ORDER BY f.due_at
         LIMIT CASE WHEN s.expired_runs >= 2 THEN 1
               ELSE least(p_max_batch, greatest(1, 20000 / greatest(s.delay_ms, 100))) END) f
  ), leased AS (
    UPDATE domain_slots s
       SET lease_owner = CASE WHEN p.hashes IS NULL THEN NULL ELSE p_owner END,
           lease_epoch = s.lease_epoch + CASE WHEN p.hashes IS NULL THEN 0 ELSE 1 END,
           leased_at = CASE WHEN p.hashes IS NULL THEN NULL ELSE v_now END,
           lease_until = CASE WHEN p.hashes IS NULL THEN NULL ELSE v_now + ms(p_lease_ms) END,
           in_flight = p.hashes,
           -- A worker that dies right after a request cannot break the gap. A slot that enters another level does so
           -- with a next_at of now() or later, which the low-water mark needs.
           next_at = CASE WHEN p.hashes IS NULL THEN greatest(s.next_at, v_now) ELSE v_now + ms(p_lease_ms + l.delay_ms) END,
           hold_reason = 'politeness',
           -- Nothing to hand out at the level the slot promised: correct the promise, or it would be probed for ever.
           top = CASE WHEN p.hashes IS NOT NULL THEN s.top ELSE (
                   SELECT f.level FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready
                    ORDER BY f.level DESC LIMIT 1) END
      FROM slot l LEFT JOIN (SELECT ord, array_agg(url_hash) AS hashes FROM picked GROUP BY ord) p USING (ord)
     WHERE s.bucket = l.bucket AND s.domain_key = l.domain_key
  )
  SELECT p.bucket, p.domain_key, p.epoch, p.delay_ms, p.penalty_ms, p.good_run, p.next_at, p.url_hash, p.url,
         p.kind, p.origin, p.source_id, p.level, p.priority, p.depth, p.hops, p.tries, p.fetch_count, p.etag,
         p.last_modified, p.content_hash, p.due_at, p.execution_id, p.refresh_seconds, NULL::timestamptz[]
    FROM picked p
   ORDER BY p.ord, p.due_at;
  IF v_marks IS NOT NULL THEN
    marks := v_marks;
    RETURN NEXT;
  END IF;
END $$;
