-- The schema after all migrations, written by src/db/schema.test.ts. Do not edit.

-- types
CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');
CREATE TYPE hold_reason AS ENUM ('politeness', 'retry_after', 'circuit', 'cooldown', 'robots', 'operator');
CREATE TYPE url_kind AS ENUM ('article', 'listing', 'channel', 'image', 'probe');
CREATE TYPE url_origin AS ENUM ('feed', 'sitemap', 'push', 'spider', 'archive', 'refresh', 'redirect', 'manual');
CREATE TYPE url_status AS ENUM ('pending', 'fetched', 'redirected', 'duplicate', 'failed', 'needs_render', 'dead');
CREATE TYPE settle_document AS (url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamp with time zone, modified_at timestamp with time zone, content_hash bytea, page_type text, language text, canonical_url text, title text, section text, description text, lead_image text, authors text[], keywords text[], meta jsonb, text text, raw_index integer, raw_encoding text, raw_type text);
CREATE TYPE settle_item AS (url_hash bytea, status url_status, due_in_ms double precision, tries smallint, http_status smallint, error_code text, error_text text, etag text, last_modified text, content_hash bytea, redirected_to text, url text, refresh_seconds integer, validation_status text, rejection_reason text, fetched boolean, unchanged boolean, target boolean, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, items_seen integer, items_duplicate integer, items_rejected integer, channel_id integer, channel_error text, channel_new integer, channel_format text, channel_hub text, last_item_at timestamp with time zone, result jsonb, execution_id bigint);
CREATE TYPE settle_request AS (ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer, execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint);
CREATE TYPE submit_item AS (ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, parent_hash bytea, execution_id bigint, due_at timestamp with time zone, modified_at timestamp with time zone, own boolean);

