-- What operators do with URLs: fetch again, remove, set the priority.

-- Acts on rows of one domain under its slot's lock and answers for each what became of it; rows that are not there are
-- not answered. Nobody's lease is broken. A row in flight that is removed leaves the lease's list, so that what its worker
-- settles of it later changes nothing; one that is to be fetched again is being fetched already; a new priority counts
-- from the next lease on.
CREATE FUNCTION frontier_act(
  p_bucket smallint, p_domain_key bigint, p_hashes bytea[], p_action text, p_priority smallint, p_actor text,
  p_skew interval DEFAULT '0')
RETURNS TABLE (url_hash bytea, outcome text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_acts bytea[];
  v_ready integer;
  v_budgeted integer;
  v_refund integer;
  v_sources integer[];
  v_from url_status[];
  v_top smallint;
  v_held boolean;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  v_held := NOT slot_budget_open(v_slot, v_now);
  RETURN QUERY
    SELECT f.url_hash, CASE
        WHEN f.kind = 'probe' THEN 'refused:probe'
        WHEN p_action = 'set_priority' THEN CASE WHEN f.kind = 'channel' THEN 'refused:channel'
          WHEN f.priority = p_priority THEN 'unchanged' ELSE 'changed' END
        -- A channel is removed as a channel, or its row would be submitted again.
        WHEN p_action = 'remove' THEN CASE WHEN f.kind = 'channel' THEN 'refused:channel'
          WHEN f.error_code = 'removed' THEN 'unchanged' ELSE 'removed' END
        WHEN f.url_hash = ANY (v_slot.in_flight) THEN 'refused:in_flight'
        WHEN f.error_code IN ('moved', 'channel_removed') THEN 'refused:channel_gone'
        WHEN f.error_code = 'source_deleted' THEN 'refused:source_gone'
        -- Its source is disabled: enabling that gives its time back.
        WHEN f.due_at > v_now + interval '500 years' THEN 'refused:held'
        -- What waits for a budget is freed of it.
        WHEN f.ready AND NOT (f.budgeted AND v_held) THEN 'unchanged'
        ELSE 'retried' END
      FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (p_hashes);

  WITH chosen AS (
    SELECT f.url_hash, f.status AS was, f.ready AS was_ready, f.budgeted AS was_budgeted,
           coalesce(f.url_hash = ANY (v_slot.in_flight), false) AS flying
      FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (p_hashes) AND f.kind <> 'probe'
       AND CASE p_action
           WHEN 'set_priority' THEN f.kind <> 'channel' AND f.priority <> p_priority
           WHEN 'remove' THEN f.kind <> 'channel' AND coalesce(f.error_code, '') <> 'removed'
           WHEN 'retry' THEN (NOT f.ready OR f.budgeted AND v_held) AND coalesce(f.url_hash <> ALL (v_slot.in_flight), true)
             AND coalesce(f.error_code, '') NOT IN ('moved', 'channel_removed', 'source_deleted')
             AND coalesce(f.due_at, v_now) <= v_now + interval '500 years' END
  ), acted AS (
    UPDATE url_frontier f
       SET status = CASE p_action WHEN 'retry' THEN 'pending' WHEN 'remove' THEN 'dead' ELSE f.status END,
           ready = CASE p_action WHEN 'retry' THEN true WHEN 'remove' THEN false ELSE f.ready END,
           due_at = CASE p_action WHEN 'retry' THEN v_now WHEN 'remove' THEN NULL ELSE f.due_at END,
           error_code = CASE p_action WHEN 'retry' THEN NULL WHEN 'remove' THEN 'removed' ELSE f.error_code END,
           error_text = CASE p_action WHEN 'retry' THEN NULL WHEN 'remove' THEN 'by ' || p_actor ELSE f.error_text END,
           tries = CASE p_action WHEN 'retry' THEN 0 ELSE f.tries END,
           crashes = CASE p_action WHEN 'retry' THEN 0 ELSE f.crashes END,
           -- A person asks: no budget holds it.
           budgeted = CASE p_action WHEN 'retry' THEN false ELSE f.budgeted END,
           priority = CASE p_action WHEN 'set_priority' THEN p_priority ELSE f.priority END,
           level = CASE WHEN f.kind = 'channel' THEN f.level
                        WHEN p_action = 'retry' THEN f.priority
                        WHEN p_action <> 'set_priority' THEN f.level
                        -- A refresh stands two levels below its page, as promotion put it.
                        WHEN f.status = 'pending' AND f.budgeted AND f.fetch_count > 0 THEN greatest(1, p_priority - 2)
                        ELSE p_priority END
      FROM chosen r
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = r.url_hash
    RETURNING f.url_hash, f.source_id, f.kind, f.ready, f.budgeted, r.was, r.was_ready, r.was_budgeted, r.flying)
  SELECT array_agg(a.url_hash), coalesce(sum(a.ready::integer - a.was_ready::integer), 0),
         coalesce(sum((a.ready AND a.budgeted)::integer - (a.was_ready AND a.was_budgeted)::integer), 0),
         count(*) FILTER (WHERE a.flying AND a.was_budgeted AND p_action = 'remove'),
         array_agg(a.source_id) FILTER (WHERE a.kind <> 'channel'), array_agg(a.was) FILTER (WHERE a.kind <> 'channel')
    INTO v_acts, v_ready, v_budgeted, v_refund, v_sources, v_from FROM acted a;
  IF v_acts IS NULL THEN
    RETURN;
  END IF;
  IF p_action <> 'set_priority' AND v_sources IS NOT NULL THEN
    PERFORM frontier_count_moves(p_bucket, v_now, v_sources, v_from,
                                 CASE p_action WHEN 'retry' THEN 'pending' ELSE 'dead' END::url_status, p_action = 'remove');
  END IF;
  v_slot.queued := v_slot.queued + v_ready;
  v_slot.budgeted := v_slot.budgeted + v_budgeted;
  IF p_action = 'remove' AND v_slot.in_flight IS NOT NULL THEN
    v_slot.in_flight := ARRAY(SELECT h FROM unnest(v_slot.in_flight) h WHERE h <> ALL (v_acts));
    -- What was reserved for it is given back here, since no settle will.
    v_slot.budget_left := v_slot.budget_left + v_refund;
  END IF;
  -- A leased slot keeps what it offered: the settle that ends the lease reads its rows anew.
  v_top := CASE WHEN v_slot.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE v_slot.top END;
  UPDATE domain_slots s
     SET queued = v_slot.queued, budgeted = v_slot.budgeted, budget_left = v_slot.budget_left, in_flight = v_slot.in_flight,
         top = v_top,
         -- A slot that enters a level is new there: its next_at is never below now(), which the low-water mark needs.
         next_at = CASE WHEN v_top IS DISTINCT FROM s.top THEN greatest(s.next_at, v_now) ELSE s.next_at END,
         -- Promotion, woken at once, works out what wakes it next.
         wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
END $$;
