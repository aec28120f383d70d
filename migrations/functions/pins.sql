-- Domains that sources pin to a group of fetchers. What a slot's group is stays with domain_configure.

-- Pins a domain for a source; a domain nobody knows yet is made, so that its very first row finds its group. p_was: the
-- group it has of its own now. Answers the other sources that pin it to another group, which this pin overrules.
CREATE FUNCTION domain_pin(
  p_bucket smallint, p_domain_key bigint, p_name text, p_parent text, p_source_id integer, p_pool text, p_was text,
  p_skew interval DEFAULT '0')
RETURNS TABLE (source_id integer, pool text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := clock_timestamp() + p_skew;
  v_slot domain_slots;
  v_was text := p_was;
BEGIN
  INSERT INTO domains (bucket, domain_key, name, parent_domain, status_since, first_seen_at)
  VALUES (p_bucket, p_domain_key, p_name, p_parent, v_now, v_now) ON CONFLICT DO NOTHING;
  INSERT INTO domain_slots (bucket, domain_key, next_at) VALUES (p_bucket, p_domain_key, v_now) ON CONFLICT DO NOTHING;
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT p.was INTO v_was FROM domain_pins p WHERE p.bucket = p_bucket AND p.domain_key = p_domain_key LIMIT 1;
  IF NOT FOUND THEN
    v_was := p_was;
  END IF;
  INSERT INTO domain_pins AS p (bucket, domain_key, source_id, pool, was, pinned_at)
  VALUES (p_bucket, p_domain_key, p_source_id, p_pool, v_was, v_now)
  ON CONFLICT (bucket, domain_key, source_id) DO UPDATE SET pool = excluded.pool, pinned_at = excluded.pinned_at;
  PERFORM domain_configure(p_bucket, p_domain_key, v_slot.configured_delay_ms, v_slot.budget_max, p_pool, 0, p_skew);
  RETURN QUERY SELECT p.source_id, p.pool FROM domain_pins p
    WHERE p.bucket = p_bucket AND p.domain_key = p_domain_key AND p.source_id <> p_source_id AND p.pool <> p_pool
    ORDER BY p.pinned_at DESC;
END $$;

-- Takes a source's pin away. Where it held (p_pool is what the domain has now), the newest other pin holds from now on,
-- or the group the domain had before; what an operator set meanwhile stays. False: the source did not pin it.
CREATE FUNCTION domain_unpin(
  p_bucket smallint, p_domain_key bigint, p_source_id integer, p_pool text, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_slot domain_slots;
  v_pin domain_pins;
  v_pool text;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  DELETE FROM domain_pins p
   WHERE p.bucket = p_bucket AND p.domain_key = p_domain_key AND p.source_id = p_source_id RETURNING * INTO v_pin;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  SELECT p.pool INTO v_pool FROM domain_pins p
   WHERE p.bucket = p_bucket AND p.domain_key = p_domain_key ORDER BY p.pinned_at DESC LIMIT 1;
  IF NOT FOUND THEN
    v_pool := v_pin.was;
  END IF;
  IF p_pool = v_pin.pool THEN
    PERFORM domain_configure(p_bucket, p_domain_key, v_slot.configured_delay_ms, v_slot.budget_max, v_pool, 0, p_skew);
  END IF;
  RETURN true;
END $$;
