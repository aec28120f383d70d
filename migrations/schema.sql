-- The schema after all migrations, written by src/db/schema.test.ts. Do not edit.

-- types
CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');
CREATE TYPE hold_reason AS ENUM ('politeness', 'retry_after', 'circuit', 'cooldown', 'robots', 'operator');
CREATE TYPE url_kind AS ENUM ('article', 'listing', 'channel', 'image', 'probe');
CREATE TYPE url_origin AS ENUM ('feed', 'sitemap', 'push', 'spider', 'archive', 'refresh', 'redirect', 'manual');
CREATE TYPE url_status AS ENUM ('pending', 'fetched', 'redirected', 'duplicate', 'failed', 'needs_render', 'dead');
CREATE TYPE backfill_item AS (bucket smallint, domain_key bigint, domain text, parent_domain text, first_seen_at timestamp with time zone, last_crawled_at timestamp with time zone, pages_known bigint, pages_crawled bigint, documents bigint, errors_total bigint, block_reason text, rest_ms double precision);
CREATE TYPE seed_item AS (ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, rank integer);
CREATE TYPE settle_document AS (url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamp with time zone, modified_at timestamp with time zone, content_hash bytea, page_type text, language text, canonical_url text, title text, section text, description text, lead_image text, authors text[], keywords text[], meta jsonb, text text, raw_index integer, raw_encoding text, raw_type text);
CREATE TYPE settle_domain AS (hold_ms double precision, hold_reason hold_reason, penalty_ms integer, good_run smallint, robots_delay_ms integer, source_delay_ms integer, ladder jsonb, trial_passed boolean, move_to domain_status, move_reason text, rest_ms double precision[]);
CREATE TYPE settle_item AS (url_hash bytea, status url_status, due_in_ms double precision, tries smallint, http_status smallint, error_code text, error_text text, etag text, last_modified text, content_hash bytea, redirected_to text, url text, refresh_seconds integer, validation_status text, rejection_reason text, fetched boolean, unchanged boolean, target boolean, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, items_seen integer, items_duplicate integer, items_rejected integer, channel_id integer, channel_error text, channel_new integer, channel_format text, channel_hub text, last_item_at timestamp with time zone, result jsonb, execution_id bigint);
CREATE TYPE settle_request AS (ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer, execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint);
CREATE TYPE submit_item AS (ord integer, bucket smallint, domain_key bigint, domain text, parent_domain text, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint, parent_url text, parent_hash bytea, execution_id bigint, due_at timestamp with time zone, modified_at timestamp with time zone, own boolean);

