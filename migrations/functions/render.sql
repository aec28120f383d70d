-- Whose turn a domain is: its own fetchers' or a browser's. One domain has one lease, so the two never meet, and one
-- next_at, so the gap holds across both.

-- The group of fetchers that renders for a group.
CREATE FUNCTION render_pool(p_own text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN p_own = 'default' THEN 'render' ELSE 'render:' || p_own END $$;

-- The groups that have a browser now: a process of theirs that renders was heard of lately, and nobody switched rendering
-- off. By the database's own clock: heartbeats know no skew.
CREATE FUNCTION render_groups() RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(DISTINCT w.pool), '{}') FROM workers w
   WHERE w.renders AND w.heartbeat_at > now() - interval '30 seconds'
     AND NOT EXISTS (SELECT FROM settings s WHERE s.name = 'switch.rendering' AND s.value = 'false')
$$;

-- Best level of the rows that need a browser. Index: url_frontier_render.
CREATE FUNCTION slot_render_top(s domain_slots) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_level smallint;
BEGIN
  SELECT f.level INTO v_level FROM url_frontier f
   WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.status = 'needs_render'
   ORDER BY f.level DESC LIMIT 1;
  RETURN v_level;
END $$;

-- Decides whose turn it is and what the slot offers then; p_ended: a lease has just ended. Called only for slots that
-- have rows for a browser. Plain rows never wait behind rendering: a browser has the turn when there is nothing else, and
-- after each plain lease for five seconds, which it may let pass. So neither waits for ever.
CREATE FUNCTION slot_turn(s domain_slots, p_ended boolean, p_now timestamptz) RETURNS domain_slots LANGUAGE plpgsql AS $$
DECLARE
  v_was_plain boolean := s.pool = s.own_pool;
  v_render smallint := slot_render_top(s);
  v_plain smallint;
BEGIN
  s.awaits_render := v_render IS NOT NULL;
  s.pool := s.own_pool;
  v_plain := slot_top(s, p_now);
  -- A domain that rests is tried by its own fetchers.
  IF v_render IS NOT NULL AND coalesce(s.rest_until <= p_now, true)
     AND (v_plain IS NULL OR CASE WHEN p_ended THEN v_was_plain ELSE NOT v_was_plain AND s.render_until > p_now END)
     AND s.own_pool = ANY (render_groups()) THEN
    s.pool := render_pool(s.own_pool);
    s.top := v_render;
    IF v_plain IS NULL THEN
      s.render_until := NULL;
    ELSIF p_ended THEN
      s.render_until := greatest(s.next_at, p_now) + interval '5 seconds';
    END IF;
  ELSE
    s.top := v_plain;
    s.render_until := NULL;
  END IF;
  RETURN s;
END $$;

-- Wakes slots whose turn nobody will take because the browsers of their group are gone, and slots that wait for the
-- browser that has come. Promotion decides their turns. Asked every few seconds; where there is nothing to do it reads two
-- empty indexes: domain_slots_rendering and domain_slots_unrendered.
CREATE FUNCTION render_tend(p_limit integer, p_skew interval DEFAULT '0') RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_groups text[] := render_groups();
  v_left integer;
  v_come integer := 0;
BEGIN
  UPDATE domain_slots s SET wake_at = v_now
    FROM (SELECT x.bucket, x.domain_key FROM domain_slots x
           WHERE x.pool <> x.own_pool AND x.lease_owner IS NULL AND x.own_pool <> ALL (v_groups)
             AND coalesce(x.wake_at, 'infinity') > v_now
           ORDER BY x.bucket, x.domain_key LIMIT p_limit FOR UPDATE SKIP LOCKED) x
   WHERE s.bucket = x.bucket AND s.domain_key = x.domain_key;
  GET DIAGNOSTICS v_left = ROW_COUNT;
  IF cardinality(v_groups) > 0 THEN
    UPDATE domain_slots s SET wake_at = v_now
      FROM (SELECT x.bucket, x.domain_key FROM domain_slots x
             WHERE x.awaits_render AND x.pool = x.own_pool AND x.top IS NULL AND x.lease_owner IS NULL
               AND x.own_pool = ANY (v_groups) AND coalesce(x.rest_until <= v_now, true)
               AND coalesce(x.wake_at, 'infinity') > v_now
             ORDER BY x.bucket, x.domain_key LIMIT p_limit FOR UPDATE SKIP LOCKED) x
     WHERE s.bucket = x.bucket AND s.domain_key = x.domain_key;
    GET DIAGNOSTICS v_come = ROW_COUNT;
  END IF;
  RETURN v_left + v_come;
END $$;
