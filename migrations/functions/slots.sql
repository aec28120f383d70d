-- What all functions of the hot path share. Each of those is one round trip in autocommit and has the same shape: lock
-- slots first, in one statement, then read and write rows in later statements. As one statement with CTEs the lease was
-- shown to hand out rows settled between its snapshot and its lock; as a client-driven transaction a frozen worker would
-- keep its locks. Every function takes p_skew (0 in production) so that tests move time.

-- Gap between two requests to a domain: the largest of the wishes, plus what 429s have added.
CREATE FUNCTION slot_delay_ms(s domain_slots, p_default integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(coalesce((s).robots_delay_ms, 0), coalesce((s).configured_delay_ms, 0), coalesce((s).source_delay_ms, 0),
                  p_default) + (s).penalty_ms
$$;

CREATE FUNCTION ms(p_ms double precision) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT p_ms * interval '1 millisecond' $$;

-- Whether budgeted rows may be handed out: no run has begun, the last one is over, or something of it is left.
CREATE FUNCTION slot_budget_open(s domain_slots, p_now timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT (s).budget_left IS NULL OR (s).budget_left > 0 OR (s).budget_until <= p_now $$;

-- Pages a run of a domain may fetch; NULL: without limit. p_budget is what is configured: 0 is no limit but the domain's
-- own, NULL that budgets are off.
CREATE FUNCTION slot_full_budget(s domain_slots, p_budget integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN p_budget IS NOT NULL THEN coalesce((s).budget_max, nullif(p_budget, 0)) END $$;

-- How many more rows of a domain may be readied for a refresh.
CREATE FUNCTION slot_refresh_room(s domain_slots, p_budget integer, p_now timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_budget IS NULL THEN 1000
         ELSE CASE WHEN (s).budget_left IS NULL OR (s).budget_until <= p_now THEN coalesce((s).budget_max, nullif(p_budget, 0), 1000)
              ELSE (s).budget_left END END - (s).budgeted
$$;

-- The level a budgeted row stands at once the domain's score has its say.
CREATE FUNCTION shifted_level(p_level integer, p_shift integer) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN p_level IS NOT NULL THEN least(10, greatest(1, p_level + p_shift))::smallint END $$;

-- The next two are PL/pgSQL, whose plans live as long as the session; SQL functions with a subquery are planned anew in
-- every transaction. They take the slot as it will be, which is why callers change a copy and write it once.

-- Best level a domain has to offer: of its free rows, and of the budgeted ones while the budget is open; in a browser's
-- turn, of the rows that need one.
CREATE FUNCTION slot_top(s domain_slots, p_now timestamptz) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_free smallint;
  v_budgeted smallint;
BEGIN
  IF s.pool <> s.own_pool THEN
    RETURN slot_render_top(s);
  END IF;
  SELECT f.level INTO v_free FROM url_frontier f
   WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND NOT f.budgeted
   ORDER BY f.level DESC LIMIT 1;
  IF s.budgeted > 0 AND slot_budget_open(s, p_now) THEN
    SELECT shifted_level(f.level, s.shift) INTO v_budgeted FROM url_frontier f
     WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.ready AND f.budgeted
     ORDER BY f.level DESC LIMIT 1;
  END IF;
  RETURN greatest(v_free, v_budgeted);
END $$;

-- When promotion has something to do for a domain: the next retry or poll, the next refresh there is room for, the end
-- of a used budget, or of a browser's turn, or of the rest that kept one away.
CREATE FUNCTION slot_wake(s domain_slots, p_budget integer, p_refresh boolean, p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_parked timestamptz;
  v_refresh timestamptz;
BEGIN
  SELECT f.due_at INTO v_parked FROM url_frontier f
   WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key
     AND NOT f.ready AND f.due_at IS NOT NULL AND f.status <> 'fetched' AND (p_refresh OR f.status <> 'duplicate')
   ORDER BY f.due_at LIMIT 1;
  IF p_refresh AND slot_refresh_room(s, p_budget, p_now) > 0 THEN
    SELECT f.due_at INTO v_refresh FROM url_frontier f
     WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.status = 'fetched' AND f.due_at IS NOT NULL
     ORDER BY f.due_at LIMIT 1;
  END IF;
  RETURN least(v_parked, v_refresh, CASE WHEN s.budget_left <= 0 AND s.budget_until > p_now THEN s.budget_until END,
               s.render_until, CASE WHEN s.awaits_render AND s.rest_until > p_now THEN s.rest_until END);
END $$;

-- How much of its budget a lease has reserved: its budgeted URLs in flight, without those in p_except. What a browser
-- is given was paid for when it was found to need one.
CREATE FUNCTION slot_reserved(s domain_slots, p_except bytea[]) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF s.budget_left IS NULL OR s.in_flight IS NULL THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*)::integer FROM unnest(s.in_flight) h(hash)
            JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.url_hash = h.hash
           WHERE f.budgeted AND f.status <> 'needs_render' AND (p_except IS NULL OR h.hash <> ALL (p_except)));
END $$;
