-- What becomes of a source's rows when it is enabled again or deleted, one domain at a time, under its slot's lock.

-- Rows that were put off because their source or channel was disabled are due again; promotion, woken, offers them.
CREATE FUNCTION source_resume(p_bucket smallint, p_domain_key bigint, p_source integer, p_hash bytea DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_count integer;
BEGIN
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  UPDATE url_frontier f SET due_at = now(), error_code = NULL, error_text = NULL
   WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.source_id = p_source AND NOT f.ready
     AND f.error_code IN ('source_disabled', 'channel_disabled') AND (p_hash IS NULL OR f.url_hash = p_hash);
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count > 0 THEN
    UPDATE domain_slots s SET wake_at = now() WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_count;
END $$;

-- Gives up to p_limit waiting rows of a source up, and lets its known pages rest. Rows in flight end as their lease does.
-- Answers how many; 0: there is nothing left to do.
CREATE FUNCTION source_drop(
  p_bucket smallint, p_domain_key bigint, p_source integer, p_limit integer, p_reason text, p_hash bytea DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_slot domain_slots;
  v_count integer;
  v_ready integer;
  v_budgeted integer;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  WITH part AS (
    SELECT f.url_hash, f.ready, f.ready AND f.budgeted AS budgeted FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.source_id = p_source AND f.due_at IS NOT NULL
       AND f.status <> 'dead' AND f.url_hash <> ALL (coalesce(v_slot.in_flight, '{}'))
       AND (p_hash IS NULL OR f.url_hash = p_hash)
     LIMIT p_limit
  ), dropped AS (
    UPDATE url_frontier f
       SET ready = false, due_at = NULL,
           status = CASE WHEN f.status = 'fetched' THEN f.status ELSE 'dead' END,
           error_code = CASE WHEN f.status = 'fetched' THEN f.error_code ELSE p_reason END,
           error_text = CASE WHEN f.status = 'fetched' THEN f.error_text END
      FROM part p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash)
  SELECT count(*), count(*) FILTER (WHERE p.ready), count(*) FILTER (WHERE p.budgeted)
    INTO v_count, v_ready, v_budgeted FROM part p;
  IF v_count > 0 THEN
    v_slot.queued := v_slot.queued - v_ready;
    v_slot.budgeted := v_slot.budgeted - v_budgeted;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted,
           -- A leased slot keeps offering what it offered: the settle that ends the lease reads its rows anew.
           top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, now()) ELSE s.top END
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_count;
END $$;
