-- Readies parked rows that are due, and known pages due for a refresh as far as the domain's budget goes (p_budget NULL:
-- budgets are off). Returns how many slots it woke; a full batch means: call again.
CREATE FUNCTION frontier_promote(
  p_slots integer, p_rows_per_slot integer DEFAULT 1000, p_skew interval DEFAULT '0', p_bucket smallint DEFAULT NULL,
  p_budget integer DEFAULT NULL, p_refresh boolean DEFAULT true)
RETURNS integer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slots domain_slots[];
  v_slot domain_slots;
  v_room integer;
  v_readied integer;
  v_budgeted integer;
  v_refreshed integer;
  v_sources integer[];
  v_top smallint;
  v_refresh boolean;
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
  -- Who knows the switches of two seconds ago would put back to sleep what turning refreshes on has just woken. Read
  -- after the slots: what woke them is seen with what it woke them for.
  v_refresh := p_refresh OR EXISTS (SELECT FROM settings t WHERE t.name = 'switch.refresh' AND t.value = 'true');

  FOREACH v_slot IN ARRAY v_slots LOOP
    -- A duplicate has its second look, which is a refresh like those below.
    WITH readied AS (
      UPDATE url_frontier f
         SET ready = true, status = CASE WHEN f.status = 'duplicate' THEN 'pending' ELSE f.status END,
             budgeted = f.budgeted OR f.status = 'duplicate',
             level = CASE WHEN f.status = 'duplicate' THEN greatest(1, f.priority - 2) ELSE f.level END
        FROM (SELECT p.url_hash, p.status FROM url_frontier p
               WHERE p.bucket = v_slot.bucket AND p.domain_key = v_slot.domain_key
                 AND NOT p.ready AND p.due_at <= v_now AND p.status <> 'fetched'
                 AND (v_refresh OR p.status <> 'duplicate')
               ORDER BY p.due_at LIMIT p_rows_per_slot) p
       WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = p.url_hash
      RETURNING f.budgeted, f.source_id, p.status AS was)
    SELECT count(*), count(*) FILTER (WHERE r.budgeted), array_agg(r.source_id) FILTER (WHERE r.was = 'duplicate')
      INTO v_readied, v_budgeted, v_sources FROM readied r;
    IF v_sources IS NOT NULL THEN
      PERFORM frontier_count_moves(v_slot.bucket, v_now, v_sources,
                                   array_fill('duplicate'::url_status, ARRAY[cardinality(v_sources)]), 'pending');
    END IF;
    v_slot.queued := v_slot.queued + v_readied;
    v_slot.budgeted := v_slot.budgeted + v_budgeted;

    v_room := least(p_rows_per_slot, slot_refresh_room(v_slot, p_budget, v_now));
    IF v_refresh AND v_room > 0 THEN
      -- Longest overdue first; news goes before what is known, so a refresh stands two levels below its page.
      WITH refreshed AS (
        UPDATE url_frontier f
           SET ready = true, status = 'pending', budgeted = true, level = greatest(1, f.priority - 2)
          FROM (SELECT p.url_hash FROM url_frontier p
                 WHERE p.bucket = v_slot.bucket AND p.domain_key = v_slot.domain_key
                   AND p.status = 'fetched' AND p.due_at <= v_now
                 ORDER BY p.due_at LIMIT v_room) p
         WHERE f.bucket = v_slot.bucket AND f.domain_key = v_slot.domain_key AND f.url_hash = p.url_hash
        RETURNING f.source_id, f.kind)
      SELECT count(*), array_agg(r.source_id) FILTER (WHERE r.kind NOT IN ('channel', 'probe')) INTO v_refreshed, v_sources
        FROM refreshed r;
      IF v_sources IS NOT NULL THEN
        PERFORM frontier_count_moves(v_slot.bucket, v_now, v_sources,
                                     array_fill('fetched'::url_status, ARRAY[cardinality(v_sources)]), 'pending');
      END IF;
      v_slot.queued := v_slot.queued + v_refreshed;
      v_slot.budgeted := v_slot.budgeted + v_refreshed;
    END IF;

    -- A leased slot keeps offering what it offered: the settle that ends the lease reads its rows anew.
    IF v_slot.lease_owner IS NOT NULL THEN
      v_top := greatest(v_slot.top, slot_top(v_slot, v_now));
    ELSIF v_slot.awaits_render OR v_slot.pool <> v_slot.own_pool THEN
      v_slot := slot_turn(v_slot, false, v_now);
      v_top := v_slot.top;
    ELSE
      v_top := slot_top(v_slot, v_now);
    END IF;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted, top = v_top,
           pool = v_slot.pool, awaits_render = v_slot.awaits_render, render_until = v_slot.render_until,
           -- A slot that enters a level is new there: its next_at is never below now(), which the low-water mark needs.
           next_at = CASE WHEN v_top IS DISTINCT FROM s.top OR v_slot.pool <> s.pool THEN greatest(s.next_at, v_now) ELSE s.next_at END,
           wake_at = slot_wake(v_slot, p_budget, v_refresh, v_now)
     WHERE s.bucket = v_slot.bucket AND s.domain_key = v_slot.domain_key;
  END LOOP;
  RETURN cardinality(v_slots);
END $$;
