-- The five functions of the hot path. Each is one round trip in autocommit and has the same shape: lock slots first,
-- in one statement, then read and write rows in later statements. As one statement with CTEs the lease was shown to
-- hand out rows settled between its snapshot and its lock; as a client-driven transaction a frozen worker would keep
-- its locks. Every function takes p_skew (0 in production) so that tests move time.

-- Gap between two requests to a domain: the largest of the three wishes, plus what 429s have added.
CREATE FUNCTION slot_delay_ms(p_robots integer, p_configured integer, p_penalty integer, p_default integer)
RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT greatest(coalesce(p_robots, 0), coalesce(p_configured, 0), p_default) + p_penalty $$;

CREATE FUNCTION ms(p_ms double precision) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT p_ms * interval '1 millisecond' $$;

-- Submit --------------------------------------------------------------------------------------------------------

CREATE TYPE submit_item AS (
  ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, url_hash bytea, url text,
  kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint,
  hops smallint, parent_url text, parent_hash bytea, execution_id bigint,
  due_at timestamptz,     -- NULL: now
  modified_at timestamptz, -- what the producer says: published or updated
  own boolean             -- of the producer's registrable domain (or a person's wish): may raise and refresh
);

-- What a known row does when it is submitted again: 'raise', 'refresh' or nothing.
CREATE FUNCTION submit_action(f url_frontier, i submit_item, p_now timestamptz, p_refetch_age interval)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN NOT (i).own THEN NULL
    WHEN (f).status = 'pending' AND (f).tries = 0 AND (f).last_fetched_at IS NULL
      AND ((i).level > (f).level OR (NOT (f).ready AND coalesce((i).due_at, p_now) < (f).due_at)) THEN 'raise'
    WHEN (f).status = 'failed' AND (i).level > (f).level THEN 'raise'
    -- least() skips NULL: without a date nothing is newer.
    WHEN (f).status = 'fetched' AND (i).modified_at IS NOT NULL AND least((i).modified_at, p_now) > (f).last_fetched_at
      AND (f).last_fetched_at <= p_now - p_refetch_age THEN 'refresh'
    WHEN (f).status = 'dead' AND (f).error_code IN ('not_found', 'max_retries')
      AND (i).modified_at IS NOT NULL AND least((i).modified_at, p_now) > coalesce((f).last_fetched_at, (f).discovered_at)
      AND coalesce((f).last_fetched_at, (f).discovered_at) <= p_now - p_refetch_age THEN 'refresh'
    WHEN (f).status = 'dead' AND (f).error_code = 'cancelled' THEN 'refresh'
  END
$$;

-- Answers only what is not a plain duplicate. A known URL is found by a read and costs no write.
CREATE FUNCTION frontier_submit(
  p_items json, p_refetch_age interval DEFAULT '6 hours', p_skew interval DEFAULT '0', p_notify boolean DEFAULT false)