-- functions
CREATE OR REPLACE FUNCTION public.frontier_due_buckets(p_pool text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(bucket smallint, level smallint)
 LANGUAGE sql
 STABLE
AS $function$
  SELECT b.bucket, l.level
    FROM (SELECT generate_series(0, 255)::smallint AS bucket) b
   CROSS JOIN LATERAL (
     SELECT l.level FROM (SELECT generate_series(12, 1, -1)::smallint AS level) l
      WHERE EXISTS (SELECT FROM domain_slots s WHERE s.bucket = b.bucket AND s.pool = p_pool AND s.top = l.level
                       AND s.next_at <= now() + p_skew)
      LIMIT 1) l
   ORDER BY l.level DESC, random()
$function$
;
CREATE OR REPLACE FUNCTION public.frontier_lease(p_owner text, p_pool text, p_slots integer, p_lease_ms integer, p_default_delay_ms integer, p_max_batch integer, p_marks timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_skew interval DEFAULT '00:00:00'::interval, p_bucket smallint DEFAULT NULL::smallint)
 RETURNS TABLE(bucket smallint, domain_key bigint, epoch bigint, delay_ms integer, penalty_ms integer, good_run smallint, due_since timestamp with time zone, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer, level smallint, priority smallint, depth smallint, hops smallint, tries smallint, fetch_count integer, etag text, last_modified text, content_hash bytea, due_at timestamp with time zone, execution_id bigint, refresh_seconds integer, marks timestamp with time zone[])
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_next_due(p_pool text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  SELECT min(d.next_at)
    FROM generate_series(1, 12) AS l(level)
   CROSS JOIN LATERAL (
     SELECT s.next_at FROM domain_slots s WHERE s.pool = p_pool AND s.top = l.level AND s.next_at > now()
      ORDER BY s.next_at LIMIT 1) d
$function$
;
CREATE OR REPLACE FUNCTION public.frontier_promote(p_slots integer, p_rows_per_slot integer DEFAULT 1000, p_skew interval DEFAULT '00:00:00'::interval, p_bucket smallint DEFAULT NULL::smallint)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_release(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_slot domain_slots;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF v_slot.lease_owner IS NULL THEN
    RETURN NULL;
  END IF;
  UPDATE domain_slots s
     SET lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL, lease_epoch = s.lease_epoch + 1,
         top = (SELECT f.level FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready
                 ORDER BY f.level DESC LIMIT 1),
         wake_at = (SELECT f.due_at FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
                       AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1)
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN v_slot.lease_owner;
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_renew(p_owner text, p_buckets smallint[], p_keys bigint[], p_epochs bigint[], p_lease_ms integer, p_default_delay_ms integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(domain_key bigint)
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_set_lease_mode(p_mode text, p_actor text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF p_mode = 'bucket' THEN
    DROP INDEX IF EXISTS domain_slots_ready, domain_slots_wake;
    CREATE INDEX IF NOT EXISTS domain_slots_bucket_ready ON domain_slots (bucket, pool, top, next_at) WHERE top IS NOT NULL;
    CREATE INDEX IF NOT EXISTS domain_slots_bucket_wake ON domain_slots (bucket, wake_at) WHERE wake_at IS NOT NULL;
  ELSIF p_mode = 'single' THEN
    DROP INDEX IF EXISTS domain_slots_bucket_ready, domain_slots_bucket_wake;
    CREATE INDEX IF NOT EXISTS domain_slots_ready ON domain_slots (pool, top, next_at) WHERE top IS NOT NULL;
    CREATE INDEX IF NOT EXISTS domain_slots_wake ON domain_slots (wake_at) WHERE wake_at IS NOT NULL;
  ELSE
    RAISE EXCEPTION 'lease mode is single or bucket, not %', p_mode;
  END IF;
  INSERT INTO settings (name, value, changed_by) VALUES ('lease_mode', to_jsonb(p_mode), p_actor)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = now(), changed_by = excluded.changed_by;
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_settle(p_bucket smallint, p_domain_key bigint, p_owner text, p_epoch bigint, p_final boolean, p_items json, p_documents json, p_raw bytea[], p_requests json, p_idle_ms double precision, p_default_delay_ms integer, p_hold_ms double precision DEFAULT NULL::double precision, p_hold_reason hold_reason DEFAULT NULL::hold_reason, p_penalty_ms integer DEFAULT NULL::integer, p_good_run smallint DEFAULT NULL::smallint, p_robots_delay_ms integer DEFAULT NULL::integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(outcome text, settled integer, documents integer, versions integer, duplicates integer)
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_submit(p_items json, p_refetch_age interval DEFAULT '06:00:00'::interval, p_skew interval DEFAULT '00:00:00'::interval, p_notify boolean DEFAULT false)
 RETURNS TABLE(ord integer, answer text)
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_waking_buckets(p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(bucket smallint)
 LANGUAGE sql
 STABLE
AS $function$
  SELECT b.bucket FROM (SELECT generate_series(0, 255)::smallint AS bucket) b
   WHERE EXISTS (SELECT FROM domain_slots s WHERE s.bucket = b.bucket AND s.wake_at <= now() + p_skew)
   ORDER BY random()
$function$
;
CREATE OR REPLACE FUNCTION public.ms(p_ms double precision)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT p_ms * interval '1 millisecond' $function$
;
CREATE OR REPLACE FUNCTION public.settle_one_document(p_bucket smallint, p_domain_key bigint, d settle_document, p_raw bytea[], p_now timestamp with time zone)
 RETURNS TABLE(outcome text, duplicate_of bytea)
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.slot_delay_ms(p_robots integer, p_configured integer, p_penalty integer, p_default integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT greatest(coalesce(p_robots, 0), coalesce(p_configured, 0), p_default) + p_penalty $function$
;
CREATE OR REPLACE FUNCTION public.submit_refuse_foreign(p_items submit_item[], p_now timestamp with time zone)
 RETURNS TABLE(ord integer, reason text)
 LANGUAGE plpgsql
AS $function$
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
    SELECT i.ord, i.bucket, i.domain_key, i.source_id,
           row_number() OVER (PARTITION BY i.source_id, i.domain_key ORDER BY i.ord) AS nth_url,
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
                          WHEN coalesce(known_urls, 0) + nth_url > 100 THEN 'foreign_urls' END AS reason
      FROM ranked
  ), kept AS (
    INSERT INTO foreign_hosts AS f (bucket, domain_key, source_id, day, urls, is_new)
    SELECT bucket, domain_key, source_id, v_day, count(*), bool_or(is_new) FROM judged
     WHERE reason IS NULL GROUP BY bucket, domain_key, source_id
     ORDER BY bucket, domain_key, source_id
    ON CONFLICT (bucket, domain_key, source_id, day) DO UPDATE SET urls = f.urls + excluded.urls
  )
  SELECT judged.ord, judged.reason FROM judged WHERE judged.reason IS NOT NULL;
END $function$
;

-- tables
CREATE TABLE channel_state (
  bucket smallint NOT NULL,
  channel_id integer NOT NULL,
  polls bigint DEFAULT 0 NOT NULL,
  not_modified bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_new bigint DEFAULT 0 NOT NULL,
  errors_in_row integer DEFAULT 0 NOT NULL,
  error_kind text,
  failing_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_item_at timestamp with time zone,
  format text,
  hub text
) WITH (fillfactor=70);
CREATE TABLE channels (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  source_id integer NOT NULL,
  kind text NOT NULL,
  url text NOT NULL,
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  interval_seconds integer DEFAULT 900 NOT NULL,
  found_by text DEFAULT 'manual'::text NOT NULL,
  title text,
  created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE counter_deltas (
  bucket smallint NOT NULL,
  minute timestamp with time zone NOT NULL,
  source_id integer,
  inserted integer DEFAULT 0 NOT NULL,
  items_seen integer DEFAULT 0 NOT NULL,
  items_duplicate integer DEFAULT 0 NOT NULL,
  items_rejected integer DEFAULT 0 NOT NULL,
  requests integer DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched integer DEFAULT 0 NOT NULL,
  unchanged integer DEFAULT 0 NOT NULL,
  redirected integer DEFAULT 0 NOT NULL,
  duplicate integer DEFAULT 0 NOT NULL,
  failed integer DEFAULT 0 NOT NULL,
  needs_render integer DEFAULT 0 NOT NULL,
  dead integer DEFAULT 0 NOT NULL,
  robots_blocked integer DEFAULT 0 NOT NULL,
  polled integer DEFAULT 0 NOT NULL,
  documents integer DEFAULT 0 NOT NULL,
  versions integer DEFAULT 0 NOT NULL
);
CREATE TABLE counters (
  minute timestamp with time zone NOT NULL,
  source_id integer NOT NULL,
  inserted bigint DEFAULT 0 NOT NULL,
  items_seen bigint DEFAULT 0 NOT NULL,
  items_duplicate bigint DEFAULT 0 NOT NULL,
  items_rejected bigint DEFAULT 0 NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  fetched bigint DEFAULT 0 NOT NULL,
  unchanged bigint DEFAULT 0 NOT NULL,
  redirected bigint DEFAULT 0 NOT NULL,
  duplicate bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  needs_render bigint DEFAULT 0 NOT NULL,
  dead bigint DEFAULT 0 NOT NULL,
  robots_blocked bigint DEFAULT 0 NOT NULL,
  polled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  versions bigint DEFAULT 0 NOT NULL
);
CREATE TABLE crawl_log (
  at timestamp with time zone NOT NULL,
  bucket smallint NOT NULL,
  status smallint,
  domain_key bigint NOT NULL,
  epoch bigint NOT NULL,
  source_id integer,
  wait_ms integer,
  headers_ms integer,
  total_ms integer,
  bytes bigint,
  execution_id bigint,
  kind text NOT NULL,
  outcome text NOT NULL,
  url_hash bytea,
  url text NOT NULL,
  worker text NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE discoveries (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  source_id integer NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  candidates jsonb DEFAULT '[]'::jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  deadline_at timestamp with time zone DEFAULT (now() + '01:00:00'::interval) NOT NULL,
  finished_at timestamp with time zone
);
CREATE TABLE document_search (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  words tsvector NOT NULL
);
CREATE TABLE document_versions (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  content_hash bytea NOT NULL,
  title text,
  text text NOT NULL
);
CREATE TABLE documents (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer,
  version integer DEFAULT 1 NOT NULL,
  word_count integer NOT NULL,
  confidence real NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  published_at timestamp with time zone,
  modified_at timestamp with time zone,
  classified_at timestamp with time zone,
  content_hash bytea NOT NULL,
  page_type text NOT NULL,
  language text,
  classification_status text DEFAULT 'pending'::text NOT NULL,
  url text NOT NULL,
  canonical_url text,
  title text,
  section text,
  description text,
  lead_image text,
  authors text[] DEFAULT '{}'::text[] NOT NULL,
  keywords text[] DEFAULT '{}'::text[] NOT NULL,
  labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  meta jsonb DEFAULT '{}'::jsonb NOT NULL,
  text text NOT NULL
);
CREATE TABLE domain_events (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  from_status domain_status,
  to_status domain_status NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL
);
CREATE TABLE domain_slots (
  bucket smallint NOT NULL,
  top smallint,
  expired_runs smallint DEFAULT 0 NOT NULL,
  good_run smallint DEFAULT 0 NOT NULL,
  queued integer DEFAULT 0 NOT NULL,
  domain_key bigint NOT NULL,
  next_at timestamp with time zone NOT NULL,
  wake_at timestamp with time zone,
  lease_epoch bigint DEFAULT 0 NOT NULL,
  leased_at timestamp with time zone,
  lease_until timestamp with time zone,
  robots_delay_ms integer,
  configured_delay_ms integer,
  penalty_ms integer DEFAULT 0 NOT NULL,
  hold_reason hold_reason,
  pool text DEFAULT 'default'::text NOT NULL,
  lease_owner text,
  in_flight bytea[]
) WITH (fillfactor=60);
CREATE TABLE domains (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  name text NOT NULL,
  parent_domain text,
  status domain_status DEFAULT 'pending'::domain_status NOT NULL,
  status_reason text,
  status_since timestamp with time zone DEFAULT now() NOT NULL,
  host_rules jsonb DEFAULT '{}'::jsonb NOT NULL,
  entry_url text,
  first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  last_crawled_at timestamp with time zone,
  pages_known bigint DEFAULT 0 NOT NULL,
  pages_crawled bigint DEFAULT 0 NOT NULL,
  documents bigint DEFAULT 0 NOT NULL,
  errors_total bigint DEFAULT 0 NOT NULL,
  errors_consecutive integer DEFAULT 0 NOT NULL
) WITH (fillfactor=80);
CREATE TABLE foreign_hosts (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer NOT NULL,
  day date NOT NULL,
  urls integer NOT NULL,
  is_new boolean NOT NULL
);
CREATE TABLE outbox (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  attempts integer DEFAULT 0 NOT NULL
);
CREATE TABLE probe_results (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  at timestamp with time zone NOT NULL,
  result jsonb NOT NULL
);
CREATE TABLE raw_pages (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  fetched_at timestamp with time zone NOT NULL,
  encoding text NOT NULL,
  content_type text,
  body bytea NOT NULL
) PARTITION BY RANGE (fetched_at);
CREATE TABLE robots (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  origin text NOT NULL,
  outcome text NOT NULL,
  http_status smallint,
  error_code text,
  rules jsonb,
  fetched_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  last_good_at timestamp with time zone
);
CREATE TABLE settings (
  name text NOT NULL,
  value jsonb NOT NULL,
  changed_at timestamp with time zone DEFAULT now() NOT NULL,
  changed_by text NOT NULL
);
CREATE TABLE sinks (
  name text NOT NULL,
  kind text NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE sources (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  disabled_at timestamp with time zone,
  disable_reason text,
  ingestion_mode text DEFAULT 'feed'::text NOT NULL,
  feed_poll_interval_minutes integer DEFAULT 15 NOT NULL,
  priority smallint DEFAULT 5 NOT NULL,
  rate_limit_ms integer,
  settings jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE url_frontier (
  bucket smallint NOT NULL,
  level smallint NOT NULL,
  priority smallint NOT NULL,
  depth smallint DEFAULT 0 NOT NULL,
  domain_key bigint NOT NULL,
  due_at timestamp with time zone,
  discovered_at timestamp with time zone NOT NULL,
  last_fetched_at timestamp with time zone,
  kind url_kind NOT NULL,
  origin url_origin NOT NULL,
  status url_status DEFAULT 'pending'::url_status NOT NULL,
  source_id integer,
  fetch_count integer DEFAULT 0 NOT NULL,
  refresh_seconds integer,
  hops smallint DEFAULT 0 NOT NULL,
  tries smallint DEFAULT 0 NOT NULL,
  crashes smallint DEFAULT 0 NOT NULL,
  http_status smallint,
  ready boolean NOT NULL,
  execution_id bigint,
  url_hash bytea NOT NULL,
  content_hash bytea,
  duplicate_of bytea,
  url text NOT NULL,
  parent_url text,
  etag text,
  last_modified text,
  redirected_to text,
  error_code text,
  error_text text,
  validation_status text,
  rejection_reason text
);
CREATE TABLE url_sightings (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  source_id integer NOT NULL,
  parent_hash bytea NOT NULL,
  origin url_origin NOT NULL,
  parent_url text,
  seen_at timestamp with time zone NOT NULL
);
CREATE TABLE workers (
  id text NOT NULL,
  role text NOT NULL,
  pool text DEFAULT 'default'::text NOT NULL,
  version text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamp with time zone DEFAULT now() NOT NULL,
  heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
  state jsonb DEFAULT '{}'::jsonb NOT NULL
);
CREATE TABLE crawl_log_default PARTITION OF crawl_log DEFAULT;
CREATE TABLE raw_pages_default PARTITION OF raw_pages DEFAULT;

-- column storage
ALTER TABLE raw_pages ALTER COLUMN body SET STORAGE EXTERNAL;

-- constraints
ALTER TABLE channel_state ADD CONSTRAINT channel_state_pkey PRIMARY KEY (bucket, channel_id);
ALTER TABLE channels ADD CONSTRAINT channels_pkey PRIMARY KEY (id);
ALTER TABLE channels ADD CONSTRAINT channels_url_hash_key UNIQUE (url_hash);
ALTER TABLE channels ADD CONSTRAINT channels_found_by_check CHECK ((found_by = ANY (ARRAY['manual'::text, 'link'::text, 'path'::text, 'robots'::text])));
ALTER TABLE channels ADD CONSTRAINT channels_interval_seconds_check CHECK (((interval_seconds >= 30) AND (interval_seconds <= 2592000)));
ALTER TABLE channels ADD CONSTRAINT channels_kind_check CHECK ((kind = ANY (ARRAY['feed'::text, 'sitemap'::text, 'page'::text])));
ALTER TABLE counters ADD CONSTRAINT counters_pkey PRIMARY KEY (minute, source_id);
ALTER TABLE discoveries ADD CONSTRAINT discoveries_pkey PRIMARY KEY (id);
ALTER TABLE discoveries ADD CONSTRAINT discoveries_check CHECK (((state = ANY (ARRAY['found'::text, 'nothing'::text])) = (finished_at IS NOT NULL)));
ALTER TABLE discoveries ADD CONSTRAINT discoveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'page'::text, 'candidates'::text, 'found'::text, 'nothing'::text])));
ALTER TABLE document_search ADD CONSTRAINT document_search_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE document_versions ADD CONSTRAINT document_versions_pkey PRIMARY KEY (bucket, domain_key, url_hash, version);
ALTER TABLE documents ADD CONSTRAINT documents_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE documents ADD CONSTRAINT documents_classification_status_check CHECK ((classification_status = ANY (ARRAY['pending'::text, 'classified'::text, 'failed'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_page_type_check CHECK ((page_type = ANY (ARRAY['article'::text, 'stub'::text, 'listing'::text, 'other'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_version_check CHECK ((version >= 1));
ALTER TABLE domain_events ADD CONSTRAINT domain_events_pkey PRIMARY KEY (bucket, domain_key, at, id);
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check CHECK (((lease_owner IS NULL) = (lease_until IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check1 CHECK (((lease_owner IS NULL) = (in_flight IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_configured_delay_ms_check CHECK ((configured_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_penalty_ms_check CHECK ((penalty_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_queued_check CHECK ((queued >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_robots_delay_ms_check CHECK ((robots_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_top_check CHECK (((top >= 1) AND (top <= 12)));
ALTER TABLE domains ADD CONSTRAINT domains_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE foreign_hosts ADD CONSTRAINT foreign_hosts_pkey PRIMARY KEY (bucket, domain_key, source_id, day);
ALTER TABLE outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (bucket, sink, domain_key, url_hash, version);
ALTER TABLE probe_results ADD CONSTRAINT probe_results_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE raw_pages ADD CONSTRAINT raw_pages_pkey PRIMARY KEY (bucket, domain_key, url_hash, fetched_at);
ALTER TABLE robots ADD CONSTRAINT robots_pkey PRIMARY KEY (bucket, domain_key, origin);
ALTER TABLE robots ADD CONSTRAINT robots_outcome_check CHECK ((outcome = ANY (ARRAY['rules'::text, 'allow_all'::text, 'unavailable'::text])));
ALTER TABLE settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE sinks ADD CONSTRAINT sinks_pkey PRIMARY KEY (name);
ALTER TABLE sinks ADD CONSTRAINT sinks_name_check CHECK ((name ~ '^[a-z0-9_-]+$'::text));
ALTER TABLE sources ADD CONSTRAINT sources_pkey PRIMARY KEY (id);
ALTER TABLE sources ADD CONSTRAINT sources_slug_key UNIQUE (slug);
ALTER TABLE sources ADD CONSTRAINT sources_url_key UNIQUE (url);
ALTER TABLE sources ADD CONSTRAINT sources_check CHECK ((enabled = (disabled_at IS NULL)));
ALTER TABLE sources ADD CONSTRAINT sources_feed_poll_interval_minutes_check CHECK (((feed_poll_interval_minutes >= 1) AND (feed_poll_interval_minutes <= 43200)));
ALTER TABLE sources ADD CONSTRAINT sources_ingestion_mode_check CHECK ((ingestion_mode = ANY (ARRAY['feed'::text, 'spider'::text, 'both'::text])));
ALTER TABLE sources ADD CONSTRAINT sources_priority_check CHECK (((priority >= 1) AND (priority <= 10)));
ALTER TABLE sources ADD CONSTRAINT sources_rate_limit_ms_check CHECK ((rate_limit_ms >= 0));
ALTER TABLE sources ADD CONSTRAINT sources_slug_check CHECK ((slug ~ '^[a-z0-9_]+$'::text));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check CHECK (((NOT ready) OR (status = ANY (ARRAY['pending'::url_status, 'failed'::url_status, 'needs_render'::url_status]))));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check1 CHECK (((NOT ready) OR (due_at IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check2 CHECK (((status <> 'dead'::url_status) OR (error_code IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check3 CHECK (((status <> 'redirected'::url_status) OR (redirected_to IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_check4 CHECK (((status <> 'duplicate'::url_status) OR (duplicate_of IS NOT NULL)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_content_hash_check CHECK ((octet_length(content_hash) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_crashes_check CHECK ((crashes >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_depth_check CHECK ((depth >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_duplicate_of_check CHECK ((octet_length(duplicate_of) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_hops_check CHECK ((hops >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_level_check CHECK (((level >= 1) AND (level <= 12)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_priority_check CHECK (((priority >= 1) AND (priority <= 10)));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_tries_check CHECK ((tries >= 0));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_url_hash_check CHECK ((octet_length(url_hash) = 32));
ALTER TABLE url_frontier ADD CONSTRAINT url_frontier_validation_status_check CHECK ((validation_status = ANY (ARRAY['valid'::text, 'rejected'::text, 'stub'::text])));
ALTER TABLE url_sightings ADD CONSTRAINT url_sightings_pkey PRIMARY KEY (bucket, domain_key, url_hash, source_id, parent_hash);
ALTER TABLE workers ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE workers ADD CONSTRAINT workers_role_check CHECK ((role = ANY (ARRAY['serve'::text, 'fetch'::text, 'schedule'::text, 'run'::text])));

-- indexes
CREATE INDEX channels_source ON channels USING btree (source_id);
CREATE INDEX crawl_log_domain ON ONLY public.crawl_log USING btree (bucket, domain_key, at);
CREATE INDEX discoveries_open ON discoveries USING btree (id) WHERE (finished_at IS NULL);
CREATE INDEX document_search_words ON document_search USING gin (words);
CREATE INDEX documents_recent ON documents USING btree (crawled_at);
CREATE UNIQUE INDEX documents_text ON documents USING btree (bucket, domain_key, content_hash) WHERE (page_type <> 'stub'::text);
CREATE INDEX domain_slots_ready ON domain_slots USING btree (pool, top, next_at) WHERE (top IS NOT NULL);
CREATE INDEX domain_slots_wake ON domain_slots USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX foreign_hosts_source ON foreign_hosts USING btree (source_id, day) WHERE is_new;
CREATE INDEX url_frontier_parked ON url_frontier USING btree (bucket, domain_key, due_at) WHERE ((NOT ready) AND (due_at IS NOT NULL));
CREATE INDEX url_frontier_pick ON url_frontier USING btree (bucket, domain_key, level DESC, due_at) WHERE ready;
CREATE INDEX url_frontier_source ON url_frontier USING btree (source_id, discovered_at);

-- foreign keys
ALTER TABLE channels ADD CONSTRAINT channels_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;
ALTER TABLE discoveries ADD CONSTRAINT discoveries_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;

-- functions over tables
CREATE OR REPLACE FUNCTION public.submit_action(f url_frontier, i submit_item, p_now timestamp with time zone, p_refetch_age interval)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
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
$function$
;
