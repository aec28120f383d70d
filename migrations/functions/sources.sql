-- Rows of a source that is disabled, followed by links only, or deleted. A held row keeps its due time a thousand years
-- later: it is neither ready nor promoted, and freeing it gives the time back. No flag, no second index.

CREATE FUNCTION held_span() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT interval '1000 years' $$;

-- Holds, frees or ends up to p_limit rows of a source in one domain; a full portion means: call again. Rows in flight are
-- left to their worker and found by the next sweep. p_spidered: a source that is followed by links only has polls held
-- and everything else freed, where the channels of archive discovery count as everything else.
CREATE FUNCTION source_hold(
  p_source_id integer, p_bucket smallint, p_domain_key bigint, p_what text, p_kinds url_kind[], p_limit integer,
  p_skew interval DEFAULT '0', p_spidered boolean DEFAULT false)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_far timestamptz := v_now + interval '500 years';
  v_slot domain_slots;
  v_moved integer;
  v_ready integer;
  v_budgeted integer;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  WITH part AS (
    SELECT f.url_hash, f.ready, f.budgeted, f.status FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.source_id = p_source_id AND f.kind = ANY (p_kinds)
       AND (v_slot.in_flight IS NULL OR f.url_hash <> ALL (v_slot.in_flight))
       AND (NOT p_spidered OR (p_what = 'hold') = (f.kind = 'channel' AND NOT EXISTS (
             SELECT FROM channels c WHERE c.url_hash = f.url_hash AND c.found_by = 'archive')))
       AND CASE p_what WHEN 'hold' THEN f.due_at < v_far WHEN 'free' THEN f.due_at >= v_far
           ELSE f.status IN ('pending', 'failed', 'needs_render') OR f.due_at IS NOT NULL END
     LIMIT p_limit
  ), moved AS (
    UPDATE url_frontier f
       SET ready = false,
           due_at = CASE p_what WHEN 'hold' THEN f.due_at + held_span() WHEN 'free' THEN f.due_at - held_span() END,
           -- What was fetched stays fetched; only what waits is given up.
           status = CASE WHEN p_what = 'end' AND f.status <> 'fetched' THEN 'dead' ELSE f.status END,
           error_code = CASE WHEN p_what = 'end' AND f.status <> 'fetched' THEN 'source_deleted' ELSE f.error_code END
      FROM part p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash
    RETURNING p.ready, p.budgeted, p.status AS was, f.status, f.kind
  ), counted AS (
    INSERT INTO counter_deltas (bucket, minute, source_id, dead, rows_dead, rows_pending, rows_failed, rows_needs_render,
                                rows_redirected, rows_duplicate)
    SELECT p_bucket, date_trunc('minute', v_now), p_source_id, count(*),
           count(*) FILTER (WHERE m.kind <> 'channel' AND m.was <> 'dead'),
           -count(*) FILTER (WHERE m.kind <> 'channel' AND m.was = 'pending'),
           -count(*) FILTER (WHERE m.kind <> 'channel' AND m.was = 'failed'),
           -count(*) FILTER (WHERE m.kind <> 'channel' AND m.was = 'needs_render'),
           -count(*) FILTER (WHERE m.kind <> 'channel' AND m.was = 'redirected'),
           -count(*) FILTER (WHERE m.kind <> 'channel' AND m.was = 'duplicate')
      FROM moved m
     WHERE p_what = 'end' AND m.status = 'dead' AND m.kind <> 'probe' HAVING count(*) > 0)
  SELECT count(*), count(*) FILTER (WHERE m.ready), count(*) FILTER (WHERE m.ready AND m.budgeted)
    INTO v_moved, v_ready, v_budgeted FROM moved m;
  IF v_moved > 0 THEN
    v_slot.queued := v_slot.queued - v_ready;
    v_slot.budgeted := v_slot.budgeted - v_budgeted;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted,
           top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE s.top END,
           next_at = greatest(s.next_at, v_now), wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_moved;
END $$;