RETURNS TABLE (ord integer, answer text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_items submit_item[];
  v_write submit_item[];
  v_sight submit_item[];
  v_inserted integer[];
  v_touched integer[];
  v_unparked bigint[];
  v_foreign submit_item[];
  v_refused integer[];
  v_reasons text[];
  v_woke boolean;
BEGIN
  SELECT array_agg(i) INTO v_items FROM json_populate_recordset(NULL::submit_item, p_items) i;

  -- 1. Read: which items are new or would change something. The same URL twice in a batch counts once.
  SELECT array_agg(x.i) FILTER (WHERE (x.f).url_hash IS NULL OR submit_action(x.f, x.i, v_now, p_refetch_age) IS NOT NULL),
         array_agg(x.i) FILTER (WHERE (x.f).url_hash IS NOT NULL AND (x.i).source_id IS NOT NULL
           AND (x.i).origin IN ('feed', 'sitemap', 'push')
           AND ((x.f).source_id, (x.f).parent_url) IS DISTINCT FROM ((x.i).source_id, (x.i).parent_url))
    INTO v_write, v_sight
    FROM (SELECT DISTINCT ON (i.bucket, i.domain_key, i.url_hash) i, f
            FROM unnest(v_items) i
            LEFT JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
           ORDER BY i.bucket, i.domain_key, i.url_hash, i.ord) x;

  IF v_sight IS NOT NULL THEN
    INSERT INTO url_sightings (bucket, domain_key, url_hash, source_id, parent_hash, origin, parent_url, seen_at)
    SELECT i.bucket, i.domain_key, i.url_hash, i.source_id, i.parent_hash, i.origin, i.parent_url, v_now
      FROM unnest(v_sight) i
     WHERE i.parent_hash IS NOT NULL AND NOT EXISTS (
       SELECT FROM url_sightings s WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key
          AND s.url_hash = i.url_hash AND s.source_id = i.source_id AND s.parent_hash = i.parent_hash)
     ORDER BY i.bucket, i.domain_key, i.url_hash
    ON CONFLICT DO NOTHING;
  END IF;
  IF v_write IS NULL THEN
    RETURN;
  END IF;

  -- Hosts that are not the producer's own are bounded by source and day; a redirect or a person may name any.
  SELECT array_agg(i) INTO v_foreign FROM unnest(v_write) i
   WHERE NOT i.own AND i.source_id IS NOT NULL AND i.origin IN ('feed', 'sitemap', 'push', 'spider', 'archive');
  IF v_foreign IS NOT NULL THEN
    SELECT array_agg(r.ord), array_agg(r.reason) INTO v_refused, v_reasons FROM submit_refuse_foreign(v_foreign, v_now) r;
    IF v_refused IS NOT NULL THEN
      RETURN QUERY SELECT r.o, 'rejected:' || r.why FROM unnest(v_refused, v_reasons) AS r(o, why);
      SELECT array_agg(i) INTO v_write FROM unnest(v_write) i WHERE i.ord <> ALL (v_refused);
      IF v_write IS NULL THEN
        RETURN;
      END IF;
    END IF;
  END IF;

  -- 2. Missing domains and slots, in key order, so that two submits of the same new domains wait but never deadlock.
  -- Distinct first: asked per URL, the two questions were six of the 26 buffers a new URL cost.
  INSERT INTO domains (bucket, domain_key, name, parent_domain, status_since, first_seen_at)
  SELECT i.bucket, i.domain_key, i.domain, i.parent_domain, v_now, v_now
    FROM (SELECT DISTINCT ON (i.bucket, i.domain_key) i.bucket, i.domain_key, i.domain, i.parent_domain
            FROM unnest(v_write) i ORDER BY i.bucket, i.domain_key) i
   WHERE NOT EXISTS (SELECT FROM domains d WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key)
   ORDER BY i.bucket, i.domain_key
  ON CONFLICT DO NOTHING;
  INSERT INTO domain_slots (bucket, domain_key, next_at)
  SELECT i.bucket, i.domain_key, v_now
    FROM (SELECT DISTINCT i.bucket, i.domain_key FROM unnest(v_write) i) i
   WHERE NOT EXISTS (SELECT FROM domain_slots s WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key)
   ORDER BY i.bucket, i.domain_key
  ON CONFLICT DO NOTHING;

  -- 3. Lock, in key order, in one statement.
  PERFORM FROM domain_slots s
    WHERE (s.bucket, s.domain_key) IN (SELECT i.bucket, i.domain_key FROM unnest(v_write) i)
    ORDER BY s.bucket, s.domain_key
    FOR UPDATE;

  -- 4. Write. What another submit inserted since the read is left to the update, which decides again.
  WITH inserted AS (
    INSERT INTO url_frontier (bucket, domain_key, url_hash, url, kind, origin, source_id, priority, level, depth, hops,
                              parent_url, execution_id, due_at, ready, discovered_at)
    SELECT i.bucket, i.domain_key, i.url_hash, i.url, i.kind, i.origin, i.source_id, i.priority, i.level, i.depth,
           i.hops, i.parent_url, i.execution_id, coalesce(i.due_at, v_now), coalesce(i.due_at, v_now) <= v_now, v_now
      FROM unnest(v_write) i
    ON CONFLICT DO NOTHING
    RETURNING bucket, domain_key, url_hash, kind, source_id, level, due_at, ready
  ), touched AS (
    UPDATE url_frontier f
       SET level = greatest(f.level, i.level), priority = greatest(f.priority, i.priority),
           status = CASE WHEN f.status IN ('fetched', 'dead') THEN 'pending' ELSE f.status END,
           tries = CASE WHEN f.status IN ('fetched', 'dead') THEN 0 ELSE f.tries END,
           error_code = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_code END,
           error_text = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_text END,
           due_at = CASE f.status WHEN 'failed' THEN f.due_at WHEN 'pending' THEN least(f.due_at, coalesce(i.due_at, v_now))
                    ELSE v_now END,
           ready = CASE f.status WHEN 'failed' THEN f.ready
                   WHEN 'pending' THEN f.ready OR coalesce(i.due_at, v_now) <= v_now ELSE true END
      FROM unnest(v_write) i
      JOIN url_frontier o ON o.bucket = i.bucket AND o.domain_key = i.domain_key AND o.url_hash = i.url_hash
     WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
       AND submit_action(f, i, v_now, p_refetch_age) IS NOT NULL
    RETURNING i.ord, f.bucket, f.domain_key, f.level, f.due_at, f.ready, o.ready AS was_ready,
              o.due_at IS NOT NULL AND NOT o.ready AS was_parked
  ), change AS (
    SELECT bucket, domain_key,
           count(*) FILTER (WHERE ready AND NOT was_ready)::integer AS readied,
           max(level) FILTER (WHERE ready) AS best,
           min(due_at) FILTER (WHERE NOT ready) AS wake,
           count(*) FILTER (WHERE new AND kind IN ('article', 'listing'))::integer AS pages
      FROM (SELECT bucket, domain_key, level, due_at, ready, false AS was_ready, true AS new, kind FROM inserted
            UNION ALL SELECT bucket, domain_key, level, due_at, ready, was_ready, false, NULL FROM touched) c
     GROUP BY bucket, domain_key
  ), slot AS (
    UPDATE domain_slots s
       SET top = greatest(s.top, c.best), queued = s.queued + c.readied, wake_at = least(s.wake_at, c.wake),
           -- A slot that enters a level is new there: its next_at is never below now(), which the low-water mark needs.
           next_at = CASE WHEN c.best > coalesce(s.top, 0) THEN greatest(s.next_at, v_now) ELSE s.next_at END
      FROM change c WHERE s.bucket = c.bucket AND s.domain_key = c.domain_key
    RETURNING c.readied > 0 AND s.queued = c.readied AS woke
  ), known AS (
    UPDATE domains d SET pages_known = d.pages_known + c.pages
      FROM change c WHERE d.bucket = c.bucket AND d.domain_key = c.domain_key AND c.pages > 0
  ), delta AS (
    INSERT INTO counter_deltas (bucket, minute, source_id, inserted)
    SELECT bucket, date_trunc('minute', v_now), source_id, count(*) FROM inserted
     WHERE kind <> 'probe' GROUP BY bucket, source_id
  )
  SELECT (SELECT array_agg(i.ord) FROM inserted n JOIN unnest(v_write) i
             ON i.bucket = n.bucket AND i.domain_key = n.domain_key AND i.url_hash = n.url_hash),
         (SELECT array_agg(t.ord) FROM touched t),
         (SELECT array_agg(DISTINCT t.domain_key) FROM touched t WHERE t.was_parked),
         (SELECT bool_or(s.woke) FROM slot s)
    INTO v_inserted, v_touched, v_unparked, v_woke;

  -- Only a hint, asked for at most ten times a second by each process: an idle domain has work now.
  IF p_notify AND v_woke THEN
    PERFORM pg_notify('outrider_work', '');
  END IF;

  IF v_unparked IS NOT NULL THEN
    UPDATE domain_slots s SET wake_at = (
        SELECT f.due_at FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
           AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1)
      FROM (SELECT DISTINCT i.bucket, i.domain_key FROM unnest(v_write) i WHERE i.domain_key = ANY (v_unparked)) u
     WHERE s.bucket = u.bucket AND s.domain_key = u.domain_key;
  END IF;

  RETURN QUERY
    SELECT n, 'inserted' FROM unnest(v_inserted) n
    UNION ALL
    -- Only a refresh has a date to bring; everything else that moved was raised.
    SELECT i.ord, CASE WHEN f.last_fetched_at IS NOT NULL AND f.status = 'pending' THEN 'refreshed' ELSE 'raised' END
      FROM unnest(v_write) i
      JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
     WHERE i.ord = ANY (v_touched);
END $$;

-- Promote -------------------------------------------------------------------------------------------------------
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

-- Lease ---------------------------------------------------------------------------------------------------------
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

-- Renew ---------------------------------------------------------------------------------------------------------
-- Says which leases are still held; a missing one was taken over or ended by an operator.
CREATE FUNCTION frontier_renew(
  p_owner text, p_buckets smallint[], p_keys bigint[], p_epochs bigint[], p_lease_ms integer,
  p_default_delay_ms integer, p_skew interval DEFAULT '0')
RETURNS TABLE (domain_key bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
BEGIN
  PERFORM FROM domain_slots s
    WHERE (s.bucket, s.domain_key) IN (SELECT b, k FROM unnest(p_buckets, p_keys) AS l(b, k))
    ORDER BY s.bucket, s.domain_key
    FOR UPDATE;
  RETURN QUERY
  UPDATE domain_slots s
     SET lease_until = v_now + ms(p_lease_ms),
         next_at = v_now + ms(p_lease_ms + slot_delay_ms(s.robots_delay_ms, s.configured_delay_ms, s.penalty_ms, p_default_delay_ms))
    FROM unnest(p_buckets, p_keys, p_epochs) AS l(b, k, e)
   WHERE s.bucket = l.b AND s.domain_key = l.k AND s.lease_owner = p_owner AND s.lease_epoch = l.e
  RETURNING s.domain_key;
END $$;

-- Settle --------------------------------------------------------------------------------------------------------

CREATE TYPE settle_item AS (
  url_hash bytea, status url_status,
  due_in_ms double precision, -- NULL: never again by itself
  tries smallint, http_status smallint, error_code text, error_text text,
  etag text, last_modified text, content_hash bytea, redirected_to text, url text, refresh_seconds integer,
  validation_status text, rejection_reason text,
  fetched boolean,            -- a request was answered: moves last_fetched_at and fetch_count
  unchanged boolean,          -- 304 or the same text: validators, hash and document stay
  target boolean,             -- end of a redirect inside the domain: its row is made or settled from this response
  kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint,
  parent_url text,
  items_seen integer, items_duplicate integer, items_rejected integer,
  channel_id integer, channel_error text, channel_new integer, channel_format text, channel_hub text,
  last_item_at timestamptz, result jsonb, execution_id bigint
);

CREATE TYPE settle_document AS (
  url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamptz,
  modified_at timestamptz, content_hash bytea, page_type text, language text, canonical_url text, title text,
  section text, description text, lead_image text, authors text[], keywords text[], meta jsonb, text text,
  raw_index integer, raw_encoding text, raw_type text
);

CREATE TYPE settle_request AS (
  ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer,
  execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint
);

-- Stores one document; answers 'new', 'changed', 'same', or the hash it duplicates.
CREATE FUNCTION settle_one_document(p_bucket smallint, p_domain_key bigint, d settle_document, p_raw bytea[], p_now timestamptz)
RETURNS TABLE (outcome text, duplicate_of bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_old record;
  v_version integer := 1;
  v_twin bytea;
BEGIN
  IF d.page_type <> 'stub' THEN
    SELECT o.url_hash INTO v_twin FROM documents o
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.content_hash = d.content_hash
       AND o.page_type <> 'stub' AND o.url_hash <> d.url_hash;
    IF FOUND THEN
      RETURN QUERY SELECT 'duplicate', v_twin;
      RETURN;
    END IF;
  END IF;
  SELECT o.content_hash, o.version INTO v_old FROM documents o
   WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
  IF FOUND AND v_old.content_hash = d.content_hash THEN
    UPDATE documents o SET last_seen_at = p_now
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
    RETURN QUERY SELECT 'same', NULL::bytea;
    RETURN;
  END IF;
  IF FOUND THEN
    v_version := v_old.version + 1;
    INSERT INTO document_versions (bucket, domain_key, url_hash, version, crawled_at, content_hash, title, text)
    SELECT o.bucket, o.domain_key, o.url_hash, o.version, o.crawled_at, o.content_hash, o.title, o.text FROM documents o
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
  END IF;
  INSERT INTO documents (bucket, domain_key, url_hash, source_id, version, word_count, confidence, first_seen_at,
      last_seen_at, crawled_at, published_at, modified_at, content_hash, page_type, language, url, canonical_url, title,
      section, description, lead_image, authors, keywords, meta, text)
  VALUES (p_bucket, p_domain_key, d.url_hash, d.source_id, v_version, d.word_count, d.confidence, p_now, p_now, p_now,
      d.published_at, d.modified_at, d.content_hash, d.page_type, d.language, d.url, d.canonical_url, d.title, d.section,
      d.description, d.lead_image, coalesce(d.authors, '{}'), coalesce(d.keywords, '{}'), coalesce(d.meta, '{}'), d.text)
  ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET
      version = excluded.version, word_count = excluded.word_count, confidence = excluded.confidence,
      last_seen_at = p_now, crawled_at = p_now, published_at = coalesce(excluded.published_at, documents.published_at),
      modified_at = excluded.modified_at, content_hash = excluded.content_hash, page_type = excluded.page_type,
      language = excluded.language, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
      section = excluded.section, description = excluded.description, lead_image = excluded.lead_image,
      authors = excluded.authors, keywords = excluded.keywords, meta = excluded.meta, text = excluded.text,
      -- The verdict was about the old text.
      classification_status = 'pending', classified_at = NULL;
  IF d.raw_index IS NOT NULL THEN
    INSERT INTO raw_pages (bucket, domain_key, url_hash, fetched_at, encoding, content_type, body)
    VALUES (p_bucket, p_domain_key, d.url_hash, p_now, d.raw_encoding, d.raw_type, p_raw[d.raw_index])
    ON CONFLICT DO NOTHING;
  END IF;
  IF d.page_type <> 'stub' THEN
    INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
    SELECT p_bucket, s.name, p_domain_key, d.url_hash, v_version, p_now FROM sinks s WHERE s.enabled;
  END IF;
  RETURN QUERY SELECT CASE WHEN v_version = 1 THEN 'new' ELSE 'changed' END, NULL::bytea;
END $$;

-- Ends URLs, and with p_final the lease. Fenced by owner and epoch: a late worker changes nothing, but what it
-- requested is still logged.
CREATE FUNCTION frontier_settle(
  p_bucket smallint, p_domain_key bigint, p_owner text, p_epoch bigint, p_final boolean,
  p_items json, p_documents json, p_raw bytea[], p_requests json,
  p_idle_ms double precision,  -- since the last response's headers, or its failure
  p_default_delay_ms integer,
  p_hold_ms double precision DEFAULT NULL, p_hold_reason hold_reason DEFAULT NULL,
  p_penalty_ms integer DEFAULT NULL, p_good_run smallint DEFAULT NULL, p_robots_delay_ms integer DEFAULT NULL,
  p_skew interval DEFAULT '0')
RETURNS TABLE (outcome text, settled integer, documents integer, versions integer, duplicates integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_document settle_document;
  v_result record;
  v_targets bytea[] := '{}';
  v_unchanged bytea[];
  v_polled boolean;
  v_probed boolean;
  v_twins bytea[] := '{}';
  v_twin_of bytea[] := '{}';
  v_new integer := 0;
  v_changed integer := 0;
  v_hashes bytea[] := '{}';
  v_held integer := 0;
  v_crawled integer := 0;
  v_errors integer := 0;
  v_good boolean := false;
  v_delay integer;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;

  IF p_requests IS NOT NULL THEN
    INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, source_id, execution_id,
                           wait_ms, headers_ms, total_ms, bytes, worker)
    SELECT v_now - ms(r.ago_ms), p_bucket, p_domain_key, p_epoch, r.status, r.kind, r.outcome, r.url_hash, r.url,
           r.source_id, r.execution_id, r.wait_ms, r.headers_ms, r.total_ms, r.bytes, p_owner
      FROM json_populate_recordset(NULL::settle_request, p_requests) r;
  END IF;
  IF v_slot.lease_owner IS DISTINCT FROM p_owner OR v_slot.lease_epoch IS DISTINCT FROM p_epoch THEN
    RETURN QUERY SELECT 'stale', 0, 0, 0, 0;
    RETURN;
  END IF;

  -- The items are parsed where they are used, and that is once unless there is something rare among them. Kept as an
  -- array of rows they were copied and taken apart again by each of seven statements: a third of the call.
  IF p_items IS NOT NULL THEN
    -- Redirect targets inside the domain: made here if unknown, so that the main statement settles both alike. The
    -- text is searched first because parsing it for nothing would cost as much as settling.
    IF strpos(p_items::text, '"target"') > 0 THEN
      WITH target AS (SELECT i.* FROM json_populate_recordset(NULL::settle_item, p_items) i WHERE i.target),
      made AS (
        INSERT INTO url_frontier (bucket, domain_key, url_hash, url, kind, origin, source_id, priority, level, depth, hops,
                                  parent_url, execution_id, due_at, ready, discovered_at)
        SELECT p_bucket, p_domain_key, i.url_hash, i.url, i.kind, 'redirect', i.source_id, i.priority, i.level, i.depth,
               i.hops, i.parent_url, i.execution_id, NULL, false, v_now
          FROM target i
        ON CONFLICT DO NOTHING
        RETURNING source_id),
      counted AS (
        INSERT INTO counter_deltas (bucket, minute, source_id, inserted)
        SELECT p_bucket, date_trunc('minute', v_now), source_id, count(*) FROM made GROUP BY source_id)
      SELECT coalesce(array_agg(i.url_hash), '{}') INTO v_targets FROM target i;
      UPDATE domain_slots s SET queued = s.queued - x.n
        FROM (SELECT count(*)::integer AS n FROM url_frontier f
               WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (v_targets) AND f.ready
                 AND f.url_hash <> ALL (v_slot.in_flight)) x
       WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key AND x.n > 0;
    END IF;

    IF p_documents IS NOT NULL THEN
      FOR v_document IN SELECT * FROM json_populate_recordset(NULL::settle_document, p_documents) LOOP
        CONTINUE WHEN v_document.url_hash <> ALL (v_slot.in_flight) AND v_document.url_hash <> ALL (v_targets);
        SELECT * INTO v_result FROM settle_one_document(p_bucket, p_domain_key, v_document, p_raw, v_now);
        IF v_result.outcome = 'duplicate' THEN
          v_twins := v_twins || v_document.url_hash;
          v_twin_of := v_twin_of || v_result.duplicate_of;
        ELSIF v_result.outcome = 'new' THEN
          v_new := v_new + 1;
        ELSIF v_result.outcome = 'changed' THEN
          v_changed := v_changed + 1;
        END IF;
      END LOOP;
    END IF;

    WITH settled AS (
      UPDATE url_frontier f SET
        status = CASE WHEN i.twin_of IS NOT NULL THEN 'duplicate' ELSE i.status END,
        duplicate_of = coalesce(i.twin_of, CASE WHEN i.status = 'duplicate' THEN f.duplicate_of END),
        ready = false,
        due_at = v_now + ms(i.due_in_ms),
        tries = coalesce(i.tries, f.tries),
        crashes = 0,
        http_status = i.http_status,
        error_code = i.error_code,
        error_text = i.error_text,
        etag = CASE WHEN i.unchanged THEN coalesce(i.etag, f.etag) WHEN i.fetched THEN i.etag ELSE f.etag END,
        last_modified = CASE WHEN i.unchanged THEN coalesce(i.last_modified, f.last_modified)
                        WHEN i.fetched THEN i.last_modified ELSE f.last_modified END,
        content_hash = coalesce(i.content_hash, f.content_hash),
        redirected_to = i.redirected_to,
        url = coalesce(i.url, f.url),
        refresh_seconds = coalesce(i.refresh_seconds, f.refresh_seconds),
        validation_status = coalesce(i.validation_status, f.validation_status),
        rejection_reason = CASE WHEN i.validation_status IS NULL THEN f.rejection_reason ELSE i.rejection_reason END,
        last_fetched_at = CASE WHEN i.fetched THEN v_now ELSE f.last_fetched_at END,
        fetch_count = f.fetch_count + CASE WHEN i.fetched THEN 1 ELSE 0 END
      -- Item by item through the key. Left to itself the planner believes that a domain has one row and reads the whole
      -- domain, or joins every item with every row.
      FROM (SELECT i.*, v_twin_of[array_position(v_twins, i.url_hash)] AS twin_of,
                   (SELECT k.ctid FROM url_frontier k
                     WHERE k.bucket = p_bucket AND k.domain_key = p_domain_key AND k.url_hash = i.url_hash) AS row_at
              FROM json_populate_recordset(NULL::settle_item, p_items) i
             WHERE i.target OR i.url_hash = ANY (v_slot.in_flight) OFFSET 0) i
      WHERE f.ctid = i.row_at
      RETURNING f.url_hash, f.status, f.kind, f.source_id, f.error_code, i.fetched, i.unchanged, i.target,
                i.items_seen, i.items_duplicate, i.items_rejected, i.channel_id, i.result IS NOT NULL AS probed
    ), delta AS (
      INSERT INTO counter_deltas (bucket, minute, source_id, items_seen, items_duplicate, items_rejected, fetched,
                                  unchanged, redirected, duplicate, failed, needs_render, dead, robots_blocked, polled)
      SELECT p_bucket, date_trunc('minute', v_now), source_id,
             coalesce(sum(items_seen), 0), coalesce(sum(items_duplicate), 0), coalesce(sum(items_rejected), 0),
             count(*) FILTER (WHERE kind <> 'channel' AND status = 'fetched'), count(*) FILTER (WHERE unchanged),
             count(*) FILTER (WHERE status = 'redirected'), count(*) FILTER (WHERE status = 'duplicate'),
             count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'needs_render'),
             count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE error_code = 'robots_blocked'),
             count(*) FILTER (WHERE kind = 'channel' AND fetched)
        FROM settled WHERE kind <> 'probe' GROUP BY source_id
    )
    SELECT coalesce(array_agg(url_hash), '{}'), count(*) FILTER (WHERE fetched AND kind IN ('article', 'listing')),
           count(*) FILTER (WHERE status IN ('failed') OR (status = 'dead' AND error_code <> 'robots_blocked')),
           coalesce(bool_or(fetched AND status IN ('fetched', 'duplicate', 'pending')), false),
           array_agg(url_hash) FILTER (WHERE unchanged AND kind = 'article'), bool_or(channel_id IS NOT NULL), bool_or(probed),
           count(*) FILTER (WHERE target IS NOT TRUE OR url_hash = ANY (v_slot.in_flight))
      INTO v_hashes, v_crawled, v_errors, v_good, v_unchanged, v_polled, v_probed, v_held FROM settled;

    IF v_unchanged IS NOT NULL THEN
      UPDATE documents d SET last_seen_at = v_now
       WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.url_hash = ANY (v_unchanged);
    END IF;

    IF v_polled THEN
      INSERT INTO channel_state AS c (bucket, channel_id, polls, not_modified, items_seen, items_new, errors_in_row,
                                      error_kind, failing_since, last_success_at, last_item_at, format, hub)
      SELECT p_bucket, i.channel_id, 1, CASE WHEN i.unchanged THEN 1 ELSE 0 END, coalesce(i.items_seen, 0),
             coalesce(i.channel_new, 0), CASE WHEN i.channel_error IS NULL THEN 0 ELSE 1 END, i.channel_error,
             CASE WHEN i.channel_error IS NULL THEN NULL ELSE v_now END,
             CASE WHEN i.channel_error IS NULL THEN v_now END, i.last_item_at, i.channel_format, i.channel_hub
        FROM json_populate_recordset(NULL::settle_item, p_items) i
       WHERE i.channel_id IS NOT NULL AND i.url_hash = ANY (v_hashes)
      ON CONFLICT (bucket, channel_id) DO UPDATE SET
        polls = c.polls + 1, not_modified = c.not_modified + excluded.not_modified,
        items_seen = c.items_seen + excluded.items_seen, items_new = c.items_new + excluded.items_new,
        errors_in_row = CASE WHEN excluded.error_kind IS NULL THEN 0
                        WHEN excluded.error_kind = c.error_kind THEN c.errors_in_row + 1 ELSE 1 END,
        error_kind = excluded.error_kind,
        failing_since = CASE WHEN excluded.error_kind IS NULL THEN NULL ELSE coalesce(c.failing_since, v_now) END,
        last_success_at = coalesce(excluded.last_success_at, c.last_success_at),
        last_item_at = greatest(c.last_item_at, excluded.last_item_at),
        format = coalesce(excluded.format, c.format), hub = coalesce(excluded.hub, c.hub);
    END IF;

    IF v_probed THEN
      INSERT INTO probe_results (bucket, domain_key, url_hash, at, result)
      SELECT p_bucket, p_domain_key, i.url_hash, v_now, i.result
        FROM json_populate_recordset(NULL::settle_item, p_items) i
       WHERE i.result IS NOT NULL AND i.url_hash = ANY (v_hashes)
      ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET at = excluded.at, result = excluded.result;
    END IF;
  END IF;

  IF v_new + v_changed > 0 OR p_requests IS NOT NULL THEN
    INSERT INTO counter_deltas (bucket, minute, source_id, requests, bytes, documents, versions)
    SELECT p_bucket, date_trunc('minute', v_now), NULL, coalesce(count(*), 0), coalesce(sum(r.bytes), 0), v_new, v_changed
      FROM json_populate_recordset(NULL::settle_request, coalesce(p_requests, '[]')) r;
  END IF;

  v_delay := slot_delay_ms(coalesce(p_robots_delay_ms, v_slot.robots_delay_ms), v_slot.configured_delay_ms,
                           coalesce(p_penalty_ms, v_slot.penalty_ms), p_default_delay_ms);
  WITH domain AS (
    UPDATE domains d SET pages_crawled = d.pages_crawled + v_crawled, documents = d.documents + v_new,
           errors_total = d.errors_total + v_errors, last_crawled_at = v_now,
           errors_consecutive = CASE WHEN v_good THEN 0 ELSE d.errors_consecutive + v_errors END
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND (v_crawled + v_errors + v_new > 0 OR v_good)
  )
  UPDATE domain_slots s
     SET queued = s.queued - v_held,
         penalty_ms = coalesce(p_penalty_ms, s.penalty_ms),
         good_run = coalesce(p_good_run, s.good_run),
         robots_delay_ms = coalesce(p_robots_delay_ms, s.robots_delay_ms),
         expired_runs = CASE WHEN cardinality(v_hashes) > 0 THEN 0 ELSE s.expired_runs END,
         in_flight = CASE WHEN p_final THEN NULL ELSE ARRAY(SELECT h FROM unnest(v_slot.in_flight) h WHERE h <> ALL (v_hashes)) END,
         lease_owner = CASE WHEN p_final THEN NULL ELSE s.lease_owner END,
         lease_until = CASE WHEN p_final THEN NULL ELSE s.lease_until END,
         leased_at = CASE WHEN p_final THEN NULL ELSE s.leased_at END,
         next_at = CASE WHEN p_final THEN greatest(v_now, v_now + ms(v_delay - p_idle_ms), v_now + ms(p_hold_ms)) ELSE s.next_at END,
         hold_reason = CASE WHEN NOT p_final THEN s.hold_reason
                       WHEN p_hold_ms IS NOT NULL AND p_hold_ms > v_delay - p_idle_ms THEN p_hold_reason ELSE 'politeness' END,
         top = CASE WHEN p_final THEN (
                 SELECT f.level FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.ready
                  ORDER BY f.level DESC LIMIT 1) ELSE s.top END,
         wake_at = (SELECT f.due_at FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key
                       AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1)
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;

  outcome := 'settled';
  settled := cardinality(v_hashes);
  documents := v_new;
  versions := v_changed;
  duplicates := cardinality(v_twins);
  RETURN NEXT;
END $$;
