-- Up to p_slots due domains, best level first, within a level longest waiting first; for each up to a batch of URLs
-- of its top level. p_marks[level] is the worker's low-water mark: entries below it are known to be dead. If it is given
-- (NULL elements: unknown), one more row comes last, with the marks for the next call and nothing else.
CREATE FUNCTION frontier_lease(
  p_owner text, p_pool text, p_slots integer, p_lease_ms integer, p_default_delay_ms integer, p_max_batch integer,
  p_marks timestamptz[] DEFAULT NULL, p_skew interval DEFAULT '0', p_bucket smallint DEFAULT NULL,
  p_budget integer DEFAULT NULL) -- pages of a run; 0: no limit but a domain's own; NULL: budgets are off
RETURNS TABLE (
  bucket smallint, domain_key bigint, epoch bigint, delay_ms integer, penalty_ms integer, good_run smallint,
  trial text, ladder jsonb, good_age_ms double precision, due_since timestamptz, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer,
  level smallint, priority smallint, depth smallint, hops smallint, tries smallint, fetch_count integer,
  etag text, last_modified text, content_hash bytea, due_at timestamptz, execution_id bigint, refresh_seconds integer,
  marks timestamptz[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_buckets smallint[] := '{}';
  v_keys bigint[] := '{}';
  v_expired boolean := false;
  v_asleep boolean := false;
  v_slot domain_slots;
  v_marks timestamptz[] := p_marks;
  v_due refcursor;
  v_last timestamptz;
  v_renders boolean := p_pool ~ '^render(:|$)';
  r record;
BEGIN
  FOR v_level IN REVERSE 12..1 LOOP
    EXIT WHEN cardinality(v_keys) >= p_slots;
    -- One statement per mode, because each has its own index; p_bucket names the one bucket of bucket mode.
    IF p_bucket IS NULL THEN
      OPEN v_due FOR
        SELECT s.bucket, s.domain_key, s.lease_owner, s.asleep, s.next_at FROM domain_slots s
         WHERE s.pool = p_pool AND s.top = v_level AND s.next_at <= v_now
           AND s.next_at >= coalesce(p_marks[v_level], '-infinity')
         ORDER BY s.next_at LIMIT p_slots - cardinality(v_keys)
         FOR UPDATE SKIP LOCKED;
    ELSE
      OPEN v_due FOR
        SELECT s.bucket, s.domain_key, s.lease_owner, s.asleep, s.next_at FROM domain_slots s
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
      v_asleep := v_asleep OR r.asleep;
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
    FOR v_slot IN SELECT s.* FROM unnest(v_buckets, v_keys) AS l(b, k)
                    JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k WHERE s.lease_owner IS NOT NULL LOOP
      PERFORM lease_expire(v_slot, v_now);
    END LOOP;
  END IF;
  IF v_asleep THEN
    FOR v_slot IN SELECT s.* FROM unnest(v_buckets, v_keys) AS l(b, k)
                    JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k WHERE s.asleep LOOP
      PERFORM lease_wake(v_slot, p_owner, v_now);
    END LOOP;
  END IF;

  -- The epoch and the order come with the slots, so that nothing is joined back to the rows: that join was a loop over
  -- rows times slots and half of the call.
  RETURN QUERY
  WITH slot AS (
    SELECT s.bucket, s.domain_key, s.top, s.next_at, s.penalty_ms, s.good_run, s.lease_epoch, s.shift, l.ord, x.delay_ms,
           x.trial, x.new_run, slot_ladder(s, v_now) AS ladder, extract(epoch FROM v_now - s.last_good_at) * 1000 AS good_age_ms,
           CASE -- While a domain rests: one channel, or any row whose robots.txt is to be read again.
                WHEN x.trial = 'channel' THEN (s.top >= 11)::integer
                WHEN x.trial IS NOT NULL OR s.expired_runs >= 2 OR s.circuit_good IS NOT NULL THEN 1
                ELSE least(p_max_batch, greatest(1, 20000 / greatest(x.delay_ms, 100))) END AS batch,
           CASE WHEN s.budgeted = 0 OR s.top > 10 THEN 0 WHEN x.full_budget IS NULL THEN p_max_batch
                WHEN x.new_run THEN x.full_budget ELSE greatest(0, s.budget_left) END AS budget,
           x.full_budget, x.new_run AND x.full_budget = 0 AND s.budgeted > 0 AND s.top <= 10 AS nothing_allowed
      FROM unnest(v_buckets, v_keys) WITH ORDINALITY AS l(b, k, ord)
      JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k
      CROSS JOIN LATERAL (
        SELECT slot_delay_ms(s, p_default_delay_ms) AS delay_ms, slot_full_budget(s, p_budget) AS full_budget,
               s.budget_left IS NULL OR s.budget_until <= v_now AS new_run,
               CASE WHEN s.rest_until > v_now THEN CASE WHEN s.hold_reason = 'robots' THEN 'robots' ELSE 'channel' END END AS trial
      ) x
  ), picked AS (
    SELECT s.ord, s.bucket, s.domain_key, s.lease_epoch + 1 AS epoch, s.delay_ms, s.penalty_ms, s.good_run, s.trial, s.ladder,
           s.good_age_ms, s.next_at, f.url_hash, f.url, f.kind, f.origin, f.source_id, f.level, f.priority, f.depth, f.hops,
           f.tries, f.fetch_count, f.etag, f.last_modified, f.content_hash, coalesce(f.due_at, f.discovered_at) AS due_at,
           f.execution_id, f.refresh_seconds, f.budgeted AND NOT v_renders AS budgeted
      FROM slot s CROSS JOIN LATERAL (
        SELECT * FROM (
          (SELECT f.* FROM url_frontier f
            WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND NOT f.budgeted AND f.level = s.top
              AND NOT v_renders
            ORDER BY f.due_at LIMIT s.batch)
          UNION ALL
          -- The levels that the domain's score moves to this one: two of them at either end.
          (SELECT f.* FROM url_frontier f
            WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND f.budgeted
              AND f.level BETWEEN CASE WHEN s.top = 1 THEN least(1, 1 - s.shift) ELSE s.top - s.shift END
                              AND CASE WHEN s.top = 10 THEN greatest(10, 10 - s.shift) ELSE s.top - s.shift END
              AND NOT v_renders
            ORDER BY f.level DESC, f.due_at LIMIT least(s.batch, s.budget))
          UNION ALL
          -- In a browser's turn only the rows that need one; otherwise this part is not even begun.
          (SELECT f.* FROM url_frontier f
            WHERE v_renders AND f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.status = 'needs_render'
            ORDER BY f.level DESC, f.discovered_at LIMIT s.batch)) u
         ORDER BY u.due_at LIMIT s.batch) f
  ), taken AS (
    SELECT p.ord, array_agg(p.url_hash) AS hashes, count(*) FILTER (WHERE p.budgeted)::integer AS budgeted,
           bool_and(p.fetch_count > 0) FILTER (WHERE p.budgeted) AS refresh
      FROM picked p GROUP BY p.ord
  ), begun AS (
    INSERT INTO domain_runs (bucket, domain_key, started_at, until_at, mode, budget)
    SELECT s.bucket, s.domain_key, v_now, v_now + interval '1 day', CASE WHEN t.refresh THEN 'refresh' ELSE 'discovery' END,
           s.full_budget
      FROM slot s JOIN taken t USING (ord) WHERE t.budgeted > 0 AND s.new_run AND s.full_budget IS NOT NULL
  ), leased AS (
    UPDATE domain_slots s
       SET lease_owner = CASE WHEN p.hashes IS NULL THEN NULL ELSE p_owner END,
           lease_epoch = s.lease_epoch + CASE WHEN p.hashes IS NULL THEN 0 ELSE 1 END,
           leased_at = CASE WHEN p.hashes IS NULL THEN NULL ELSE v_now END,
           lease_until = CASE WHEN p.hashes IS NULL THEN NULL ELSE v_now + ms(p_lease_ms) END,
           in_flight = p.hashes,
           -- A worker that dies right after a request cannot break the gap. A slot that enters another level does so
           -- with a next_at of now() or later, which the low-water mark needs.
           next_at = CASE WHEN p.hashes IS NOT NULL THEN v_now + ms(p_lease_ms + l.delay_ms)
                     WHEN l.trial IS NOT NULL THEN least(s.rest_until, v_now + interval '1 day')
                     ELSE greatest(s.next_at, v_now) END,
           hold_reason = CASE WHEN l.trial IS NULL THEN 'politeness' ELSE s.hold_reason END,
           -- Reserved here, given back by the settle or when the lease expires.
           budget_left = CASE WHEN p.hashes IS NULL AND l.nothing_allowed THEN 0
                         WHEN coalesce(p.budgeted, 0) = 0 OR l.full_budget IS NULL THEN s.budget_left
                         WHEN l.new_run THEN l.full_budget - p.budgeted ELSE s.budget_left - p.budgeted END,
           budget_until = CASE WHEN p.hashes IS NULL AND l.nothing_allowed
                                 OR p.budgeted > 0 AND l.new_run AND l.full_budget IS NOT NULL THEN v_now + interval '1 day'
                          ELSE s.budget_until END,
           -- Nothing to hand out at the level the slot promised: correct the promise, or it would be probed for ever.
           -- A budget of no pages is used up before it is begun: promotion, woken, offers what else there is.
           top = CASE WHEN p.hashes IS NOT NULL OR l.trial IS NOT NULL THEN s.top
                 WHEN NOT l.nothing_allowed THEN slot_top(s, v_now) END,
           wake_at = CASE WHEN p.hashes IS NULL AND (v_renders OR l.nothing_allowed) THEN v_now ELSE s.wake_at END
      FROM slot l LEFT JOIN taken p USING (ord)
     WHERE s.bucket = l.bucket AND s.domain_key = l.domain_key
  )
  SELECT p.bucket, p.domain_key, p.epoch, p.delay_ms, p.penalty_ms, p.good_run, p.trial, p.ladder, p.good_age_ms::float8,
         p.next_at, p.url_hash, p.url, p.kind, p.origin, p.source_id, p.level, p.priority, p.depth, p.hops, p.tries,
         p.fetch_count, p.etag, p.last_modified, p.content_hash, p.due_at, p.execution_id, p.refresh_seconds,
         NULL::timestamptz[]
    FROM picked p
   ORDER BY p.ord, p.due_at;
  IF v_marks IS NOT NULL THEN
    marks := v_marks;
    RETURN NEXT;
  END IF;
END $$;

-- The holder of a lease died or was cut off: its URLs are free again and what it reserved of the budget is given back. A
-- run the server itself interrupted blames nobody; from the second expiry on the batch is one URL, and only a batch of
-- one blames its URL.
CREATE FUNCTION lease_expire(v_slot domain_slots, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
  v_was url_status;
BEGIN
  INSERT INTO counter_deltas (bucket, minute, recovered) VALUES (v_slot.bucket, date_trunc('minute', p_now), 1);
  v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, NULL);
  IF v_slot.leased_at > pg_postmaster_start_time() THEN
    v_slot.expired_runs := least(v_slot.expired_runs + 1, 100);
    IF cardinality(v_slot.in_flight) = 1 THEN
      SELECT f.status INTO v_was FROM url_frontier f
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = v_slot.in_flight[1];
      UPDATE url_frontier f
         SET crashes = CASE WHEN f.kind = 'channel' AND f.crashes >= 2 THEN 0 ELSE f.crashes + 1 END,
             tries = CASE WHEN f.kind = 'channel' AND f.crashes >= 2 THEN least(f.tries + 1, 1000) ELSE f.tries END,
             -- A channel is never given up: it rests a day, as after a parse error.
             status = CASE WHEN f.crashes >= 2 AND f.kind <> 'channel' THEN 'dead' ELSE f.status END,
             ready = f.ready AND f.crashes < 2,
             due_at = CASE WHEN f.crashes < 2 THEN f.due_at WHEN f.kind = 'channel' THEN p_now + interval '1 day' END,
             error_code = CASE WHEN f.crashes >= 2 THEN 'crash_loop' ELSE f.error_code END,
             error_text = CASE WHEN f.crashes >= 2 THEN 'the worker died three times while it held only this URL' ELSE f.error_text END
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = v_slot.in_flight[1]
         AND (f.ready OR f.status = 'needs_render')
      RETURNING f.ready, f.budgeted, f.kind, f.source_id, f.crashes INTO v_row;
      IF FOUND AND NOT v_row.ready AND (v_was <> 'needs_render' OR v_row.crashes > 2) THEN
        IF v_row.kind = 'channel' THEN
          PERFORM channel_crashed(v_slot.bucket, v_slot.in_flight[1], p_now);
        ELSIF v_row.kind <> 'probe' THEN
          PERFORM frontier_count_moves(v_slot.bucket, p_now, ARRAY[v_row.source_id], ARRAY[v_was], 'dead');
        END IF;
        -- Not counted anew: that would read a domain of a million URLs while its slot is locked.
        IF v_was <> 'needs_render' THEN
          v_slot.queued := v_slot.queued - 1;
          v_slot.budgeted := v_slot.budgeted - v_row.budgeted::integer;
        END IF;
      END IF;
    END IF;
  END IF;
  UPDATE domain_slots s
     SET lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL, expired_runs = v_slot.expired_runs,
         queued = v_slot.queued, budgeted = v_slot.budgeted, budget_left = v_slot.budget_left, top = slot_top(v_slot, p_now),
         -- Promotion works out what wakes it: it knows of budgets and refreshes.
         wake_at = p_now
   WHERE s.bucket = v_slot.bucket AND s.domain_key = v_slot.domain_key;
END $$;

-- A domain that is leased is active: for the first time, again because pages are due, or because its rest is over.
CREATE FUNCTION lease_wake(v_slot domain_slots, p_owner text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_status domain_status;
BEGIN
  IF v_slot.rest_until > p_now THEN
    RETURN; -- A trial: the status changes when it succeeds.
  END IF;
  SELECT d.status INTO v_status FROM domains d WHERE d.bucket = v_slot.bucket AND d.domain_key = v_slot.domain_key;
  IF v_status = 'exhausted' AND v_slot.top > 10 THEN
    RETURN; -- Polls leave it as it is.
  END IF;
  PERFORM domain_move(v_slot.bucket, v_slot.domain_key, 'active',
                      CASE v_status WHEN 'pending' THEN 'first lease' ELSE 'cooldown over' END, p_owner, p_now);
  UPDATE domain_slots s
     SET asleep = false, rest_until = NULL, refusals = NULL, circuit_good = NULL, circuit_opens = NULL,
         circuit_reasons = NULL, network_failures = 0, network_since = NULL
   WHERE s.bucket = v_slot.bucket AND s.domain_key = v_slot.domain_key;
END $$;

-- Where a domain stands on the ladder, with ages instead of times: the worker has no clock of the database's. NULL for
-- a domain in good standing, which is nearly all of them.
CREATE FUNCTION slot_ladder(s domain_slots, p_now timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN (s).refusals IS NULL AND (s).circuit_good IS NULL AND (s).circuit_opens IS NULL AND (s).network_failures = 0
         THEN NULL
         ELSE jsonb_build_object('refusals', coalesce(to_jsonb((s).refusals), '[]'), 'circuitGood', (s).circuit_good,
           'opens', coalesce((SELECT jsonb_agg(jsonb_build_object('ageMs', extract(epoch FROM p_now - o.at) * 1000, 'reason', o.reason))
                                FROM unnest((s).circuit_opens, (s).circuit_reasons) AS o(at, reason)), '[]'),
           'networkFailures', (s).network_failures,
           'networkForMs', extract(epoch FROM p_now - (s).network_since) * 1000) END
$$;
