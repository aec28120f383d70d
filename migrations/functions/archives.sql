-- Archive discovery. Small tables of their own: no slot is locked here, and what is to be fetched is submitted by the
-- caller, after it was written down, so that a crash in between can neither ask for more than a day allows nor forget.

CREATE TYPE archive_item AS (ord integer, url_hash bytea, url text, kind text, found_by text);

-- Writes down which of these places are asked now, in their order, as many as the domain's day leaves of p_most; answers
-- their hashes. The lock makes it exact for two schedulers and a job at once. A place that may not be asked yet is none.
CREATE FUNCTION archive_take(
  p_bucket smallint, p_domain_key bigint, p_items json, p_most integer, p_skew interval DEFAULT '0')
RETURNS SETOF bytea LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_item archive_item;
  v_left integer;
BEGIN
  PERFORM FROM archive_domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT p_most - count(*) INTO v_left FROM archive_tries t
   WHERE t.bucket = p_bucket AND t.domain_key = p_domain_key AND t.asked_at > v_now - interval '1 day'
     -- What was known ended in the moment it was thought of.
     AND t.ended_at IS DISTINCT FROM t.asked_at;
  FOR v_item IN SELECT * FROM json_populate_recordset(NULL::archive_item, p_items) i ORDER BY i.ord LOOP
    EXIT WHEN v_left <= 0;
    INSERT INTO archive_tries AS t (bucket, domain_key, url_hash, url, kind, found_by, state, asked_at)
    VALUES (p_bucket, p_domain_key, v_item.url_hash, v_item.url, v_item.kind, v_item.found_by, 'asked', v_now)
    ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE
      SET state = 'asked', detail = NULL, asked_at = v_now, ended_at = NULL, again_at = NULL, found_by = excluded.found_by
      WHERE t.state <> 'asked' AND t.again_at <= v_now;
    IF FOUND THEN
      v_left := v_left - 1;
      RETURN NEXT v_item.url_hash;
    END IF;
  END LOOP;
END $$;
