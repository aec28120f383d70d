-- Says which leases are still held; a missing one was taken over or ended by an operator.
CREATE FUNCTION frontier_renew(
  p_owner text, p_buckets smallint[], p_keys bigint[], p_epochs bigint[], p_lease_ms integer,
  p_default_delay_ms integer, p_skew interval DEFAULT '0')
RETURNS TABLE (domain_key bigint) LANGUAGE plpgsql AS $$
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
END $$;
