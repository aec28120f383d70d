-- Backfill and repair: what slots and domains say of their rows is made true again, one domain at a time, under its lock.

-- Makes a slot say what its rows say, and counts the pages its domain knows. A leased slot is left alone: the settle
-- that ends the lease reads its rows anew. Answers what was wrong; NULL when the slot is leased or missing. Counting
-- reads all rows of the domain, which is why callers look without a lock first.
CREATE FUNCTION slot_repair(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '0')
RETURNS text[] LANGUAGE plpgsql AS $$
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
         min(f.due_at) FILTER (WHERE NOT f.ready AND f.status NOT IN ('fetched', 'duplicate')),
         count(*) FILTER (WHERE f.kind IN ('article', 'listing'))
    INTO v_slot.queued, v_slot.budgeted, v_parked, v_pages
    FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key;
  v_slot.top := slot_top(v_slot, v_now);
  v_slot.awaits_render := slot_render_top(v_slot) IS NOT NULL;
  SELECT d.status INTO v_status FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  v_slot.asleep := coalesce(v_status <> 'active', true);
  IF v_slot.queued <> v_said.queued THEN v_wrong := array_append(v_wrong, 'queued'); END IF;
  IF v_slot.budgeted <> v_said.budgeted THEN v_wrong := array_append(v_wrong, 'budgeted'); END IF;
  IF v_slot.top IS DISTINCT FROM v_said.top THEN v_wrong := array_append(v_wrong, 'top'); END IF;
  IF v_slot.awaits_render <> v_said.awaits_render THEN v_wrong := array_append(v_wrong, 'awaits_render'); END IF;
  IF v_slot.asleep <> v_said.asleep THEN v_wrong := array_append(v_wrong, 'asleep'); END IF;
  -- Woken too early costs one look, woken too late a row.
  IF v_parked < coalesce(v_said.wake_at, 'infinity') THEN v_wrong := array_append(v_wrong, 'wake_at'); END IF;
  IF cardinality(v_wrong) > 0 THEN
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted, top = v_slot.top, asleep = v_slot.asleep,
           awaits_render = v_slot.awaits_render,
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
END $$;

CREATE TYPE backfill_item AS (
  bucket smallint, domain_key bigint, domain text, parent_domain text, first_seen_at timestamptz,
  last_crawled_at timestamptz, pages_known bigint, pages_crawled bigint, documents bigint, errors_total bigint,
  block_reason text,          -- NULL: it was not refused
  rest_ms double precision
);

-- Makes a domain and its slot from what older rows and logs say. A live one is never changed. Answers the status it
-- entered with, 'slot' when only the slot was missing, or NULL when there was nothing to do.
CREATE FUNCTION domain_backfill(p_item json, p_actor text, p_skew interval DEFAULT '0') RETURNS text LANGUAGE plpgsql AS $$
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
  UPDATE domain_slots s SET top = slot_top(s, v_now), awaits_render = slot_render_top(s) IS NOT NULL
   WHERE s.bucket = i.bucket AND s.domain_key = i.domain_key AND s.lease_owner IS NULL;
  IF NOT v_made THEN
    RETURN 'slot';
  END IF;
  INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
  VALUES (i.bucket, i.domain_key, v_now, NULL, v_status, coalesce(i.block_reason, 'backfill'), p_actor);
  RETURN v_status::text;
END $$;

-- Several at once, in key order as everything that locks slots: a round trip and a commit for each were most of the time.
CREATE FUNCTION domain_backfill_all(p_items json, p_actor text, p_skew interval DEFAULT '0')
RETURNS TABLE (made text) LANGUAGE plpgsql AS $$
DECLARE
  v_item json;
BEGIN
  FOR v_item IN SELECT e.item FROM json_array_elements(p_items) AS e(item)
                 ORDER BY (e.item ->> 'bucket')::smallint, (e.item ->> 'domain_key')::bigint LOOP
    made := domain_backfill(v_item, p_actor, p_skew);
    RETURN NEXT;
  END LOOP;
END $$;
