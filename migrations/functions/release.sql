-- Release: an operator takes a domain from its worker. The epoch grows, so the worker's settle changes nothing; next_at
-- stays, so the gap holds whoever comes next. Answers the owner that lost it, or NULL when nobody had it.
CREATE FUNCTION frontier_release(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '0')
RETURNS text LANGUAGE plpgsql AS $$
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
END $$;
