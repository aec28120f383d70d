-- What operators do to the frontier, and what producers may not do to other people's hosts.

-- New URLs a source brought of hosts that are not its own, by day. Feeds that list other people's hosts stay bounded.
CREATE TABLE foreign_hosts (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  source_id integer NOT NULL,
  day date NOT NULL,
  urls integer NOT NULL,
  is_new boolean NOT NULL,
  PRIMARY KEY (bucket, domain_key, source_id, day)
);
-- Counting a source's new hosts of a day.
CREATE INDEX foreign_hosts_source ON foreign_hosts (source_id, day) WHERE is_new;

-- Which of these items go beyond a source's allowance for foreign hosts today: 50 new hosts, 100 URLs per host.
-- Called by submit for the items it is about to insert; remembers what it lets through.
CREATE FUNCTION submit_refuse_foreign(p_items submit_item[], p_now timestamptz)
RETURNS TABLE (ord integer, reason text) LANGUAGE plpgsql AS $$
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
END $$;

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
