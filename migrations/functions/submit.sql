CREATE TYPE submit_item AS (
  ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, url_hash bytea, url text,
  kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint,
  hops smallint, parent_url text, parent_hash bytea, execution_id bigint,
  due_at timestamptz,     -- NULL: now
  modified_at timestamptz, -- what the producer says: published or updated
  refetch_before timestamptz, -- a run of a job: what was fetched before it began is fetched again
  own boolean             -- of the producer's registrable domain (or a person's wish): may raise and refresh
);

-- Whether the domain's budget holds an item: pages that the spider or an archive brings.
CREATE FUNCTION submit_is_budgeted(i submit_item) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT (i).origin IN ('spider', 'archive') AND (i).kind IN ('article', 'listing') $$;

-- What a known row does when it is submitted again: 'raise', 'refresh' or nothing.
CREATE FUNCTION submit_action(f url_frontier, i submit_item, p_now timestamptz, p_refetch_age interval)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    -- Once per run: the answer is younger than its beginning. Only where a run begins is anything else tried again.
    WHEN (i).refetch_before > coalesce((f).last_fetched_at, '-infinity') AND ((i).own OR (i).origin = 'redirect')
      AND ((f).status = 'fetched' OR (i).origin = 'manual' AND ((f).status IN ('redirected', 'duplicate')
           OR (f).status = 'dead' AND (f).error_code NOT IN ('removed', 'source_deleted'))) THEN 'refresh'
    -- Its source was deleted while it waited: whoever brings it again brings it as if it were new.
    WHEN (f).status = 'dead' AND (f).error_code = 'source_deleted' AND (f).kind <> 'channel' THEN 'refresh'
    WHEN NOT (i).own THEN NULL
    WHEN (f).status = 'pending' AND (f).tries = 0 AND (f).last_fetched_at IS NULL
      AND ((i).level > (f).level OR (NOT (f).ready AND coalesce((i).due_at, p_now) < (f).due_at)) THEN 'raise'
    WHEN (f).status = 'failed' AND (i).level > (f).level THEN 'raise'
    -- A budget holds what only links led to, whatever its level.
    WHEN (f).status IN ('pending', 'failed') AND (f).budgeted AND (f).last_fetched_at IS NULL
      AND (i).origin IN ('feed', 'sitemap', 'push', 'manual') THEN 'raise'
    -- least() skips NULL: without a date nothing is newer.
    -- What is changed may have a text of its own by now.
    WHEN (f).status IN ('fetched', 'duplicate') AND (i).modified_at IS NOT NULL AND least((i).modified_at, p_now) > (f).last_fetched_at
      AND (f).last_fetched_at <= p_now - p_refetch_age THEN 'refresh'
    WHEN (f).status = 'dead' AND (f).error_code IN ('not_found', 'max_retries')
      AND (i).modified_at IS NOT NULL AND least((i).modified_at, p_now) > coalesce((f).last_fetched_at, (f).discovered_at)
      AND coalesce((f).last_fetched_at, (f).discovered_at) <= p_now - p_refetch_age THEN 'refresh'
    WHEN (f).status = 'dead' AND (f).error_code IN ('cancelled', 'run_ended') THEN 'refresh'
    -- The youngest run that meets what waits has it.
    WHEN (f).status IN ('pending', 'failed') AND (i).execution_id > coalesce((f).execution_id, 0) THEN 'raise'
    -- Only a channel submits its own row: one that was given up is wanted again, and a file whose index says that it
    -- changed is read before its time, unless it fails.
    WHEN (f).kind = 'channel' AND (i).kind = 'channel'
      AND ((f).status = 'dead' AND (f).error_code IN ('moved', 'channel_removed', 'source_deleted')
      OR (f).status = 'pending' AND NOT (f).ready AND (f).tries = 0 AND (i).modified_at > (f).last_fetched_at
         AND coalesce((i).due_at, p_now) < (f).due_at) THEN 'refresh'
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
                              parent_url, execution_id, due_at, ready, discovered_at, budgeted)
    SELECT i.bucket, i.domain_key, i.url_hash, i.url, i.kind, i.origin, i.source_id, i.priority, i.level, i.depth,
           i.hops, i.parent_url, i.execution_id, coalesce(i.due_at, v_now), coalesce(i.due_at, v_now) <= v_now, v_now,
           submit_is_budgeted(i)
      FROM unnest(v_write) i
    ON CONFLICT DO NOTHING
    RETURNING bucket, domain_key, url_hash, kind, source_id, level, due_at, ready, budgeted
  ), touched AS (
    UPDATE url_frontier f
       SET level = greatest(f.level, i.level), priority = greatest(f.priority, i.priority),
           status = CASE WHEN f.status IN ('fetched', 'dead', 'redirected', 'duplicate') THEN 'pending' ELSE f.status END,
           tries = CASE WHEN f.status IN ('fetched', 'dead', 'redirected', 'duplicate') THEN 0 ELSE f.tries END,
           -- A run counts depth from where it began.
           execution_id = coalesce(i.execution_id, f.execution_id),
           depth = CASE WHEN i.execution_id IS NULL THEN f.depth ELSE least(f.depth, i.depth) END,
           error_code = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_code END,
           error_text = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_text END,
           -- A channel that comes back to an address may be another source's, and old validators would hide its news.
           source_id = CASE WHEN f.kind = 'channel' OR f.error_code = 'source_deleted' THEN i.source_id ELSE f.source_id END,
           etag = CASE WHEN f.kind = 'channel' AND f.status = 'dead' THEN NULL ELSE f.etag END,
           last_modified = CASE WHEN f.kind = 'channel' AND f.status = 'dead' THEN NULL ELSE f.last_modified END,
           redirected_to = CASE WHEN f.kind = 'channel' AND f.status = 'dead' THEN NULL ELSE f.redirected_to END,
           due_at = CASE WHEN f.status = 'failed' THEN f.due_at WHEN f.status = 'pending' THEN least(f.due_at, coalesce(i.due_at, v_now))
                    WHEN f.kind = 'channel' THEN coalesce(i.due_at, v_now) ELSE v_now END,
           ready = CASE WHEN f.status = 'failed' THEN f.ready WHEN f.status = 'pending' THEN f.ready OR coalesce(i.due_at, v_now) <= v_now
                   WHEN f.kind = 'channel' THEN coalesce(i.due_at, v_now) <= v_now ELSE true END,
           -- What a feed or a person names too is no longer the spider's, and no budget holds it.
           budgeted = CASE WHEN f.status IN ('fetched', 'dead', 'redirected', 'duplicate') THEN submit_is_budgeted(i)
                      ELSE f.budgeted AND submit_is_budgeted(i) END
      FROM unnest(v_write) i
      JOIN url_frontier o ON o.bucket = i.bucket AND o.domain_key = i.domain_key AND o.url_hash = i.url_hash
     WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
       AND submit_action(f, i, v_now, p_refetch_age) IS NOT NULL
    RETURNING i.ord, f.bucket, f.domain_key, f.kind, f.source_id, o.source_id AS was_source, o.status AS was_status,
              f.level, f.due_at, f.ready, o.ready AS was_ready, f.budgeted,
              o.ready AND o.budgeted AS was_budgeted, o.due_at IS NOT NULL AND NOT o.ready AS was_parked
  ), change AS (
    SELECT bucket, domain_key,
           count(*) FILTER (WHERE ready AND NOT was_ready)::integer AS readied,
           (count(*) FILTER (WHERE ready AND budgeted) - count(*) FILTER (WHERE was_budgeted))::integer AS budgeted,
           max(level) FILTER (WHERE ready AND NOT budgeted) AS best,
           max(level) FILTER (WHERE ready AND budgeted) AS best_budgeted,
           min(due_at) FILTER (WHERE NOT ready) AS wake,
           count(*) FILTER (WHERE new AND kind IN ('article', 'listing'))::integer AS pages
      FROM (SELECT bucket, domain_key, level, due_at, ready, false AS was_ready, budgeted,
                   false AS was_budgeted, true AS new, kind FROM inserted
            UNION ALL SELECT bucket, domain_key, level, due_at, ready, was_ready, budgeted, was_budgeted, false, NULL
              FROM touched) c
     GROUP BY bucket, domain_key
  ), slot AS (
    UPDATE domain_slots s
       SET top = x.top, queued = s.queued + c.readied, budgeted = s.budgeted + c.budgeted,
           -- A browser's turn ends when there is something else to do: promotion sees to it.
           wake_at = CASE WHEN s.pool <> s.own_pool AND c.readied > 0 THEN v_now ELSE least(s.wake_at, c.wake) END,
           -- A slot that enters a level is new there: its next_at is never below now(), which the low-water mark needs.
           -- Those of one call stay in the caller's order, a microsecond apart.
           next_at = CASE WHEN x.top > coalesce(s.top, 0) THEN greatest(s.next_at, v_now + x.nth * interval '1 microsecond')
                     ELSE s.next_at END
      FROM change c
      JOIN (SELECT i.bucket, i.domain_key, min(i.ord) AS nth FROM unnest(v_write) i GROUP BY i.bucket, i.domain_key) n
        ON n.bucket = c.bucket AND n.domain_key = c.domain_key
      JOIN domain_slots o ON o.bucket = c.bucket AND o.domain_key = c.domain_key
      JOIN LATERAL (SELECT n.nth, greatest(o.top, c.best,
             CASE WHEN slot_budget_open(o, v_now) THEN shifted_level(c.best_budgeted, o.shift) END) AS top) x ON true
     WHERE s.bucket = c.bucket AND s.domain_key = c.domain_key
    RETURNING c.readied > 0 AND s.queued = c.readied AS woke
  ), known AS (
    UPDATE domains d SET pages_known = d.pages_known + c.pages
      FROM change c WHERE d.bucket = c.bucket AND d.domain_key = c.domain_key AND c.pages > 0
  ), delta AS (
    INSERT INTO counter_deltas (bucket, minute, source_id, inserted, rows_pending, rows_fetched, rows_dead, rows_redirected,
                                rows_duplicate, rows_channel)
    SELECT bucket, date_trunc('minute', v_now), source_id, sum(new), sum(pending), sum(fetched), sum(dead), sum(redirected),
           sum(duplicate), sum(channel)
      FROM (SELECT bucket, source_id, 1 AS new, (kind <> 'channel')::integer AS pending, 0 AS fetched, 0 AS dead,
                   0 AS redirected, 0 AS duplicate, (kind = 'channel')::integer AS channel FROM inserted WHERE kind <> 'probe'
            -- What was done or given up waits again, maybe for another source.
            UNION ALL SELECT t.bucket, x.source_id, 0, x.now, -(x.was AND t.was_status = 'fetched')::integer,
                   -(x.was AND t.was_status = 'dead')::integer, -(x.was AND t.was_status = 'redirected')::integer,
                   -(x.was AND t.was_status = 'duplicate')::integer, 0
              FROM touched t CROSS JOIN LATERAL (VALUES (t.source_id, 1, false), (t.was_source, 0, true)) AS x(source_id, now, was)
             WHERE t.was_status IN ('fetched', 'dead', 'redirected', 'duplicate') AND t.kind NOT IN ('channel', 'probe')
            -- A channel that comes back may be another source's.
            UNION ALL SELECT t.bucket, x.source_id, 0, 0, 0, 0, 0, 0, x.n
              FROM touched t CROSS JOIN LATERAL (VALUES (t.source_id, 1), (t.was_source, -1)) AS x(source_id, n)
             WHERE t.kind = 'channel' AND t.source_id IS DISTINCT FROM t.was_source) c
     GROUP BY bucket, source_id
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
    -- The row that was to wake the domain may be ready now: promotion looks what wakes it next.
    UPDATE domain_slots s SET wake_at = v_now
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

-- What a submit of these items would answer, without writing anything. Foreign hosts are not counted: only people ask.
CREATE FUNCTION submit_preview(p_items json, p_refetch_age interval DEFAULT '6 hours', p_skew interval DEFAULT '0')
RETURNS TABLE (ord integer, answer text) LANGUAGE sql STABLE AS $$
  SELECT x.ord, x.answer
    FROM (SELECT DISTINCT ON (i.bucket, i.domain_key, i.url_hash) i.ord,
                 CASE WHEN f.url_hash IS NULL THEN 'inserted'
                      ELSE CASE submit_action(f, i, now() + p_skew, p_refetch_age) WHEN 'raise' THEN 'raised' WHEN 'refresh' THEN
                        CASE WHEN f.last_fetched_at IS NULL THEN 'raised' ELSE 'refreshed' END END END AS answer
            FROM json_populate_recordset(NULL::submit_item, p_items) i
            LEFT JOIN url_frontier f ON f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
           ORDER BY i.bucket, i.domain_key, i.url_hash, i.ord) x
   WHERE x.answer IS NOT NULL
$$;

-- Which of these items go beyond a source's allowance for foreign hosts today: 50 new hosts, 100 URLs per host. Images
-- count as hosts only: nearly all of them lie at one foreign host, and their pages bound their number.
-- Called by submit for the items it is about to insert; remembers what it lets through.
CREATE FUNCTION submit_refuse_foreign(p_items submit_item[], p_now timestamptz)
RETURNS TABLE (ord integer, reason text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_day date := (p_now AT TIME ZONE 'UTC')::date;
  v_refused integer[];
BEGIN
  -- Two submits of one source count one after the other; in key order, before any slot is locked.
  PERFORM pg_advisory_xact_lock(7101, s.source_id)
    FROM (SELECT DISTINCT i.source_id FROM unnest(p_items) i ORDER BY 1) s;

  RETURN QUERY
  WITH item AS (
    SELECT i.ord, i.bucket, i.domain_key, i.source_id, i.kind <> 'image' AS counts,
           count(*) FILTER (WHERE i.kind <> 'image') OVER (PARTITION BY i.source_id, i.domain_key ORDER BY i.ord) AS nth_url,
           h.urls AS known_urls,
           h.urls IS NULL AND NOT EXISTS (
             SELECT FROM domains d WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key) AS is_new
      FROM unnest(p_items) i
      LEFT JOIN foreign_hosts h ON h.bucket = i.bucket AND h.domain_key = i.domain_key
       AND h.source_id = i.source_id AND h.day = v_day
  ), ranked AS (
    SELECT item.*,
           CASE WHEN is_new THEN dense_rank() OVER (PARTITION BY source_id, is_new ORDER BY first_ord) END AS nth_host,
           (SELECT count(*) FROM foreign_hosts h WHERE h.source_id = item.source_id AND h.day = v_day AND h.is_new) AS new_hosts
      FROM (SELECT item.*, min(ord) OVER (PARTITION BY source_id, domain_key) AS first_ord FROM item) item
  ), judged AS (
    SELECT ranked.*, CASE WHEN is_new AND new_hosts + nth_host > 50 THEN 'foreign_hosts'
                          WHEN counts AND coalesce(known_urls, 0) + nth_url > 100 THEN 'foreign_urls' END AS reason
      FROM ranked
  ), kept AS (
    INSERT INTO foreign_hosts AS f (bucket, domain_key, source_id, day, urls, is_new)
    SELECT bucket, domain_key, source_id, v_day, count(*) FILTER (WHERE counts), bool_or(is_new) FROM judged
     WHERE reason IS NULL GROUP BY bucket, domain_key, source_id
     ORDER BY bucket, domain_key, source_id
    ON CONFLICT (bucket, domain_key, source_id, day) DO UPDATE SET urls = f.urls + excluded.urls
  )
  SELECT judged.ord, judged.reason FROM judged WHERE judged.reason IS NOT NULL;
END $$;
