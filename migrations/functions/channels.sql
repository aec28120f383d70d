-- Channels that change their address. Small tables of their own: no slot is locked here, and the frontier rows are
-- submitted and settled by the callers.

-- Moves a channel to another address. 'circle': it left that address within a day, or has moved five times within the
-- hour. 'taken': another source has it. 'merged': its own source has it already, and that channel goes on alone.
CREATE FUNCTION channel_move(
  p_id integer, p_from bytea, p_url text, p_bucket smallint, p_domain_key bigint, p_hash bytea)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_channel channels;
  v_other channels;
BEGIN
  SELECT * INTO v_channel FROM channels c WHERE c.id = p_id FOR UPDATE;
  IF NOT FOUND OR v_channel.url_hash <> p_from THEN
    RETURN 'moved'; -- Somebody was faster; the old row leads where it leads now.
  END IF;
  SELECT * INTO v_other FROM channels c WHERE c.url_hash = p_hash;
  IF FOUND THEN
    IF v_other.source_id <> v_channel.source_id OR v_other.id = v_channel.parent_id THEN
      RETURN 'taken';
    END IF;
    PERFORM channel_merge(p_id, v_other.id);
    RETURN 'merged';
  END IF;
  IF EXISTS (SELECT FROM channel_addresses a WHERE a.channel_id = p_id AND a.url_hash = p_hash AND a.left_at > now() - interval '1 day')
     OR (SELECT count(*) FROM channel_addresses a WHERE a.channel_id = p_id AND a.left_at > now() - interval '1 hour') >= 5 THEN
    RETURN 'circle';
  END IF;
  DELETE FROM channel_addresses a WHERE a.url_hash = p_hash;
  UPDATE channels c SET url = p_url, bucket = p_bucket, domain_key = p_domain_key, url_hash = p_hash WHERE c.id = p_id;
  INSERT INTO channel_addresses AS a (url_hash, channel_id, url) VALUES (v_channel.url_hash, p_id, v_channel.url)
  ON CONFLICT (url_hash) DO UPDATE SET channel_id = excluded.channel_id, left_at = now();
  RETURN 'moved';
END $$;

