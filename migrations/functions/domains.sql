-- The lifecycle of domains. A slot is locked before its domain is moved, always.

-- The legal moves; src/domains/lifecycle.ts has the same table, and a test compares the two. An operator may block or
-- reset from any state.
CREATE FUNCTION domain_may_move(p_from domain_status, p_to domain_status, p_by_operator boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_by_operator THEN p_to IN ('pending', 'active', 'blocked')
         ELSE CASE p_from
           WHEN 'pending' THEN p_to IN ('active', 'blocked', 'unreachable')
           WHEN 'active' THEN p_to IN ('exhausted', 'blocked', 'unreachable')
           WHEN 'exhausted' THEN p_to IN ('active', 'blocked', 'unreachable')
           ELSE p_to = 'active' END END
$$;

-- Moves a domain and writes the event; active and exhausted follow from the rows and write none. Answers whether the
-- move was legal.
CREATE FUNCTION domain_move(
  p_bucket smallint, p_domain_key bigint, p_to domain_status, p_reason text, p_actor text, p_now timestamptz,
  p_by_operator boolean DEFAULT false)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_from domain_status;
BEGIN
  SELECT d.status INTO v_from FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF NOT FOUND OR NOT domain_may_move(v_from, p_to, p_by_operator) THEN
    RETURN false;
  END IF;
  UPDATE domains d
     SET status = p_to, status_since = CASE WHEN d.status = p_to THEN d.status_since ELSE p_now END,
         status_reason = CASE WHEN p_to IN ('blocked', 'unreachable') THEN p_reason END,
         errors_consecutive = CASE WHEN p_to = 'active' THEN 0 ELSE d.errors_consecutive END,
         block_count = d.block_count + CASE WHEN p_to = 'blocked' THEN 1 ELSE 0 END,
         first_blocked_at = CASE WHEN p_to = 'blocked' THEN coalesce(d.first_blocked_at, p_now) ELSE d.first_blocked_at END,
         unreachable_count = d.unreachable_count + CASE WHEN p_to = 'unreachable' THEN 1 ELSE 0 END
   WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF (v_from, p_to) NOT IN (('active', 'exhausted'), ('exhausted', 'active')) THEN
    INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
    VALUES (p_bucket, p_domain_key, p_now, v_from, p_to, p_reason, p_actor);
  END IF;
  RETURN true;
END $$;

-- What a domain is worth, term by term; every term is bounded. explain shows them, settle and the hourly pass sum them.
CREATE FUNCTION domain_score_terms(d domains, p_remaining bigint, p_now timestamptz)
RETURNS TABLE (rank double precision, yield double precision, remaining double precision, errors double precision,
               waiting double precision)
LANGUAGE sql IMMUTABLE AS $$
  SELECT -100 * log(least(1000000, greatest(1, coalesce((d).seed_rank, 1000000)))),
         -- A domain whose images are stored is an image source; one that has nothing but images serves another.
         CASE WHEN (d).images_stored > 0 AND (d).pages_crawled > 0
              THEN 2000 * least((d).images_stored::float8 / greatest((d).pages_crawled, 1), 5) / 5
              ELSE 1000 * least((d).documents::float8 / greatest((d).pages_crawled, 1), 1) END,
         2 * least(p_remaining, 500),
         -500 * (d).errors_total::float8 / greatest((d).errors_total + (d).pages_crawled, 1),
         5 * least(greatest(extract(epoch FROM p_now - coalesce((d).last_crawled_at, (d).first_seen_at)) / 86400, 0), 60)
$$;

CREATE FUNCTION domain_score(d domains, p_remaining bigint, p_now timestamptz) RETURNS real LANGUAGE sql IMMUTABLE AS $$
  SELECT (t.rank + t.yield + t.remaining + t.errors + t.waiting)::real FROM domain_score_terms(d, p_remaining, p_now) t
$$;

-- By how many levels a score moves the domain's budgeted rows. Unknown domains far down a list begin one lower, those
-- that yield a document for most pages and have work left go one higher.
CREATE FUNCTION score_shift(p_score real) RETURNS smallint LANGUAGE sql IMMUTABLE AS
$$ SELECT (CASE WHEN p_score >= 1000 THEN 1 WHEN p_score < 0 THEN -1 ELSE 0 END)::smallint $$;

-- Recomputes scores; the waiting term grows by itself. Answers how many domains were looked at.
CREATE FUNCTION domain_rescore(p_bucket smallint, p_skew interval DEFAULT '0') RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_domain domains;
  v_score real;
  v_seen integer := 0;
BEGIN
  FOR v_slot IN SELECT * FROM domain_slots s WHERE s.bucket = p_bucket ORDER BY s.domain_key FOR UPDATE SKIP LOCKED LOOP
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = v_slot.domain_key;
    v_score := domain_score(v_domain, v_slot.queued, v_now);
    v_seen := v_seen + 1;
    IF abs(v_score - v_domain.score) >= 1 THEN
      UPDATE domains d SET score = v_score WHERE d.bucket = p_bucket AND d.domain_key = v_slot.domain_key;
    END IF;
    IF score_shift(v_score) <> v_slot.shift THEN
      v_slot.shift := score_shift(v_score);
      UPDATE domain_slots s
         SET shift = v_slot.shift,
             -- A leased slot gets its top with the settle that ends the lease.
             top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE s.top END,
             next_at = greatest(s.next_at, v_now)
       WHERE s.bucket = p_bucket AND s.domain_key = v_slot.domain_key;
    END IF;
  END LOOP;
  RETURN v_seen;
END $$;

-- What operators do. Each takes the domain from its worker first: the epoch grows, so a settle under way changes nothing.

-- Takes a domain from its worker; next_at stays, so the gap holds whoever comes next. Answers the owner that lost it,
-- or NULL when nobody had it. Promotion, woken at once, recomputes what the slot says of its rows.
CREATE FUNCTION frontier_release(p_bucket smallint, p_domain_key bigint, p_skew interval DEFAULT '0')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_owner text;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  v_owner := v_slot.lease_owner;
  IF v_owner IS NULL THEN
    RETURN NULL;
  END IF;
  v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, NULL);
  UPDATE domain_slots s
     SET lease_owner = NULL, lease_until = NULL, leased_at = NULL, in_flight = NULL, lease_epoch = s.lease_epoch + 1,
         budget_left = v_slot.budget_left, top = slot_top(v_slot, v_now), wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN v_owner;
