-- Switches and settings that operators change while everything runs.

CREATE FUNCTION setting_set(p_name text, p_value jsonb, p_actor text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO settings (name, value, changed_by) VALUES (p_name, p_value, p_actor)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = now(), changed_by = excluded.changed_by
$$;

CREATE FUNCTION switch_set(p_name text, p_on boolean, p_actor text, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM setting_set('switch.' || p_name, to_jsonb(p_on), p_actor);
  INSERT INTO audit (actor, action, subject, detail)
  VALUES (p_actor, 'switch', p_name, jsonb_strip_nulls(jsonb_build_object('on', p_on, 'reason', p_reason)));
  -- Budgets off: runs under way end, and promotion, woken, offers what they held. Refreshes on: domains that were not
  -- woken for them are.
  IF p_name = 'budgets' AND NOT p_on THEN
    UPDATE domain_slots SET budget_left = NULL, budget_until = NULL, wake_at = now() WHERE budget_left IS NOT NULL;
  ELSIF p_name = 'refresh' AND p_on THEN
    UPDATE domain_slots SET wake_at = now() WHERE wake_at IS NULL OR wake_at > now();
  ELSIF p_name = 'rendering' AND NOT p_on THEN
    UPDATE domain_slots SET wake_at = now() WHERE pool <> own_pool;
  END IF;
END $$;

-- The budget that is configured. When it has changed, runs under way get or lose the difference at once.
CREATE FUNCTION budget_set(p_budget integer, p_actor text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_old integer;
BEGIN
  -- Read first: a role that may not change settings needs no right to find that nothing is to be changed.
  SELECT (value #>> '{}')::integer INTO v_old FROM settings WHERE name = 'max_pages_per_run';
  IF v_old = p_budget THEN
    RETURN;
  END IF;
  SELECT (value #>> '{}')::integer INTO v_old FROM settings WHERE name = 'max_pages_per_run' FOR UPDATE;
  IF v_old = p_budget THEN
    RETURN;
  END IF;
  PERFORM setting_set('max_pages_per_run', to_jsonb(p_budget), p_actor);
  -- To or from 0, which is no limit, nothing is left of a run: NULL ends it.
  UPDATE domain_slots
     SET budget_left = budget_left + nullif(p_budget, 0) - nullif(v_old, 0),
         budget_until = CASE WHEN p_budget > 0 AND v_old > 0 THEN budget_until END, wake_at = now()
   WHERE budget_left IS NOT NULL AND budget_max IS NULL AND v_old IS NOT NULL;
END $$;