-- Lets one channel go on in another's place, with all the addresses that the first ever had.
CREATE FUNCTION channel_merge(p_from integer, p_into integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE channel_addresses a SET channel_id = p_into WHERE a.channel_id = p_from;
  INSERT INTO channel_addresses AS a (url_hash, channel_id, url)
  SELECT c.url_hash, p_into, c.url FROM channels c WHERE c.id = p_from
  ON CONFLICT (url_hash) DO UPDATE SET channel_id = excluded.channel_id, left_at = now();
  UPDATE channels c SET replaces_id = NULL WHERE c.id = p_into AND c.replaces_id = p_from;
  DELETE FROM channels c WHERE c.id = p_from;
END $$;

-- Makes the files of a sitemap index channels of its source; addresses that are channels, or were, are left out.
CREATE FUNCTION channel_add_files(
  p_index integer, p_found_by text, p_takes_all boolean, p_urls text[], p_buckets smallint[], p_keys bigint[], p_hashes bytea[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO channels (source_id, kind, url, bucket, domain_key, url_hash, interval_seconds, found_by, parent_id, depth, takes_all)
  SELECT i.source_id, 'sitemap', f.url, f.bucket, f.domain_key, f.hash, i.interval_seconds, p_found_by, i.id, i.depth + 1,
         p_takes_all
    FROM channels i CROSS JOIN unnest(p_urls, p_buckets, p_keys, p_hashes) AS f(url, bucket, domain_key, hash)
   WHERE i.id = p_index AND NOT EXISTS (SELECT FROM channel_addresses a WHERE a.url_hash = f.hash)
  ON CONFLICT (url_hash) DO NOTHING
$$;

-- Removes a file that its index no longer names.
CREATE FUNCTION channel_drop_file(p_id integer, p_index integer) RETURNS void LANGUAGE sql AS
$$ DELETE FROM channels c WHERE c.id = p_id AND c.parent_id = p_index $$;

-- A poll that ended its worker three times counts as one parse error; the fifth in a row lets the channel sleep.
CREATE FUNCTION channel_crashed(p_bucket smallint, p_hash bytea, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO channel_state AS s (bucket, channel_id, polls, errors_in_row, error_kind, failing_since)
  SELECT c.bucket, c.id, 1, 1, 'parse', p_now FROM channels c WHERE c.url_hash = p_hash AND c.bucket = p_bucket
  ON CONFLICT (bucket, channel_id) DO UPDATE SET
    polls = s.polls + 1, error_kind = 'parse', failing_since = coalesce(s.failing_since, p_now),
    errors_in_row = CASE WHEN s.error_kind = 'parse' THEN s.errors_in_row + 1 ELSE 1 END,
    slept_at = CASE WHEN s.error_kind = 'parse' AND s.errors_in_row >= 4 THEN coalesce(s.slept_at, p_now) ELSE s.slept_at END,
    sleep_reason = CASE WHEN s.error_kind = 'parse' AND s.errors_in_row >= 4 THEN 'parse' ELSE s.sleep_reason END
$$;

-- Wakes a channel: what its errors led to is forgotten and it is due now. Validators stay. False: it has no row.
CREATE FUNCTION channel_wake(p_id integer, p_skew interval DEFAULT '0', p_forget boolean DEFAULT true) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_channel channels;
BEGIN
  SELECT * INTO v_channel FROM channels c WHERE c.id = p_id;
  PERFORM FROM domain_slots s WHERE s.bucket = v_channel.bucket AND s.domain_key = v_channel.domain_key FOR UPDATE;
  UPDATE channel_state s SET slept_at = NULL, sleep_reason = NULL, errors_in_row = 0, error_kind = NULL, failing_since = NULL
   WHERE p_forget AND s.bucket = v_channel.bucket AND s.channel_id = p_id;
  UPDATE url_frontier f
     SET due_at = least(f.due_at, v_now), tries = CASE WHEN p_forget THEN 0 ELSE f.tries END,
         error_code = CASE WHEN NOT p_forget THEN f.error_code END, error_text = CASE WHEN NOT p_forget THEN f.error_text END
   WHERE f.bucket = v_channel.bucket AND f.domain_key = v_channel.domain_key AND f.url_hash = v_channel.url_hash
     AND f.status = 'pending' AND f.due_at IS NOT NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- Promotion, woken at once, readies it.
  UPDATE domain_slots s SET wake_at = least(s.wake_at, v_now)
   WHERE s.bucket = v_channel.bucket AND s.domain_key = v_channel.domain_key;
  RETURN true;
END $$;

-- Ends the frontier row of an address that no channel has any more. A row that is being polled is left to its worker,
-- which meets it once more and finds the same.
CREATE FUNCTION channel_end(
  p_bucket smallint, p_domain_key bigint, p_hash bytea, p_code text, p_to text, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_ready boolean;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF p_hash = ANY (v_slot.in_flight) THEN
    RETURN false;
  END IF;
  SELECT f.ready INTO v_ready FROM url_frontier f
   WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p_hash AND f.status <> 'dead';
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE url_frontier f SET status = 'dead', ready = false, due_at = NULL, error_code = p_code, error_text = NULL,
         redirected_to = p_to
   WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p_hash;
  INSERT INTO counter_deltas (bucket, minute, source_id, dead)
  SELECT p_bucket, date_trunc('minute', v_now), f.source_id, 1 FROM url_frontier f
   WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p_hash;
  v_slot.queued := v_slot.queued - v_ready::integer;
  UPDATE domain_slots s
     SET queued = v_slot.queued, top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE s.top END,
         next_at = greatest(s.next_at, v_now), wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $$;