END $$;

-- Blocks a domain for good, until it is reset. False: there is no such domain.
CREATE FUNCTION domain_block(p_bucket smallint, p_domain_key bigint, p_reason text, p_actor text, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM frontier_release(p_bucket, p_domain_key, p_skew);
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT domain_move(p_bucket, p_domain_key, 'blocked', p_reason, p_actor, now() + p_skew, true) THEN
    RETURN false;
  END IF;
  UPDATE domain_slots s SET rest_until = 'infinity', next_at = 'infinity', hold_reason = 'operator', asleep = true
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $$;

-- Ends a block or a rest and forgets what led to it; the rows are readied by domain_requeue. The gap of a domain that
-- was being fetched stays.
CREATE FUNCTION domain_reset(p_bucket smallint, p_domain_key bigint, p_reason text, p_actor text, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_crawled boolean;
BEGIN
  PERFORM frontier_release(p_bucket, p_domain_key, p_skew);
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT d.last_crawled_at IS NOT NULL INTO v_crawled FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  IF v_crawled IS NULL THEN
    RETURN false;
  END IF;
  PERFORM domain_move(p_bucket, p_domain_key, CASE WHEN v_crawled THEN 'active'::domain_status ELSE 'pending' END,
                      p_reason, p_actor, v_now, true);
  UPDATE domains d SET block_count = 0, unreachable_count = 0, errors_consecutive = 0, first_blocked_at = NULL
   WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
  v_slot.budget_left := NULL;
  -- Traps get another chance; what was learnt of shapes and pages stays true.
  DELETE FROM site_prefixes x WHERE x.bucket = p_bucket AND x.domain_key = p_domain_key;
  UPDATE domain_slots s
     -- Who had the domain last must read again what is remembered of it.
     SET lease_epoch = s.lease_epoch + 1, asleep = NOT v_crawled, rest_until = NULL, refusals = NULL, circuit_good = NULL, circuit_opens = NULL,
         circuit_reasons = NULL, network_failures = 0, network_since = NULL, penalty_ms = 0, good_run = 0,
         expired_runs = 0, budget_left = NULL, budget_until = NULL,
         hold_reason = CASE WHEN s.rest_until IS NULL AND s.hold_reason = 'politeness' THEN s.hold_reason END,
         -- Holds end now; only the gap after a last request outlives a reset.
         next_at = CASE WHEN s.hold_reason = 'politeness' AND s.next_at < 'infinity' THEN s.next_at ELSE v_now END,
         top = slot_top(v_slot, v_now), wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $$;

-- Makes known rows due again, a portion at a time in key order: listings, and with p_all articles too. Answers the last
-- key looked at, or NULL at the end.
CREATE FUNCTION domain_requeue(
  p_bucket smallint, p_domain_key bigint, p_all boolean, p_after bytea, p_limit integer, p_skew interval DEFAULT '0')
RETURNS TABLE (last bytea, requeued integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_hashes bytea[];
  v_sources integer[];
  v_from url_status[];
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT array_agg(x.url_hash ORDER BY x.url_hash) INTO v_hashes
    FROM (SELECT f.url_hash FROM url_frontier f
           WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash > p_after
           ORDER BY f.url_hash LIMIT p_limit) x;
  last := v_hashes[cardinality(v_hashes)];
  requeued := 0;
  IF last IS NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  WITH due AS (
    UPDATE url_frontier f
       SET status = CASE WHEN f.status = 'failed' THEN 'failed' ELSE 'pending' END::url_status, ready = true, due_at = v_now,
           tries = 0, error_code = NULL, error_text = NULL, level = CASE WHEN f.kind = 'channel' THEN f.level ELSE f.priority END,
           budgeted = f.origin IN ('spider', 'archive') AND f.kind <> 'channel'
      FROM (SELECT k.url_hash, k.status FROM url_frontier k
             WHERE k.bucket = p_bucket AND k.domain_key = p_domain_key AND k.url_hash = ANY (v_hashes)) was
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = was.url_hash
       AND NOT f.ready
       AND coalesce(f.error_code, '') NOT IN ('removed', 'moved', 'channel_removed', 'source_deleted')
       AND (f.kind IN ('listing', 'channel') AND f.status IN ('pending', 'failed', 'fetched', 'dead')
            OR p_all AND f.kind = 'article' AND f.status IN ('pending', 'failed', 'fetched', 'dead'))
    RETURNING f.budgeted, f.source_id, was.status, f.kind <> 'channel' AND was.status <> 'failed' AS moved)
  SELECT count(*), count(*) FILTER (WHERE d.budgeted), array_agg(d.source_id) FILTER (WHERE d.moved),
         array_agg(d.status) FILTER (WHERE d.moved)
    INTO requeued, v_slot.budgeted, v_sources, v_from FROM due d;
  IF v_sources IS NOT NULL THEN
    PERFORM frontier_count_moves(p_bucket, v_now, v_sources, v_from, 'pending');
  END IF;
  UPDATE domain_slots s SET queued = s.queued + requeued, budgeted = s.budgeted + v_slot.budgeted, wake_at = v_now
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN NEXT;
END $$;

-- Sets what an operator decides of a domain: its own delay, budget and group of fetchers. NULL: as configured.
CREATE FUNCTION domain_configure(
  p_bucket smallint, p_domain_key bigint, p_delay_ms integer, p_budget integer, p_pool text, p_default_budget integer,
  p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_slot domain_slots;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- A run under way gets or loses the difference at once; woken, promotion offers the rows again.
  -- To or from no limit, nothing is left of it: NULL ends it.
  v_slot.budget_left := v_slot.budget_left + coalesce(p_budget, nullif(p_default_budget, 0))
                        - coalesce(v_slot.budget_max, nullif(p_default_budget, 0));
  UPDATE domain_slots s
     SET configured_delay_ms = p_delay_ms, budget_max = p_budget, budget_left = v_slot.budget_left,
         budget_until = CASE WHEN v_slot.budget_left IS NOT NULL THEN s.budget_until END,
         pool = coalesce(p_pool, 'default'), own_pool = coalesce(p_pool, 'default'), render_until = NULL,
         wake_at = now() + p_skew
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $$;

-- Rows that robots.txt forbade are judged again, a portion at a time: the fetcher's gate decides, without a request.
-- Answers how many were revived; the robots row remembers where to go on.
CREATE FUNCTION frontier_revive(p_bucket smallint, p_domain_key bigint, p_limit integer, p_skew interval DEFAULT '0')
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_after bytea;
  v_last bytea;
  v_count integer;
  v_budgeted integer;
  v_sources integer[];
BEGIN
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  SELECT min(r.revive_after) INTO v_after FROM robots r WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key;
  IF v_after IS NULL THEN
    RETURN 0;
  END IF;
  WITH part AS (
    SELECT f.url_hash FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash > v_after
     ORDER BY f.url_hash LIMIT p_limit
  ), revived AS (
    UPDATE url_frontier f SET status = 'pending', ready = true, due_at = v_now, error_code = NULL, error_text = NULL
      FROM part p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash
       AND f.status = 'dead' AND f.error_code = 'robots_blocked'
    RETURNING f.budgeted, f.source_id, f.kind)
  SELECT (SELECT p.url_hash FROM part p ORDER BY p.url_hash DESC LIMIT 1), (SELECT count(*) FROM revived),
         (SELECT count(*) FROM revived r WHERE r.budgeted),
         (SELECT array_agg(r.source_id) FROM revived r WHERE r.kind NOT IN ('channel', 'probe'))
    INTO v_last, v_count, v_budgeted, v_sources;
  IF v_sources IS NOT NULL THEN
    PERFORM frontier_count_moves(p_bucket, v_now, v_sources, array_fill('dead'::url_status, ARRAY[cardinality(v_sources)]),
                                 'pending');
  END IF;
  UPDATE robots r SET revive_after = v_last
   WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key AND r.revive_after IS NOT NULL;
  IF v_count > 0 THEN
    UPDATE domain_slots s SET queued = s.queued + v_count, budgeted = s.budgeted + v_budgeted, wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_count;
END $$;

-- One request to a domain that is not leased, for somebody else's robots.txt that leads there: takes its turn and keeps
-- the gap after it. A request's headers come within ten seconds or not at all.
CREATE FUNCTION domain_borrow(
  p_bucket smallint, p_domain_key bigint, p_name text, p_parent text, p_default_delay_ms integer, p_skew interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
BEGIN
  INSERT INTO domains (bucket, domain_key, name, parent_domain, status_since, first_seen_at)
  VALUES (p_bucket, p_domain_key, p_name, p_parent, v_now, v_now) ON CONFLICT DO NOTHING;
  INSERT INTO domain_slots (bucket, domain_key, next_at) VALUES (p_bucket, p_domain_key, v_now) ON CONFLICT DO NOTHING;
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF v_slot.lease_owner IS NOT NULL OR v_slot.next_at > v_now OR v_slot.rest_until IS NOT NULL THEN
    RETURN false;
  END IF;
  UPDATE domain_slots s
     SET next_at = v_now + ms(10000 + slot_delay_ms(v_slot, p_default_delay_ms)), hold_reason = 'politeness'
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  RETURN true;
END $$;
