-- Host rules, and the keys that follow from them. Rows get theirs where they are submitted; these functions give it anew to
-- what waits when the rules of its domain change. What a key is says src/url: here it is only moved.

-- The rules of all domains that have some, by the index that holds no others: one buffer while there are none. Before the
-- first ANALYZE the planner takes nearly every domain for one with rules and would read them all (200,000 in 0.3 s).
CREATE FUNCTION host_rules_all() RETURNS TABLE (name text, rules jsonb) LANGUAGE sql STABLE SET enable_seqscan = off AS
$$ SELECT d.name, d.host_rules FROM domains d WHERE d.host_rules <> '{}' $$;

-- Changes the rules of a domain; false: it is not known, or has these already.
CREATE FUNCTION domain_set_rules(p_bucket smallint, p_domain_key bigint, p_rules jsonb, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_was jsonb;
BEGIN
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT d.host_rules INTO v_was FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key FOR UPDATE;
  IF v_was IS NULL OR v_was = p_rules THEN
    RETURN false;
  END IF;
  UPDATE domains d SET host_rules = p_rules WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  INSERT INTO domain_rekeys AS r (bucket, domain_key, was, changed_at, due_at, began_at)
  VALUES (p_bucket, p_domain_key, jsonb_build_array(v_was), v_now, v_now, v_now)
  -- In the middle of a pass: what it moved has its key by rules that held before too.
  ON CONFLICT (bucket, domain_key) DO UPDATE SET was = r.was || excluded.was, changed_at = v_now, due_at = v_now,
    began_at = v_now, after_hash = '', again = false;
  RETURN true;
END $$;

-- Whether a row may get another key: it waits, and nothing was ever read from its address, so nothing refers to it that
-- could not be moved with it. Channels and probes have hashes of their own.
CREATE FUNCTION frontier_may_rekey(f url_frontier) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (f).status IN ('pending', 'failed', 'needs_render') AND (f).kind IN ('article', 'listing', 'image')
     AND (f).content_hash IS NULL AND coalesce((f).validation_status, 'rejected') = 'rejected'
$$;

CREATE TYPE rekey_move AS (
  url_hash bytea, to_hash bytea, url text, -- the row as it was looked at
  seat text                                -- address of the row whose place that is; NULL: there is none to join
);

-- Gives rows of one portion of a domain their new keys, under its slot's lock. Where the key has a row already the two
-- become one. What is in flight, or changed since it was looked at, is left for the next pass, and passes go on until one
-- began p_settle after the change and left nothing: by then nobody submits or fetches by the old rules.
-- p_rules: those the keys were made by; p_after, p_last: the portion, its end NULL with the last. 'stale': the rules
-- changed, or somebody else did the portion; nothing was done.
CREATE FUNCTION frontier_rekey(
  p_bucket smallint, p_domain_key bigint, p_rules jsonb, p_after bytea, p_last bytea, p_moves json, p_settle interval,
  p_skew interval DEFAULT '0')
RETURNS TABLE (outcome text, moved integer, merged integer, deferred integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_pass domain_rekeys;
  m rekey_move;
  f url_frontier;
  o url_frontier;            -- who has the key already
  n url_frontier;            -- what the two became
  v_taken boolean;
  v_moved integer := 0;
  v_merged integer := 0;
  v_deferred integer := 0;
  v_from bytea[] := '{}';
  v_to bytea[] := '{}';
  v_shown bytea[] := '{}';   -- addresses of images that were read before
  v_sources integer[] := '{}';
  v_states url_status[] := '{}';
  v_steps integer[] := '{}';
  v_pages integer := 0;
  v_asked_since timestamptz;
  v_top smallint;
  v_sights json;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT * INTO v_pass FROM domain_rekeys r WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND OR v_pass.after_hash <> p_after OR NOT EXISTS (
    SELECT FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.host_rules = p_rules) THEN
    RETURN QUERY SELECT 'stale', 0, 0, 0;
    RETURN;
  END IF;

  FOR m IN SELECT * FROM json_populate_recordset(NULL::rekey_move, p_moves) LOOP
    SELECT * INTO f FROM url_frontier x
     WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.url_hash;
    CONTINUE WHEN NOT FOUND OR NOT frontier_may_rekey(f);
    SELECT * INTO o FROM url_frontier x
     WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.to_hash;
    v_taken := FOUND;
    IF f.url <> m.url OR m.url_hash = ANY (v_slot.in_flight) OR m.to_hash = ANY (v_slot.in_flight)
       -- A place that was left in this call: who moves in must not be taken for who moved out.
       OR m.to_hash = ANY (v_from)
       OR v_taken AND m.to_hash <> ALL (v_to) AND o.url IS DISTINCT FROM m.seat THEN
      v_deferred := v_deferred + 1;
      CONTINUE;
    END IF;
    v_from := v_from || m.url_hash;
    v_to := v_to || m.to_hash;
    IF f.tries > 0 OR f.fetch_count > 0 OR f.http_status IS NOT NULL THEN
      v_asked_since := least(v_asked_since, f.discovered_at);
    END IF;
    -- What was given up makes room for what waits; only an operator's removal holds.
    IF v_taken AND o.status = 'dead' AND o.error_code <> 'removed' THEN
      DELETE FROM url_frontier x WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.to_hash;
      v_sources := v_sources || o.source_id;
      v_states := v_states || o.status;
      v_steps := v_steps || -1;
      v_pages := v_pages + (o.kind IN ('article', 'listing'))::integer;
      v_taken := false;
    END IF;
    IF NOT v_taken THEN
      UPDATE url_frontier x SET url_hash = m.to_hash
       WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.url_hash;
      v_moved := v_moved + 1;
      CONTINUE;
    END IF;

    -- One page, two rows: the one that has the key stays, and nothing that the other brought is lost.
    v_merged := v_merged + 1;
    DELETE FROM url_frontier x WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.url_hash;
    n := o;
    IF o.status IN ('pending', 'failed', 'needs_render') THEN
      UPDATE url_frontier x
         SET priority = greatest(o.priority, f.priority), level = greatest(o.level, f.level),
             depth = least(o.depth, f.depth), hops = least(o.hops, f.hops),
             discovered_at = least(o.discovered_at, f.discovered_at),
             execution_id = greatest(o.execution_id, f.execution_id), budgeted = o.budgeted AND f.budgeted,
             -- A disabled source holds its row for centuries; another's goes on.
             source_id = CASE WHEN o.due_at > v_now + interval '500 years' AND f.due_at < v_now + interval '500 years'
                         THEN f.source_id ELSE o.source_id END,
             -- What waits for a browser has its own time.
             due_at = CASE WHEN 'needs_render' IN (o.status, f.status) THEN o.due_at ELSE least(o.due_at, f.due_at) END,
             ready = CASE WHEN 'needs_render' IN (o.status, f.status) THEN o.ready ELSE o.ready OR f.ready END
       WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key AND x.url_hash = m.to_hash
      RETURNING * INTO n;
    ELSIF o.kind = 'image' THEN
      v_shown := v_shown || m.to_hash;
    END IF;
    v_slot.queued := v_slot.queued + n.ready::integer - o.ready::integer - f.ready::integer;
    v_slot.budgeted := v_slot.budgeted + (n.ready AND n.budgeted)::integer - (o.ready AND o.budgeted)::integer
                       - (f.ready AND f.budgeted)::integer;
    v_pages := v_pages + (f.kind IN ('article', 'listing'))::integer;
    v_sources := v_sources || ARRAY[f.source_id, o.source_id, n.source_id];
    v_states := v_states || ARRAY[f.status, o.status, n.status];
    v_steps := v_steps || ARRAY[-1, -1, 1];
    -- Its teller becomes one of those who told of the page too.
    INSERT INTO url_sightings (bucket, domain_key, url_hash, source_id, parent_hash, origin, parent_url, seen_at)
    SELECT p_bucket, p_domain_key, m.to_hash, f.source_id, sha256(convert_to(f.parent_url, 'UTF8')), f.origin, f.parent_url,
           f.discovered_at
     WHERE f.source_id IS NOT NULL AND f.parent_url IS NOT NULL AND f.origin IN ('feed', 'sitemap', 'push')
       AND (f.source_id, f.parent_url) IS DISTINCT FROM (n.source_id, n.parent_url)
    ON CONFLICT DO NOTHING;
  END LOOP;

  IF v_from <> '{}' THEN
    PERFORM rekey_references(p_bucket, p_domain_key, v_from, v_to, v_asked_since);
    INSERT INTO counter_deltas (bucket, minute, source_id, rows_pending, rows_fetched, rows_redirected, rows_duplicate,
                                rows_failed, rows_needs_render, rows_dead)
    SELECT p_bucket, date_trunc('minute', v_now), c.source_id, sum(c.step * (c.state = 'pending')::integer),
           sum(c.step * (c.state = 'fetched')::integer), sum(c.step * (c.state = 'redirected')::integer),
           sum(c.step * (c.state = 'duplicate')::integer), sum(c.step * (c.state = 'failed')::integer),
           sum(c.step * (c.state = 'needs_render')::integer), sum(c.step * (c.state = 'dead')::integer)
      FROM unnest(v_sources, v_states, v_steps) AS c(source_id, state, step) GROUP BY c.source_id;
    UPDATE domains d SET pages_known = greatest(0, d.pages_known - v_pages)
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND v_pages > 0;
    -- As with every act: a leased slot keeps what it offered until its settle reads the rows anew, one that enters a level
    -- is new there, and promotion works out what wakes it next.
    v_top := CASE WHEN v_slot.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE v_slot.top END;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted, top = v_top,
           next_at = CASE WHEN v_top IS DISTINCT FROM s.top THEN greatest(s.next_at, v_now) ELSE s.next_at END,
           wake_at = least(s.wake_at, v_now)
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
    IF v_shown <> '{}' THEN
      -- As if the pages had named the image by this address from the beginning.
      SELECT json_agg(json_build_object('ord', 0, 'bucket', s.bucket, 'domain_key', s.domain_key, 'url_hash', s.url_hash,
               'page_domain_key', s.page_domain_key, 'page_hash', s.page_hash, 'source_id', s.source_id,
               'execution_id', s.execution_id)) INTO v_sights
        FROM image_sightings s
       WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = ANY (v_shown) AND s.sha256 IS NULL;
      IF v_sights IS NOT NULL THEN
        PERFORM image_sight(v_sights, p_skew);
      END IF;
    END IF;
  END IF;

  v_pass.again := v_pass.again OR v_deferred > 0 OR v_pass.began_at < v_pass.changed_at + p_settle
                  -- A lease from before may still end rows by the old rules.
                  OR coalesce(v_slot.leased_at < v_pass.changed_at + p_settle, false);
  IF p_last IS NULL AND NOT v_pass.again THEN
    DELETE FROM domain_rekeys r WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key;
  ELSE
    v_pass.due_at := CASE WHEN p_last IS NULL
      -- Ever more seldom: a worker that is gone leaves its rows in flight until somebody takes the domain over.
      THEN greatest(v_pass.changed_at + p_settle, v_now + interval '5 seconds',
                    v_now + least((v_now - v_pass.changed_at) / 4, interval '1 hour')) ELSE v_pass.due_at END;
    UPDATE domain_rekeys r
       SET after_hash = coalesce(p_last, ''), again = p_last IS NOT NULL AND v_pass.again, due_at = v_pass.due_at,
           began_at = CASE WHEN p_last IS NULL THEN v_pass.due_at ELSE r.began_at END,
           moved = r.moved + v_moved, merged = r.merged + v_merged
     WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key;
  END IF;
  RETURN QUERY SELECT CASE WHEN p_last IS NOT NULL THEN 'more' WHEN v_pass.again THEN 'again' ELSE 'done' END,
                      v_moved, v_merged, v_deferred;
END $$;

-- Moves everything that refers to rows by their hash. Rows that have a document, or were ever one's copy, have none of
-- this done to them: they keep their keys. Each by the leading columns of its primary key, the log by crawl_log_domain
-- from the time the oldest of the rows was found.
CREATE FUNCTION rekey_references(
  p_bucket smallint, p_domain_key bigint, p_from bytea[], p_to bytea[], p_asked_since timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO url_sightings (bucket, domain_key, url_hash, source_id, parent_hash, origin, parent_url, seen_at)
  SELECT p_bucket, p_domain_key, t.new, s.source_id, s.parent_hash, s.origin, s.parent_url, s.seen_at
    FROM unnest(p_from, p_to) AS t(old, new)
    JOIN url_sightings s ON s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = t.old
  ON CONFLICT DO NOTHING;
  DELETE FROM url_sightings s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = ANY (p_from);

  INSERT INTO image_sightings (bucket, domain_key, url_hash, page_domain_key, page_hash, first_seen_at, last_seen_at,
                               execution_id, source_id, sha256)
  SELECT p_bucket, p_domain_key, t.new, s.page_domain_key, s.page_hash, s.first_seen_at, s.last_seen_at, s.execution_id,
         s.source_id, s.sha256
    FROM unnest(p_from, p_to) AS t(old, new)
    JOIN image_sightings s ON s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = t.old
  ON CONFLICT DO NOTHING;
  DELETE FROM image_sightings s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key AND s.url_hash = ANY (p_from);

  INSERT INTO archive_tries (bucket, domain_key, url_hash, url, kind, found_by, state, detail, asked_at, ended_at, again_at)
  SELECT p_bucket, p_domain_key, t.new, a.url, a.kind, a.found_by, a.state, a.detail, a.asked_at, a.ended_at, a.again_at
    FROM unnest(p_from, p_to) AS t(old, new)
    JOIN archive_tries a ON a.bucket = p_bucket AND a.domain_key = p_domain_key AND a.url_hash = t.old
  ON CONFLICT DO NOTHING;
  DELETE FROM archive_tries a WHERE a.bucket = p_bucket AND a.domain_key = p_domain_key AND a.url_hash = ANY (p_from);

  IF p_asked_since IS NOT NULL THEN
    UPDATE crawl_log l SET url_hash = t.new
      FROM unnest(p_from, p_to) AS t(old, new)
     WHERE l.bucket = p_bucket AND l.domain_key = p_domain_key AND l.at >= p_asked_since AND l.url_hash = t.old;
  END IF;
END $$;