-- functions
CREATE OR REPLACE FUNCTION public.budget_set(p_budget integer, p_actor text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_old integer;
BEGIN
  SELECT (value #>> '{}')::integer INTO v_old FROM settings WHERE name = 'max_pages_per_run' FOR UPDATE;
  IF v_old = p_budget THEN
    RETURN;
  END IF;
  PERFORM setting_set('max_pages_per_run', to_jsonb(p_budget), p_actor);
  UPDATE domain_slots SET budget_left = budget_left + p_budget - v_old, wake_at = now()
   WHERE budget_left IS NOT NULL AND budget_max IS NULL AND v_old IS NOT NULL;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_backfill(p_item json, p_actor text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  i backfill_item := json_populate_record(NULL::backfill_item, p_item);
  v_domain domains;
  v_made boolean;
  v_status domain_status;
  v_rest timestamptz;
BEGIN
  v_status := CASE WHEN i.block_reason IS NOT NULL THEN 'blocked'
    -- Channels do not count, as when a lease ends.
    WHEN EXISTS (SELECT FROM url_frontier f WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key
                    AND f.status IN ('pending', 'failed') AND f.due_at IS NOT NULL AND f.kind IN ('article', 'listing')) THEN 'active'
    ELSE 'exhausted' END;
  INSERT INTO domains (bucket, domain_key, name, parent_domain, status, status_reason, status_since, first_seen_at,
                       last_crawled_at, pages_known, pages_crawled, documents, errors_total, block_count, first_blocked_at)
  VALUES (i.bucket, i.domain_key, i.domain, i.parent_domain, v_status, i.block_reason, v_now, i.first_seen_at,
          i.last_crawled_at, i.pages_known, i.pages_crawled, i.documents, i.errors_total,
          (i.block_reason IS NOT NULL)::integer, CASE WHEN i.block_reason IS NOT NULL THEN v_now END)
  ON CONFLICT DO NOTHING;
  v_made := FOUND;
  SELECT * INTO v_domain FROM domains d WHERE d.bucket = i.bucket AND d.domain_key = i.domain_key;
  -- A domain that lost its slot while it rested goes on resting.
  v_rest := CASE WHEN v_domain.status IN ('blocked', 'unreachable') THEN v_now + ms(coalesce(i.rest_ms, 86400000)) END;
  INSERT INTO domain_slots (bucket, domain_key, next_at, hold_reason, rest_until, asleep, wake_at)
  VALUES (i.bucket, i.domain_key, CASE WHEN v_rest IS NULL THEN v_now ELSE least(v_rest, v_now + interval '1 day') END,
          CASE WHEN v_rest IS NOT NULL THEN 'cooldown'::hold_reason END, v_rest, v_domain.status <> 'active', v_now)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND AND NOT v_made THEN
    RETURN NULL;
  END IF;
  PERFORM FROM domain_slots s WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key FOR UPDATE;
  UPDATE domain_slots s SET queued = x.queued, budgeted = x.budgeted, wake_at = v_now
    FROM (SELECT count(*)::integer AS queued, count(*) FILTER (WHERE f.budgeted)::integer AS budgeted
            FROM url_frontier f WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.ready) x
   WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key AND s.lease_owner IS NULL;
  UPDATE domain_slots s SET top = slot_top(s, v_now)
   WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key AND s.lease_owner IS NULL;
  IF NOT v_made THEN
    RETURN 'slot';
  END IF;
  INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
  VALUES (i.bucket, i.domain_key, v_now, NULL, v_status, coalesce(i.block_reason, 'backfill'), p_actor);
  RETURN v_status::text;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_backfill_all(p_items json, p_actor text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(made text)
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_item json;
BEGIN
  FOR v_item IN SELECT e.item FROM json_array_elements(p_items) AS e(item)
                 ORDER BY (e.item ->> 'bucket')::smallint, (e.item ->> 'domain_key')::bigint LOOP
    made := domain_backfill(v_item, p_actor, p_skew);
    RETURN NEXT;
  END LOOP;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_block(p_bucket smallint, p_domain_key bigint, p_reason text, p_actor text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM frontier_release(p_bucket, p_domain_key, p_skew);
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT domain_move(p_bucket, p_domain_key, 'blocked', p_reason, p_actor, now() + p_skew, true) THEN
    RETURN false;
  END IF;
  UPDATE domain_slots s SET rest_until = 'infinity', next_at = 'infinity', hold_reason = 'operator', asleep = true
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_borrow(p_bucket smallint, p_domain_key bigint, p_name text, p_parent text, p_default_delay_ms integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
BEGIN
  INSERT INTO domains (bucket, domain_key, name, parent_domain, status_since, first_seen_at)
  VALUES (p_bucket, p_domain_key, p_name, p_parent, v_now, v_now) ON CONFLICT DO NOTHING;
  INSERT INTO domain_slots (bucket, domain_key, next_at) VALUES (p_bucket, p_domain_key, v_now) ON CONFLICT DO NOTHING;
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF v_slot.lease_owner IS NOT NULL OR v_slot.next_at > v_now OR v_slot.rest_until IS NOT NULL THEN
    RETURN false;
  END IF;
  UPDATE domain_slots s
     SET next_at = v_now + ms(10000 + slot_delay_ms(v_slot, p_default_delay_ms)), hold_reason = 'politeness'
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_configure(p_bucket smallint, p_domain_key bigint, p_delay_ms integer, p_budget integer, p_pool text, p_default_budget integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_slot domain_slots;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- A run under way gets or loses the difference at once; woken, promotion offers the rows again.
  v_slot.budget_left := v_slot.budget_left + coalesce(p_budget, p_default_budget) - coalesce(v_slot.budget_max, p_default_budget);
  UPDATE domain_slots s
     SET configured_delay_ms = p_delay_ms, budget_max = p_budget, budget_left = v_slot.budget_left,
         pool = coalesce(p_pool, 'default'), wake_at = now() + p_skew
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_may_move(p_from domain_status, p_to domain_status, p_by_operator boolean)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE WHEN p_by_operator THEN p_to IN ('pending', 'active', 'blocked')
         ELSE CASE p_from
           WHEN 'pending' THEN p_to IN ('active', 'blocked', 'unreachable')
           WHEN 'active' THEN p_to IN ('exhausted', 'blocked', 'unreachable')
           WHEN 'exhausted' THEN p_to IN ('active', 'blocked', 'unreachable')
           ELSE p_to = 'active' END END
$function$
;
CREATE OR REPLACE FUNCTION public.domain_move(p_bucket smallint, p_domain_key bigint, p_to domain_status, p_reason text, p_actor text, p_now timestamp with time zone, p_by_operator boolean DEFAULT false)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_from domain_status;
BEGIN
  SELECT d.status INTO v_from FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF NOT FOUND OR NOT domain_may_move(v_from, p_to, p_by_operator) THEN
    RETURN false;
  END IF;
  UPDATE domains d
     SET status = p_to, status_since = CASE WHEN d.status = p_to THEN d.status_since ELSE p_now END,
         status_reason = CASE WHEN p_to IN ('blocked', 'unreachable') THEN p_reason END,
         errors_consecutive = CASE WHEN p_to = 'active' THEN 0 ELSE d.errors_consecutive END,
         block_count = d.block_count + CASE WHEN p_to = 'blocked' THEN 1 ELSE 0 END,
         first_blocked_at = CASE WHEN p_to = 'blocked' THEN coalesce(d.first_blocked_at, p_now) ELSE d.first_blocked_at END,
         unreachable_count = d.unreachable_count + CASE WHEN p_to = 'unreachable' THEN 1 ELSE 0 END
   WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF (v_from, p_to) NOT IN (('active', 'exhausted'), ('exhausted', 'active')) THEN
    INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
    VALUES (p_bucket, p_domain_key, p_now, v_from, p_to, p_reason, p_actor);
  END IF;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_requeue(p_bucket smallint, p_domain_key bigint, p_all boolean, p_after bytea, p_limit integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(last bytea, requeued integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_hashes bytea[];
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT array_agg(x.url_hash ORDER BY x.url_hash) INTO v_hashes
    FROM (SELECT f.url_hash FROM url_frontier f
           WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash > p_after
           ORDER BY f.url_hash LIMIT p_limit) x;
  last := v_hashes[cardinality(v_hashes)];
  requeued := 0;
  IF last IS NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  WITH due AS (
    UPDATE url_frontier f
       SET status = CASE WHEN f.status = 'failed' THEN 'failed' ELSE 'pending' END::url_status, ready = true, due_at = v_now,
           tries = 0, error_code = NULL, error_text = NULL, level = CASE WHEN f.kind = 'channel' THEN f.level ELSE f.priority END,
           budgeted = f.origin IN ('spider', 'archive') AND f.kind <> 'channel'
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (v_hashes)
       AND NOT f.ready AND coalesce(f.error_code, '') <> 'removed'
       AND (f.kind IN ('listing', 'channel') AND f.status IN ('pending', 'failed', 'fetched', 'dead')
            OR p_all AND f.kind = 'article' AND f.status IN ('pending', 'failed', 'fetched', 'dead'))
    RETURNING f.budgeted)
  SELECT count(*), count(*) FILTER (WHERE d.budgeted) INTO requeued, v_slot.budgeted FROM due d;
  UPDATE domain_slots s SET queued = s.queued + requeued, budgeted = s.budgeted + v_slot.budgeted, wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN NEXT;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_rescore(p_bucket smallint, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_domain domains;
  v_score real;
  v_seen integer := 0;
BEGIN
  FOR v_slot IN SELECT * FROM domain_slots s WHERE s.bucket = p_bucket ORDER BY s.domain_key FOR UPDATE SKIP LOCKED LOOP
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = v_slot.domain_key;
    v_score := domain_score(v_domain, v_slot.queued, v_now);
    v_seen := v_seen + 1;
    IF abs(v_score - v_domain.score) >= 1 THEN
      UPDATE domains d SET score = v_score WHERE d.bucket = p_bucket AND d.domain_key = v_slot.domain_key;
    END IF;
    IF score_shift(v_score) <> v_slot.shift THEN
      v_slot.shift := score_shift(v_score);
      UPDATE domain_slots s
         SET shift = v_slot.shift,
             -- A leased slot gets its top with the settle that ends the lease.
             top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE s.top END,
             next_at = greatest(s.next_at, v_now)
       WHERE s.bucket = p_bucket AND s.domain_key = v_slot.domain_key;
    END IF;
  END LOOP;
  RETURN v_seen;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_reset(p_bucket smallint, p_domain_key bigint, p_reason text, p_actor text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_crawled boolean;
BEGIN
  PERFORM frontier_release(p_bucket, p_domain_key, p_skew);
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT d.last_crawled_at IS NOT NULL INTO v_crawled FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF v_crawled IS NULL THEN
    RETURN false;
  END IF;
  PERFORM domain_move(p_bucket, p_domain_key, CASE WHEN v_crawled THEN 'active'::domain_status ELSE 'pending' END,
                      p_reason, p_actor, v_now, true);
  UPDATE domains d SET block_count = 0, unreachable_count = 0, errors_consecutive = 0, first_blocked_at = NULL
   WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  v_slot.budget_left := NULL;
  UPDATE domain_slots s
     SET asleep = NOT v_crawled, rest_until = NULL, refusals = NULL, circuit_good = NULL, circuit_opens = NULL,
         circuit_reasons = NULL, network_failures = 0, network_since = NULL, penalty_ms = 0, good_run = 0,
         expired_runs = 0, budget_left = NULL, budget_until = NULL,
         hold_reason = CASE WHEN s.rest_until IS NULL AND s.hold_reason = 'politeness' THEN s.hold_reason END,
         -- Holds end now; only the gap after a last request outlives a reset.
         next_at = CASE WHEN s.hold_reason = 'politeness' AND s.next_at < 'infinity' THEN s.next_at ELSE v_now END,
         top = slot_top(v_slot, v_now), wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION public.domain_seed(p_items json, p_dataset text, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(ord integer, is_new boolean, needs_entry boolean)
 LANGUAGE plpgsql
AS $function$
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
  RETURN QUERY
    SELECT i.ord, i.domain_key = ANY (v_new),
           d.status = 'pending' AND NOT EXISTS (
             SELECT FROM url_frontier f WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key)
      FROM unnest(v_items) i JOIN domains d ON d.bucket = i.bucket AND d.domain_key = i.domain_key;
END $function$
;
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
CREATE OR REPLACE FUNCTION public.frontier_lease(p_owner text, p_pool text, p_slots integer, p_lease_ms integer, p_default_delay_ms integer, p_max_batch integer, p_marks timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_skew interval DEFAULT '00:00:00'::interval, p_bucket smallint DEFAULT NULL::smallint, p_budget integer DEFAULT NULL::integer)
 RETURNS TABLE(bucket smallint, domain_key bigint, epoch bigint, delay_ms integer, penalty_ms integer, good_run smallint, trial text, ladder jsonb, good_age_ms double precision, due_since timestamp with time zone, url_hash bytea, url text, kind url_kind, origin url_origin, source_id integer, level smallint, priority smallint, depth smallint, hops smallint, tries smallint, fetch_count integer, etag text, last_modified text, content_hash bytea, due_at timestamp with time zone, execution_id bigint, refresh_seconds integer, marks timestamp with time zone[])
 LANGUAGE plpgsql
AS $function$
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
           CASE WHEN s.budgeted = 0 OR s.top > 10 THEN 0 WHEN p_budget IS NULL THEN p_max_batch
                WHEN x.new_run THEN coalesce(s.budget_max, p_budget) ELSE greatest(0, s.budget_left) END AS budget,
           coalesce(s.budget_max, p_budget) AS full_budget
      FROM unnest(v_buckets, v_keys) WITH ORDINALITY AS l(b, k, ord)
      JOIN domain_slots s ON s.bucket = l.b AND s.domain_key = l.k
      CROSS JOIN LATERAL (
        SELECT slot_delay_ms(s, p_default_delay_ms) AS delay_ms, s.budget_left IS NULL OR s.budget_until <= v_now AS new_run,
               CASE WHEN s.rest_until > v_now THEN CASE WHEN s.hold_reason = 'robots' THEN 'robots' ELSE 'channel' END END AS trial
      ) x
  ), picked AS (
    SELECT s.ord, s.bucket, s.domain_key, s.lease_epoch + 1 AS epoch, s.delay_ms, s.penalty_ms, s.good_run, s.trial, s.ladder,
           s.good_age_ms, s.next_at, f.url_hash, f.url, f.kind, f.origin, f.source_id, f.level, f.priority, f.depth, f.hops,
           f.tries, f.fetch_count, f.etag, f.last_modified, f.content_hash, f.due_at, f.execution_id, f.refresh_seconds,
           f.budgeted
      FROM slot s CROSS JOIN LATERAL (
        SELECT * FROM (
          (SELECT f.* FROM url_frontier f
            WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND NOT f.budgeted AND f.level = s.top
            ORDER BY f.due_at LIMIT s.batch)
          UNION ALL
          -- The levels that the domain's score moves to this one: two of them at either end.
          (SELECT f.* FROM url_frontier f
            WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND f.budgeted
              AND f.level BETWEEN CASE WHEN s.top = 1 THEN least(1, 1 - s.shift) ELSE s.top - s.shift END
                              AND CASE WHEN s.top = 10 THEN greatest(10, 10 - s.shift) ELSE s.top - s.shift END
            ORDER BY f.level DESC, f.due_at LIMIT least(s.batch, s.budget))) u
         ORDER BY u.due_at LIMIT s.batch) f
  ), taken AS (
    SELECT p.ord, array_agg(p.url_hash) AS hashes, count(*) FILTER (WHERE p.budgeted)::integer AS budgeted,
           bool_and(p.fetch_count > 0) FILTER (WHERE p.budgeted) AS refresh
      FROM picked p GROUP BY p.ord
  ), begun AS (
    INSERT INTO domain_runs (bucket, domain_key, started_at, until_at, mode, budget)
    SELECT s.bucket, s.domain_key, v_now, v_now + interval '1 day', CASE WHEN t.refresh THEN 'refresh' ELSE 'discovery' END,
           s.full_budget
      FROM slot s JOIN taken t USING (ord) WHERE t.budgeted > 0 AND s.new_run AND p_budget IS NOT NULL
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
           budget_left = CASE WHEN coalesce(p.budgeted, 0) = 0 OR p_budget IS NULL THEN s.budget_left
                         WHEN l.new_run THEN l.full_budget - p.budgeted ELSE s.budget_left - p.budgeted END,
           budget_until = CASE WHEN p.budgeted > 0 AND l.new_run AND p_budget IS NOT NULL THEN v_now + interval '1 day'
                          ELSE s.budget_until END,
           -- Nothing to hand out at the level the slot promised: correct the promise, or it would be probed for ever.
           top = CASE WHEN p.hashes IS NOT NULL OR l.trial IS NOT NULL THEN s.top ELSE slot_top(s, v_now) END
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
CREATE OR REPLACE FUNCTION public.frontier_promote(p_slots integer, p_rows_per_slot integer DEFAULT 1000, p_skew interval DEFAULT '00:00:00'::interval, p_bucket smallint DEFAULT NULL::smallint, p_budget integer DEFAULT NULL::integer, p_refresh boolean DEFAULT true)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slots domain_slots[];
  v_slot domain_slots;
  v_room integer;
  v_readied integer;
  v_budgeted integer;
  v_refreshed integer;
  v_top smallint;
BEGIN
  -- Two statements, because each mode has its own index.
  IF p_bucket IS NULL THEN
    SELECT array_agg(x) INTO v_slots
      FROM (SELECT * FROM domain_slots WHERE wake_at <= v_now
             ORDER BY wake_at LIMIT p_slots FOR UPDATE SKIP LOCKED) x;
  ELSE
    SELECT array_agg(x) INTO v_slots
      FROM (SELECT * FROM domain_slots WHERE bucket = p_bucket AND wake_at <= v_now
             ORDER BY wake_at LIMIT p_slots FOR UPDATE SKIP LOCKED) x;
  END IF;
  IF v_slots IS NULL THEN
    RETURN 0;
  END IF;

  FOREACH v_slot IN ARRAY v_slots LOOP
    WITH readied AS (
      UPDATE url_frontier f SET ready = true
        FROM (SELECT p.url_hash FROM url_frontier p
               WHERE p.bucket = v_slot.bucket AND p.domain_key = v_slot.domain_key
                 AND NOT p.ready AND p.due_at <= v_now AND p.status <> 'fetched'
               ORDER BY p.due_at LIMIT p_rows_per_slot) p
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = p.url_hash
      RETURNING f.budgeted)
    SELECT count(*), count(*) FILTER (WHERE r.budgeted) INTO v_readied, v_budgeted FROM readied r;
    v_slot.queued := v_slot.queued + v_readied;
    v_slot.budgeted := v_slot.budgeted + v_budgeted;

    v_room := least(p_rows_per_slot, slot_refresh_room(v_slot, p_budget, v_now));
    IF p_refresh AND v_room > 0 THEN
      -- Longest overdue first; news goes before what is known, so a refresh stands two levels below its page.
      UPDATE url_frontier f
         SET ready = true, status = 'pending', budgeted = true, level = greatest(1, f.priority - 2)
        FROM (SELECT p.url_hash FROM url_frontier p
               WHERE p.bucket = v_slot.bucket AND p.domain_key = v_slot.domain_key
                 AND p.status = 'fetched' AND p.due_at <= v_now
               ORDER BY p.due_at LIMIT v_room) p
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = p.url_hash;
      GET DIAGNOSTICS v_refreshed = ROW_COUNT;
      v_slot.queued := v_slot.queued + v_refreshed;
      v_slot.budgeted := v_slot.budgeted + v_refreshed;
    END IF;

    -- A leased slot keeps offering what it offered: the settle that ends the lease reads its rows anew.
    v_top := slot_top(v_slot, v_now);
    IF v_slot.lease_owner IS NOT NULL THEN
      v_top := greatest(v_slot.top, v_top);
    END IF;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted, top = v_top,
           -- A slot that enters a level is new there: its next_at is never below now(), which the low-water mark needs.
           next_at = CASE WHEN v_top IS DISTINCT FROM s.top THEN greatest(s.next_at, v_now) ELSE s.next_at END,
           wake_at = slot_wake(v_slot, p_budget, p_refresh, v_now)
     WHERE s.bucket = v_slot.bucket AND s.domain_key = v_slot.domain_key;
  END LOOP;
  RETURN cardinality(v_slots);
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_release(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_owner text;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  v_owner := v_slot.lease_owner;
  IF v_owner IS NULL THEN
    RETURN NULL;
  END IF;
  v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, NULL);
  UPDATE domain_slots s
     SET lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL, lease_epoch = s.lease_epoch + 1,
         budget_left = v_slot.budget_left, top = slot_top(v_slot, v_now), wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN v_owner;
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
         next_at = v_now + ms(p_lease_ms + slot_delay_ms(s, p_default_delay_ms))
    FROM unnest(p_buckets, p_keys, p_epochs) AS l(b, k, e)
   WHERE s.bucket = l.b AND s.domain_key = l.k AND s.lease_owner = p_owner AND s.lease_epoch = l.e
  RETURNING s.domain_key;
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_revive(p_bucket smallint, p_domain_key bigint, p_limit integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_after bytea;
  v_last bytea;
  v_count integer;
  v_budgeted integer;
BEGIN
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT min(r.revive_after) INTO v_after FROM robots r WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key;
  IF v_after IS NULL THEN
    RETURN 0;
  END IF;
  WITH part AS (
    SELECT f.url_hash FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash > v_after
     ORDER BY f.url_hash LIMIT p_limit
  ), revived AS (
    UPDATE url_frontier f SET status = 'pending', ready = true, due_at = v_now, error_code = NULL, error_text = NULL
      FROM part p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash
       AND f.status = 'dead' AND f.error_code = 'robots_blocked'
    RETURNING f.budgeted)
  SELECT (SELECT p.url_hash FROM part p ORDER BY p.url_hash DESC LIMIT 1), (SELECT count(*) FROM revived),
         (SELECT count(*) FROM revived r WHERE r.budgeted)
    INTO v_last, v_count, v_budgeted;
  UPDATE robots r SET revive_after = v_last
   WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key AND r.revive_after IS NOT NULL;
  IF v_count > 0 THEN
    UPDATE domain_slots s SET queued = s.queued + v_count, budgeted = s.budgeted + v_budgeted, wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_count;
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
  PERFORM setting_set('lease_mode', to_jsonb(p_mode), p_actor);
END $function$
;
CREATE OR REPLACE FUNCTION public.frontier_settle(p_bucket smallint, p_domain_key bigint, p_owner text, p_epoch bigint, p_final boolean, p_items json, p_documents json, p_raw bytea[], p_requests json, p_domain json, p_idle_ms double precision, p_default_delay_ms integer, p_budget integer DEFAULT NULL::integer, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS TABLE(outcome text, settled integer, documents integer, versions integer, duplicates integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_stale boolean;
  v_requests integer := 0;
  v_bytes bigint;
  v_pages integer := 0;
  v_errors integer := 0;
  v_errors_since integer;
  v_good_at timestamptz;
  v_learnt settle_domain;
  v_document settle_document;
  v_result record;
  v_targets bytea[] := '{}';
  v_unchanged bytea[];
  v_polled boolean;
  v_probed boolean;
  v_twins bytea[] := '{}';
  v_twin_of bytea[] := '{}';
  v_new bytea[] := '{}';
  v_changed integer := 0;
  v_images integer := 0;
  v_hashes bytea[] := '{}';
  v_paid bytea[] := '{}';
  v_depth smallint;
  v_stored integer := 0;
  v_entry text;
  v_delay integer;
  v_exhausted boolean := false;
  v_domain domains;
  v_score real;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  v_stale := v_slot.lease_owner IS DISTINCT FROM p_owner OR v_slot.lease_epoch IS DISTINCT FROM p_epoch;

  IF p_requests IS NOT NULL THEN
    -- The domain counts what the log has: both are written here, so a crash cannot part them.
    WITH logged AS (
      INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, source_id, execution_id,
                             wait_ms, headers_ms, total_ms, bytes, worker, stale)
      SELECT v_now - ms(r.ago_ms), p_bucket, p_domain_key, p_epoch, r.status, r.kind, r.outcome, r.url_hash, r.url,
             r.source_id, r.execution_id, r.wait_ms, r.headers_ms, r.total_ms, r.bytes, p_owner, v_stale
        FROM json_populate_recordset(NULL::settle_request, p_requests) r
      RETURNING at, bytes, log_is_page(kind, outcome, status) AS page, log_is_error(kind, outcome, status) AS error,
                kind <> 'robots' AND outcome NOT IN ('redirect', 'outage') AS telling
    ), dated AS (
      SELECT l.*, max(l.at) FILTER (WHERE l.telling AND NOT l.error) OVER () AS good_at FROM logged l)
    SELECT count(*), coalesce(sum(d.bytes), 0), count(*) FILTER (WHERE d.page), count(*) FILTER (WHERE d.error),
           max(d.good_at), count(*) FILTER (WHERE d.error AND d.at > d.good_at)
      INTO v_requests, v_bytes, v_pages, v_errors, v_good_at, v_errors_since FROM dated d;
  END IF;
  IF v_stale THEN
    RETURN QUERY SELECT 'stale', 0, 0, 0, 0;
    RETURN;
  END IF;
  IF p_domain IS NOT NULL THEN
    v_learnt := json_populate_record(NULL::settle_domain, p_domain);
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
        RETURNING source_id, kind),
      known AS (
        UPDATE domains d SET pages_known = d.pages_known + x.pages
          FROM (SELECT count(*) AS pages FROM made WHERE kind IN ('article', 'listing')) x
         WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND x.pages > 0),
      counted AS (
        INSERT INTO counter_deltas (bucket, minute, source_id, inserted)
        SELECT p_bucket, date_trunc('minute', v_now), source_id, count(*) FROM made GROUP BY source_id)
      SELECT coalesce(array_agg(i.url_hash), '{}') INTO v_targets FROM target i;
      -- A target that waited for its turn has had it.
      SELECT v_slot.queued - count(*), v_slot.budgeted - count(*) FILTER (WHERE f.budgeted)
        INTO v_slot.queued, v_slot.budgeted
        FROM url_frontier f
       WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (v_targets) AND f.ready
         AND f.url_hash <> ALL (v_slot.in_flight);
    END IF;

    IF p_documents IS NOT NULL THEN
      FOR v_document IN SELECT * FROM json_populate_recordset(NULL::settle_document, p_documents) LOOP
        CONTINUE WHEN v_document.url_hash <> ALL (v_slot.in_flight) AND v_document.url_hash <> ALL (v_targets);
        SELECT * INTO v_result FROM settle_one_document(p_bucket, p_domain_key, v_document, p_raw, v_now);
        IF v_result.outcome = 'duplicate' THEN
          v_twins := v_twins || v_document.url_hash;
          v_twin_of := v_twin_of || v_result.duplicate_of;
        ELSIF v_result.outcome = 'new' THEN
          v_new := v_new || v_document.url_hash;
          IF jsonb_typeof(v_document.meta -> 'images') = 'array' THEN
            v_images := v_images + jsonb_array_length(v_document.meta -> 'images');
          END IF;
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
        -- A refresh stood lower; a page that is done is itself again.
        level = CASE WHEN i.status IN ('pending', 'failed') OR f.level > 10 THEN f.level ELSE f.priority END,
        -- Another address has the text: there is nothing to look at again here.
        due_at = CASE WHEN i.twin_of IS NULL THEN v_now + ms(i.due_in_ms) END,
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
      RETURNING f.url_hash, f.url, f.depth, f.budgeted, f.url_hash = ANY (v_slot.in_flight) AS held, f.status, f.kind,
                f.source_id, f.error_code, i.fetched, i.unchanged, i.items_seen, i.items_duplicate, i.items_rejected, i.channel_id, i.result IS NOT NULL AS probed
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
    SELECT coalesce(array_agg(url_hash), '{}'), coalesce(array_agg(url_hash) FILTER (WHERE budgeted AND fetched AND held), '{}'),
           array_agg(url_hash) FILTER (WHERE unchanged AND kind = 'article'), bool_or(channel_id IS NOT NULL), bool_or(probed),
           max(depth) FILTER (WHERE fetched), count(*) FILTER (WHERE kind = 'image' AND status = 'fetched'),
           min(substring(url from '^https?://[^/]+/')) FILTER (WHERE status = 'fetched' AND kind IN ('article', 'listing')),
           v_slot.queued - count(*) FILTER (WHERE held), v_slot.budgeted - count(*) FILTER (WHERE budgeted AND held),
           -- Only pages that were answered use the budget up.
           v_slot.budget_left + count(*) FILTER (WHERE budgeted AND held AND NOT fetched)
      INTO v_hashes, v_paid, v_unchanged, v_polled, v_probed, v_depth, v_stored, v_entry, v_slot.queued, v_slot.budgeted,
           v_slot.budget_left
      FROM settled;

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

  IF v_requests > 0 OR cardinality(v_new) + v_changed > 0 THEN
    INSERT INTO counter_deltas (bucket, minute, source_id, requests, bytes, documents, versions)
    VALUES (p_bucket, date_trunc('minute', v_now), NULL, v_requests, coalesce(v_bytes, 0), cardinality(v_new), v_changed);
  END IF;
  IF cardinality(v_paid) > 0 AND v_slot.budget_until IS NOT NULL THEN
    UPDATE domain_runs r
       SET pages = r.pages + cardinality(v_paid),
           documents = r.documents + (SELECT count(*) FROM unnest(v_new) h WHERE h = ANY (v_paid))
     WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key AND r.until_at = v_slot.budget_until;
  END IF;

  -- The slot as it will be.
  v_slot.penalty_ms := coalesce(v_learnt.penalty_ms, v_slot.penalty_ms);
  v_slot.good_run := coalesce(v_learnt.good_run, v_slot.good_run);
  v_slot.robots_delay_ms := coalesce(v_learnt.robots_delay_ms, v_slot.robots_delay_ms);
  v_slot.source_delay_ms := coalesce(v_learnt.source_delay_ms, v_slot.source_delay_ms);
  v_slot.last_good_at := coalesce(v_good_at, v_slot.last_good_at);
  IF v_learnt.ladder IS NOT NULL THEN
    v_slot.refusals := nullif(ARRAY(SELECT jsonb_array_elements_text(v_learnt.ladder -> 'refusals')), '{}');
    v_slot.circuit_good := (v_learnt.ladder ->> 'circuitGood')::smallint;
    v_slot.network_failures := (v_learnt.ladder ->> 'networkFailures')::smallint;
    v_slot.network_since := v_now - ms((v_learnt.ladder ->> 'networkForMs')::float8);
    SELECT array_agg(v_now - ms((o ->> 'ageMs')::float8)), array_agg(o ->> 'reason')
      INTO v_slot.circuit_opens, v_slot.circuit_reasons FROM jsonb_array_elements(v_learnt.ladder -> 'opens') o;
  END IF;
  IF cardinality(v_hashes) > 0 THEN
    v_slot.expired_runs := 0;
  END IF;
  IF p_final THEN
    v_delay := slot_delay_ms(v_slot, p_default_delay_ms);
    v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, v_hashes);
    v_slot.next_at := greatest(v_now, v_now + ms(v_delay - p_idle_ms), v_now + ms(v_learnt.hold_ms));
    v_slot.hold_reason := CASE WHEN v_learnt.hold_ms > v_delay - p_idle_ms THEN v_learnt.hold_reason ELSE 'politeness' END;
    v_slot.in_flight := NULL;
    v_slot.lease_owner := NULL;
    v_slot.lease_until := NULL;
    v_slot.leased_at := NULL;
    IF v_learnt.move_to IS NOT NULL OR v_slot.rest_until IS NOT NULL THEN
      v_slot := settle_status(v_slot, v_learnt, p_owner, v_now);
    END IF;
    v_slot.top := slot_top(v_slot, v_now);
    -- Channels do not count: a domain is exhausted when no page of it is pending, failed or in flight.
    IF NOT v_slot.asleep AND v_slot.budgeted = 0 AND (v_slot.top IS NULL OR v_slot.top > 10) THEN
      v_exhausted := NOT EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.ready
             AND NOT f.budgeted AND f.level <= 10)
        AND NOT EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key
             AND NOT f.ready AND f.due_at IS NOT NULL AND f.status <> 'fetched'
             AND f.status IN ('pending', 'failed') AND f.kind IN ('article', 'listing'));
      v_slot.asleep := v_exhausted;
    END IF;
  ELSE
    v_slot.in_flight := ARRAY(SELECT h FROM unnest(v_slot.in_flight) h WHERE h <> ALL (v_hashes));
  END IF;

  IF v_requests > 0 OR v_exhausted THEN
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
    v_domain.pages_crawled := v_domain.pages_crawled + v_pages;
    v_domain.documents := v_domain.documents + cardinality(v_new);
    v_domain.errors_total := v_domain.errors_total + v_errors;
    v_domain.last_crawled_at := CASE WHEN v_requests > 0 THEN v_now ELSE v_domain.last_crawled_at END;
    v_domain.images_stored := v_domain.images_stored + v_stored;
    v_score := CASE WHEN p_final THEN domain_score(v_domain, v_slot.queued, v_now) ELSE v_domain.score END;
    UPDATE domains d
       SET pages_crawled = v_domain.pages_crawled, documents = v_domain.documents, errors_total = v_domain.errors_total,
           errors_consecutive = CASE WHEN v_good_at IS NULL THEN d.errors_consecutive + v_errors ELSE v_errors_since END,
           unreachable_count = CASE WHEN v_good_at IS NULL THEN d.unreachable_count ELSE 0 END,
           last_crawled_at = v_domain.last_crawled_at, images_found = d.images_found + v_images,
           images_stored = v_domain.images_stored, depth_reached = greatest(d.depth_reached, v_depth),
           entry_url = coalesce(d.entry_url, v_entry), score = v_score,
           status = CASE WHEN v_exhausted THEN 'exhausted' ELSE d.status END,
           status_since = CASE WHEN v_exhausted THEN v_now ELSE d.status_since END
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
    IF p_final AND v_slot.shift <> score_shift(v_score) THEN
      v_slot.shift := score_shift(v_score);
      v_slot.top := slot_top(v_slot, v_now);
    END IF;
  END IF;

  UPDATE domain_slots s
     SET queued = v_slot.queued, budgeted = v_slot.budgeted, budget_left = v_slot.budget_left, penalty_ms = v_slot.penalty_ms,
         good_run = v_slot.good_run, robots_delay_ms = v_slot.robots_delay_ms, source_delay_ms = v_slot.source_delay_ms,
         last_good_at = v_slot.last_good_at, refusals = v_slot.refusals, circuit_good = v_slot.circuit_good,
         circuit_opens = v_slot.circuit_opens, circuit_reasons = v_slot.circuit_reasons,
         network_failures = v_slot.network_failures, network_since = v_slot.network_since,
         expired_runs = v_slot.expired_runs, in_flight = v_slot.in_flight, lease_owner = v_slot.lease_owner,
         lease_until = v_slot.lease_until, leased_at = v_slot.leased_at, next_at = v_slot.next_at,
         hold_reason = v_slot.hold_reason, top = v_slot.top, shift = v_slot.shift, asleep = v_slot.asleep,
         rest_until = v_slot.rest_until, wake_at = slot_wake(v_slot, p_budget, true, v_now)
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;

  outcome := 'settled';
  settled := cardinality(v_hashes);
  documents := cardinality(v_new);
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
           status = CASE WHEN f.status IN ('fetched', 'dead') THEN 'pending' ELSE f.status END,
           tries = CASE WHEN f.status IN ('fetched', 'dead') THEN 0 ELSE f.tries END,
           error_code = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_code END,
           error_text = CASE WHEN f.status = 'dead' THEN NULL ELSE f.error_text END,
           due_at = CASE f.status WHEN 'failed' THEN f.due_at WHEN 'pending' THEN least(f.due_at, coalesce(i.due_at, v_now))
                    ELSE v_now END,
           ready = CASE f.status WHEN 'failed' THEN f.ready
                   WHEN 'pending' THEN f.ready OR coalesce(i.due_at, v_now) <= v_now ELSE true END,
           -- What a feed or a person names too is no longer the spider's, and no budget holds it.
           budgeted = CASE WHEN f.status IN ('fetched', 'dead') THEN submit_is_budgeted(i)
                      ELSE f.budgeted AND submit_is_budgeted(i) END
      FROM unnest(v_write) i
      JOIN url_frontier o ON o.bucket = i.bucket AND o.domain_key = i.domain_key AND o.url_hash = i.url_hash
     WHERE f.bucket = i.bucket AND f.domain_key = i.domain_key AND f.url_hash = i.url_hash
       AND submit_action(f, i, v_now, p_refetch_age) IS NOT NULL
    RETURNING i.ord, f.bucket, f.domain_key, f.level, f.due_at, f.ready, o.ready AS was_ready, f.budgeted,
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
       SET top = x.top, queued = s.queued + c.readied, budgeted = s.budgeted + c.budgeted, wake_at = least(s.wake_at, c.wake),
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
CREATE OR REPLACE FUNCTION public.log_is_error(p_kind text, p_outcome text, p_status smallint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT p_kind <> 'robots' AND (coalesce(p_status, 999) >= 400 OR p_outcome NOT IN ('response', 'not_modified', 'redirect', 'unsupported_type', 'needs_javascript'))
     AND p_outcome <> 'outage'
$function$
;
CREATE OR REPLACE FUNCTION public.log_is_page(p_kind text, p_outcome text, p_status smallint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT p_kind IN ('article', 'listing') AND p_outcome IN ('response', 'not_modified', 'needs_javascript') AND p_status < 400 $function$
;
CREATE OR REPLACE FUNCTION public.ms(p_ms double precision)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT p_ms * interval '1 millisecond' $function$
;
CREATE OR REPLACE FUNCTION public.score_shift(p_score real)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT (CASE WHEN p_score >= 1000 THEN 1 WHEN p_score < 0 THEN -1 ELSE 0 END)::smallint $function$
;
CREATE OR REPLACE FUNCTION public.setting_set(p_name text, p_value jsonb, p_actor text)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO settings (name, value, changed_by) VALUES (p_name, p_value, p_actor)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = now(), changed_by = excluded.changed_by
$function$
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
CREATE OR REPLACE FUNCTION public.shifted_level(p_level integer, p_shift integer)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT CASE WHEN p_level IS NOT NULL THEN least(10, greatest(1, p_level + p_shift))::smallint END $function$
;
CREATE OR REPLACE FUNCTION public.slot_repair(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '00:00:00'::interval)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_said domain_slots;
  v_wrong text[] := '{}';
  v_parked timestamptz;
  v_pages bigint;
  v_status domain_status;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND OR v_slot.lease_owner IS NOT NULL THEN
    RETURN NULL;
  END IF;
  v_said := v_slot;
  SELECT count(*) FILTER (WHERE f.ready), count(*) FILTER (WHERE f.ready AND f.budgeted),
         min(f.due_at) FILTER (WHERE NOT f.ready AND f.status <> 'fetched'),
         count(*) FILTER (WHERE f.kind IN ('article', 'listing'))
    INTO v_slot.queued, v_slot.budgeted, v_parked, v_pages
    FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key;
  v_slot.top := slot_top(v_slot, v_now);
  SELECT d.status INTO v_status FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  v_slot.asleep := coalesce(v_status <> 'active', true);
  IF v_slot.queued <> v_said.queued THEN v_wrong := array_append(v_wrong, 'queued'); END IF;
  IF v_slot.budgeted <> v_said.budgeted THEN v_wrong := array_append(v_wrong, 'budgeted'); END IF;
  IF v_slot.top IS DISTINCT FROM v_said.top THEN v_wrong := array_append(v_wrong, 'top'); END IF;
  IF v_slot.asleep <> v_said.asleep THEN v_wrong := array_append(v_wrong, 'asleep'); END IF;
  -- Woken too early costs one look, woken too late a row.
  IF v_parked < coalesce(v_said.wake_at, 'infinity') THEN v_wrong := array_append(v_wrong, 'wake_at'); END IF;
  IF cardinality(v_wrong) > 0 THEN
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted, top = v_slot.top, asleep = v_slot.asleep,
           -- A slot that enters a level is new there, which the low-water mark needs.
           next_at = CASE WHEN v_slot.top IS DISTINCT FROM s.top THEN greatest(s.next_at, v_now) ELSE s.next_at END,
           -- Promotion knows of budgets and refreshes: woken at once, it works out the rest.
           wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  UPDATE domains d SET pages_known = v_pages
   WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.pages_known <> v_pages;
  IF FOUND THEN v_wrong := array_append(v_wrong, 'pages_known'); END IF;
  RETURN v_wrong;
END $function$
;
CREATE OR REPLACE FUNCTION public.submit_is_budgeted(i submit_item)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT (i).origin IN ('spider', 'archive') AND (i).kind IN ('article', 'listing') $function$
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
CREATE OR REPLACE FUNCTION public.switch_set(p_name text, p_on boolean, p_actor text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM setting_set('switch.' || p_name, to_jsonb(p_on), p_actor);
  INSERT INTO audit (actor, action, subject, detail) VALUES (p_actor, 'switch', p_name, jsonb_build_object('on', p_on));
  -- Budgets off: runs under way end, and promotion, woken, offers what they held. Refreshes on: domains that were not
  -- woken for them are.
  IF p_name = 'budgets' AND NOT p_on THEN
    UPDATE domain_slots SET budget_left = NULL, budget_until = NULL, wake_at = now() WHERE budget_left IS NOT NULL;
  ELSIF p_name = 'refresh' AND p_on THEN
    UPDATE domain_slots SET wake_at = now() WHERE wake_at IS NULL OR wake_at > now();
  END IF;
END $function$
;

-- tables
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT now() NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  detail jsonb DEFAULT '{}'::jsonb NOT NULL
);
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
  worker text NOT NULL,
  stale boolean DEFAULT false NOT NULL
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
CREATE TABLE document_bands (
  bucket smallint NOT NULL,
  band bigint NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL
);
CREATE TABLE document_copies (
  bucket smallint NOT NULL,
  cluster_domain_key bigint NOT NULL,
  cluster_url_hash bytea NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL
);
CREATE TABLE document_search (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  version integer NOT NULL,
  crawled_at timestamp with time zone NOT NULL,
  words tsvector NOT NULL
);
CREATE TABLE document_signatures (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  cluster_domain_key bigint,
  cluster_url_hash bytea,
  signature bytea NOT NULL
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
CREATE TABLE domain_runs (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  started_at timestamp with time zone NOT NULL,
  until_at timestamp with time zone NOT NULL,
  mode text NOT NULL,
  budget integer NOT NULL,
  pages integer DEFAULT 0 NOT NULL,
  documents integer DEFAULT 0 NOT NULL
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
  in_flight bytea[],
  asleep boolean DEFAULT true NOT NULL,
  shift smallint DEFAULT 0 NOT NULL,
  circuit_good smallint,
  network_failures smallint DEFAULT 0 NOT NULL,
  budgeted integer DEFAULT 0 NOT NULL,
  budget_left integer,
  budget_max integer,
  source_delay_ms integer,
  budget_until timestamp with time zone,
  rest_until timestamp with time zone,
  last_good_at timestamp with time zone,
  network_since timestamp with time zone,
  refusals text[],
  circuit_opens timestamp with time zone[],
  circuit_reasons text[]
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
  errors_consecutive integer DEFAULT 0 NOT NULL,
  first_blocked_at timestamp with time zone,
  block_count integer DEFAULT 0 NOT NULL,
  unreachable_count integer DEFAULT 0 NOT NULL,
  images_found bigint DEFAULT 0 NOT NULL,
  images_stored bigint DEFAULT 0 NOT NULL,
  depth_reached smallint DEFAULT 0 NOT NULL,
  score real DEFAULT 0 NOT NULL,
  seed_rank integer,
  dataset text
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
  last_good_at timestamp with time zone,
  revive_after bytea
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
  rejection_reason text,
  budgeted boolean DEFAULT false NOT NULL
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
ALTER TABLE audit ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
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
ALTER TABLE document_bands ADD CONSTRAINT document_bands_pkey PRIMARY KEY (bucket, band, first_seen_at, domain_key, url_hash);
ALTER TABLE document_copies ADD CONSTRAINT document_copies_pkey PRIMARY KEY (bucket, cluster_domain_key, cluster_url_hash, first_seen_at, domain_key, url_hash);
ALTER TABLE document_search ADD CONSTRAINT document_search_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_check CHECK (((cluster_domain_key IS NULL) = (cluster_url_hash IS NULL)));
ALTER TABLE document_signatures ADD CONSTRAINT document_signatures_signature_check CHECK ((octet_length(signature) = 256));
ALTER TABLE document_versions ADD CONSTRAINT document_versions_pkey PRIMARY KEY (bucket, domain_key, url_hash, version);
ALTER TABLE documents ADD CONSTRAINT documents_pkey PRIMARY KEY (bucket, domain_key, url_hash);
ALTER TABLE documents ADD CONSTRAINT documents_classification_status_check CHECK ((classification_status = ANY (ARRAY['pending'::text, 'classified'::text, 'failed'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_page_type_check CHECK ((page_type = ANY (ARRAY['article'::text, 'stub'::text, 'listing'::text, 'other'::text])));
ALTER TABLE documents ADD CONSTRAINT documents_version_check CHECK ((version >= 1));
ALTER TABLE domain_events ADD CONSTRAINT domain_events_pkey PRIMARY KEY (bucket, domain_key, at, id);
ALTER TABLE domain_runs ADD CONSTRAINT domain_runs_pkey PRIMARY KEY (bucket, domain_key, started_at);
ALTER TABLE domain_runs ADD CONSTRAINT domain_runs_mode_check CHECK ((mode = ANY (ARRAY['discovery'::text, 'refresh'::text])));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_budget_max_check CHECK ((budget_max >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_budgeted_check CHECK ((budgeted >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check CHECK (((lease_owner IS NULL) = (lease_until IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_check1 CHECK (((lease_owner IS NULL) = (in_flight IS NULL)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_circuit_good_check CHECK (((circuit_good >= 0) AND (circuit_good <= 1)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_configured_delay_ms_check CHECK ((configured_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_penalty_ms_check CHECK ((penalty_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_queued_check CHECK ((queued >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_robots_delay_ms_check CHECK ((robots_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_shift_check CHECK (((shift >= '-1'::integer) AND (shift <= 1)));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_source_delay_ms_check CHECK ((source_delay_ms >= 0));
ALTER TABLE domain_slots ADD CONSTRAINT domain_slots_top_check CHECK (((top >= 1) AND (top <= 12)));
ALTER TABLE domains ADD CONSTRAINT domains_pkey PRIMARY KEY (bucket, domain_key);
ALTER TABLE domains ADD CONSTRAINT domains_seed_rank_check CHECK ((seed_rank >= 1));
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
CREATE INDEX domains_status ON domains USING btree (status, name);
CREATE INDEX foreign_hosts_source ON foreign_hosts USING btree (source_id, day) WHERE is_new;
CREATE INDEX robots_revive ON robots USING btree (bucket, domain_key) WHERE (revive_after IS NOT NULL);
CREATE INDEX url_frontier_parked ON url_frontier USING btree (bucket, domain_key, due_at) WHERE ((NOT ready) AND (due_at IS NOT NULL) AND (status <> 'fetched'::url_status));
CREATE INDEX url_frontier_pick ON url_frontier USING btree (bucket, domain_key, budgeted, level DESC, due_at) WHERE ready;
CREATE INDEX url_frontier_refresh ON url_frontier USING btree (bucket, domain_key, due_at) WHERE ((status = 'fetched'::url_status) AND (due_at IS NOT NULL));
CREATE INDEX url_frontier_source ON url_frontier USING btree (source_id, discovered_at);

-- foreign keys
ALTER TABLE channels ADD CONSTRAINT channels_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;
ALTER TABLE discoveries ADD CONSTRAINT discoveries_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE;

-- functions over tables
CREATE OR REPLACE FUNCTION public.domain_score(d domains, p_remaining bigint, p_now timestamp with time zone)
 RETURNS real
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT (t.rank + t.yield + t.remaining + t.errors + t.waiting)::real FROM domain_score_terms(d, p_remaining, p_now) t
$function$
;
CREATE OR REPLACE FUNCTION public.domain_score_terms(d domains, p_remaining bigint, p_now timestamp with time zone)
 RETURNS TABLE(rank double precision, yield double precision, remaining double precision, errors double precision, waiting double precision)
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT -100 * log(least(1000000, greatest(1, coalesce((d).seed_rank, 1000000)))),
         -- A domain whose images are stored is an image source.
         CASE WHEN (d).images_stored > 0
              THEN 2000 * least((d).images_stored::float8 / greatest((d).pages_crawled, 1), 5) / 5
              ELSE 1000 * least((d).documents::float8 / greatest((d).pages_crawled, 1), 1) END,
         2 * least(p_remaining, 500),
         -500 * (d).errors_total::float8 / greatest((d).errors_total + (d).pages_crawled, 1),
         5 * least(greatest(extract(epoch FROM p_now - coalesce((d).last_crawled_at, (d).first_seen_at)) / 86400, 0), 60)
$function$
;
CREATE OR REPLACE FUNCTION public.lease_expire(v_slot domain_slots, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_row record;
BEGIN
  v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, NULL);
  IF v_slot.leased_at > pg_postmaster_start_time() THEN
    v_slot.expired_runs := least(v_slot.expired_runs + 1, 100);
    IF cardinality(v_slot.in_flight) = 1 THEN
      UPDATE url_frontier f
         SET crashes = CASE WHEN f.kind = 'channel' AND f.crashes >= 2 THEN 0 ELSE f.crashes + 1 END,
             -- A channel is never given up: it rests a day, as after a parse error.
             status = CASE WHEN f.crashes >= 2 AND f.kind <> 'channel' THEN 'dead' ELSE f.status END,
             ready = f.crashes < 2,
             due_at = CASE WHEN f.crashes < 2 THEN f.due_at WHEN f.kind = 'channel' THEN p_now + interval '1 day' END,
             error_code = CASE WHEN f.crashes >= 2 THEN 'crash_loop' ELSE f.error_code END,
             error_text = CASE WHEN f.crashes >= 2 THEN 'the worker died three times while it held only this URL' ELSE f.error_text END
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = v_slot.in_flight[1] AND f.ready
      RETURNING f.ready, f.budgeted INTO v_row;
      IF FOUND AND NOT v_row.ready THEN
        -- Not counted anew: that would read a domain of a million URLs while its slot is locked.
        v_slot.queued := v_slot.queued - 1;
        v_slot.budgeted := v_slot.budgeted - v_row.budgeted::integer;
      END IF;
    END IF;
  END IF;
  UPDATE domain_slots s
     SET lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL, expired_runs = v_slot.expired_runs,
         queued = v_slot.queued, budgeted = v_slot.budgeted, budget_left = v_slot.budget_left, top = slot_top(v_slot, p_now),
         -- Promotion works out what wakes it: it knows of budgets and refreshes.
         wake_at = p_now
   WHERE s.bucket = v_slot.bucket AND s.domain_key = v_slot.domain_key;
END $function$
;
CREATE OR REPLACE FUNCTION public.lease_wake(v_slot domain_slots, p_owner text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE OR REPLACE FUNCTION public.settle_status(v_slot domain_slots, p_learnt settle_domain, p_actor text, p_now timestamp with time zone)
 RETURNS domain_slots
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_domain domains;
BEGIN
  IF p_learnt.move_to IS NOT NULL
     AND domain_move(v_slot.bucket, v_slot.domain_key, p_learnt.move_to, p_learnt.move_reason, p_actor, p_now) THEN
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = v_slot.bucket AND d.domain_key = v_slot.domain_key;
    v_slot.rest_until := CASE
      -- The third block is for good, until somebody resets the domain.
      WHEN p_learnt.move_to = 'blocked' AND v_domain.block_count >= 3 THEN 'infinity'
      ELSE p_now + ms(p_learnt.rest_ms[least(cardinality(p_learnt.rest_ms), CASE p_learnt.move_to
        WHEN 'blocked' THEN v_domain.block_count ELSE v_domain.unreachable_count END)]) END;
    v_slot.next_at := CASE WHEN v_slot.rest_until = 'infinity' THEN 'infinity'::timestamptz
                      ELSE least(v_slot.rest_until, p_now + interval '1 day') END;
    v_slot.hold_reason := CASE WHEN p_learnt.move_reason = 'robots_denied' THEN 'robots' ELSE 'cooldown' END;
    v_slot.asleep := true;
  ELSIF v_slot.rest_until > p_now AND p_learnt.trial_passed THEN
    PERFORM domain_move(v_slot.bucket, v_slot.domain_key, 'active', 'trial succeeded', p_actor, p_now);
    v_slot.rest_until := NULL;
    v_slot.asleep := false;
  ELSIF v_slot.rest_until > p_now THEN
    v_slot.next_at := least(v_slot.rest_until, p_now + interval '1 day');
    v_slot.hold_reason := CASE WHEN EXISTS (
      SELECT FROM domains d WHERE d.bucket = v_slot.bucket AND d.domain_key = v_slot.domain_key
         AND d.status_reason = 'robots_denied') THEN 'robots' ELSE 'cooldown' END;
  END IF;
  RETURN v_slot;
END $function$
;
CREATE OR REPLACE FUNCTION public.slot_budget_open(s domain_slots, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT (s).budget_left IS NULL OR (s).budget_left > 0 OR (s).budget_until <= p_now $function$
;
CREATE OR REPLACE FUNCTION public.slot_delay_ms(s domain_slots, p_default integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT greatest(coalesce((s).robots_delay_ms, 0), coalesce((s).configured_delay_ms, 0), coalesce((s).source_delay_ms, 0),
                  p_default) + (s).penalty_ms
$function$
;
CREATE OR REPLACE FUNCTION public.slot_ladder(s domain_slots, p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE WHEN (s).refusals IS NULL AND (s).circuit_good IS NULL AND (s).circuit_opens IS NULL AND (s).network_failures = 0
         THEN NULL
         ELSE jsonb_build_object('refusals', coalesce(to_jsonb((s).refusals), '[]'), 'circuitGood', (s).circuit_good,
           'opens', coalesce((SELECT jsonb_agg(jsonb_build_object('ageMs', extract(epoch FROM p_now - o.at) * 1000, 'reason', o.reason))
                                FROM unnest((s).circuit_opens, (s).circuit_reasons) AS o(at, reason)), '[]'),
           'networkFailures', (s).network_failures,
           'networkForMs', extract(epoch FROM p_now - (s).network_since) * 1000) END
$function$
;
CREATE OR REPLACE FUNCTION public.slot_refresh_room(s domain_slots, p_budget integer, p_now timestamp with time zone)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT CASE WHEN p_budget IS NULL THEN 1000
         ELSE CASE WHEN (s).budget_left IS NULL OR (s).budget_until <= p_now THEN coalesce((s).budget_max, p_budget)
              ELSE (s).budget_left END END - (s).budgeted
$function$
;
CREATE OR REPLACE FUNCTION public.slot_reserved(s domain_slots, p_except bytea[])
 RETURNS integer
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  IF s.budget_left IS NULL OR s.in_flight IS NULL THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*)::integer FROM unnest(s.in_flight) h(hash)
            JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.url_hash = h.hash
           WHERE f.budgeted AND (p_except IS NULL OR h.hash <> ALL (p_except)));
END $function$
;
CREATE OR REPLACE FUNCTION public.slot_top(s domain_slots, p_now timestamp with time zone)
 RETURNS smallint
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  v_free smallint;
  v_budgeted smallint;
BEGIN
  SELECT f.level INTO v_free FROM url_frontier f
   WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND NOT f.budgeted
   ORDER BY f.level DESC LIMIT 1;
  IF s.budgeted > 0 AND slot_budget_open(s, p_now) THEN
    SELECT shifted_level(f.level, s.shift) INTO v_budgeted FROM url_frontier f
     WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND f.budgeted
     ORDER BY f.level DESC LIMIT 1;
  END IF;
  RETURN greatest(v_free, v_budgeted);
END $function$
;
CREATE OR REPLACE FUNCTION public.slot_wake(s domain_slots, p_budget integer, p_refresh boolean, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  v_parked timestamptz;
  v_refresh timestamptz;
BEGIN
  SELECT f.due_at INTO v_parked FROM url_frontier f
   WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
     AND NOT f.ready AND f.due_at IS NOT NULL AND f.status <> 'fetched'
   ORDER BY f.due_at LIMIT 1;
  IF p_refresh AND slot_refresh_room(s, p_budget, p_now) > 0 THEN
    SELECT f.due_at INTO v_refresh FROM url_frontier f
     WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.status = 'fetched' AND f.due_at IS NOT NULL
     ORDER BY f.due_at LIMIT 1;
  END IF;
  RETURN least(v_parked, v_refresh, CASE WHEN s.budget_left <= 0 AND s.budget_until > p_now THEN s.budget_until END);
END $function$
;
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
