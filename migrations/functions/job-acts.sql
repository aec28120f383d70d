-- What people do with jobs. Each is one statement for its caller: the new status, the event and the audit come together.

-- Moves a job that does not run where it stands in one of the statuses that the action is legal in, and answers the one it
-- stood in; NULL: it stands elsewhere now, or there is no such job. The caller names the statuses out of the one table of
-- moves in src/jobs/states.ts. Two acts at once meet at the row's lock: the second finds what the first has left.
CREATE FUNCTION job_act(
  p_job_id integer, p_action text, p_from job_status[], p_to job_status, p_next timestamptz, p_reason text, p_actor text,
  p_skew interval DEFAULT '0')
RETURNS job_status LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_from job_status;
BEGIN
  SELECT status INTO v_from FROM jobs WHERE id = p_job_id AND status = ANY (p_from) AND status <> 'running' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE jobs SET
      status = p_to,
      next_run_at = CASE p_to WHEN 'pending' THEN v_now WHEN 'scheduled' THEN coalesce(p_next, v_now) END,
      phase_at = CASE WHEN p_to = 'scheduled' THEN p_next ELSE phase_at END,
      off_phase = false,
      -- Whoever resumes a job wants it to run, also one whose schedule was off.
      schedule_enabled = schedule_enabled OR p_action = 'resume',
      -- A run that somebody asks for has all its retries before it.
      retries = CASE WHEN p_action IN ('retry', 'force_run') THEN 0 ELSE retries END,
      pause_reason = CASE WHEN p_to = 'paused' THEN 'operator' END,
      returns_to = CASE WHEN p_action = 'force_run' AND v_from = 'paused' THEN 'paused'::job_status END,
      updated_at = v_now
   WHERE id = p_job_id AND status = ANY (p_from);
  INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor)
  VALUES (p_job_id, v_now, v_from, p_to, p_action, p_reason, p_actor);
  PERFORM job_audit(p_job_id, p_action, v_from, p_to, p_reason, p_actor);
  IF p_to IN ('pending', 'scheduled') THEN
    PERFORM pg_notify('outrider_jobs', p_job_id::text);
  END IF;
  RETURN v_from;
END $$;

-- Writes down who did what to a job.
CREATE FUNCTION job_audit(
  p_job_id integer, p_action text, p_from job_status, p_to job_status, p_reason text, p_actor text)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit (actor, action, subject, detail)
  VALUES (p_actor, 'job_' || p_action, p_job_id::text,
          jsonb_strip_nulls(jsonb_build_object('from', p_from, 'to', p_to, 'reason', p_reason)))
$$;
