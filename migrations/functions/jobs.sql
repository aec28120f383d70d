-- Jobs: who runs one, and what it is when the run ends. src/jobs/states.ts has the table of moves; every update here
-- names the statuses it is legal from, and every change of status is a row of job_events.

-- The first time in phase after now. Runs that found nothing new double the interval, up to a day; it stays a multiple
-- of the interval, so that the phase holds. src/jobs/next-run.ts has the same arithmetic, and a test compares the two.
CREATE FUNCTION job_next_run(p_from timestamptz, p_interval_seconds integer, p_unchanged_runs integer, p_now timestamptz)
RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT p_from + make_interval(secs => (floor(extract(epoch FROM p_now - p_from) / x.step) + 1)::float8 * x.step)
    FROM (SELECT p_interval_seconds::float8 * greatest(1, floor(
            least(p_interval_seconds * 2.0 ^ least(p_unchanged_runs, 30), 86400) / p_interval_seconds))::float8 AS step) x
$$;

-- How long a failed run waits for its next try: doubled each time, an hour at most.
CREATE FUNCTION job_backoff(p_base_seconds integer, p_attempt integer) RETURNS interval LANGUAGE sql IMMUTABLE AS
$$ SELECT make_interval(secs => least(3600, p_base_seconds * 2.0 ^ (least(p_attempt, 30) - 1))::float8) $$;

-- Takes up to p_limit jobs: those whose scheduler stopped in order, with the execution they have, then those that are
-- due, each with a new one. Called with a limit of 0 by a scheduler that has its hands full: it lives.
CREATE FUNCTION job_lease(p_owner text, p_limit integer, p_skew interval DEFAULT '0')
RETURNS TABLE (job_id integer, execution_id bigint, token uuid, taken_over boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_polled timestamptz;
  v_left integer := p_limit;
  v_job jobs;
  v_trigger text;
BEGIN
  -- Made here and not by the migration: a fresh database is empty, so that an export can be read into it.
  INSERT INTO job_scheduler DEFAULT VALUES ON CONFLICT DO NOTHING;
  SELECT s.polled_at INTO v_polled FROM job_scheduler s FOR UPDATE;
  IF v_polled < v_now - interval '15 minutes' THEN
    -- Nobody looked for longer than a slot: what was missed is not caught up. Runs that are late by less than a slot
    -- are as many as on any other day; all others wait for their next time in phase, which spreads them.
    UPDATE jobs j SET next_run_at = job_next_run(j.next_run_at, j.interval_seconds,
                        CASE WHEN j.adaptive_scheduling THEN j.unchanged_runs ELSE 0 END, v_now), updated_at = v_now
     WHERE j.status = 'scheduled' AND NOT j.off_phase AND j.interval_seconds IS NOT NULL
       AND j.next_run_at < v_now - interval '15 minutes';
  ELSIF v_polled > v_now + interval '15 minutes' THEN
    -- The clock has gone back, as when one that was wrong is put right. What got its time from it would wait until the
    -- clock comes there again, for days perhaps, and a lost scheduler would seem alive so long.
    UPDATE jobs j SET next_run_at = least(j.next_run_at, CASE
                        WHEN j.status = 'scheduled' AND j.off_phase THEN v_now + job_backoff(j.retry_backoff_seconds, greatest(j.retries, 1))
                        WHEN j.status = 'scheduled' AND j.interval_seconds IS NOT NULL THEN
                          job_next_run(j.next_run_at, j.interval_seconds,
                            CASE WHEN j.adaptive_scheduling THEN j.unchanged_runs ELSE 0 END, v_now)
                        ELSE v_now END), updated_at = v_now
     WHERE j.status IN ('pending', 'scheduled') AND j.next_run_at > v_now;
    UPDATE jobs j SET heartbeat_at = v_now WHERE j.status = 'running' AND j.heartbeat_at > v_now;
    v_polled := NULL;
  END IF;
  UPDATE job_scheduler s SET polled_at = greatest(v_polled, v_now);

  -- Index: jobs_running.
  FOR v_job IN SELECT * FROM jobs j WHERE j.status = 'running' AND j.handed_back
                ORDER BY j.heartbeat_at LIMIT v_left FOR UPDATE SKIP LOCKED LOOP
    job_id := v_job.id;
    execution_id := v_job.execution_id;
    token := gen_random_uuid();
    taken_over := true;
    UPDATE jobs j SET handed_back = false, lock_token = token, locked_by = p_owner, heartbeat_at = v_now
     WHERE j.id = v_job.id;
    UPDATE job_executions e SET worker = p_owner WHERE e.id = v_job.execution_id;
    v_left := v_left - 1;
    RETURN NEXT;
  END LOOP;

  -- Index: jobs_due, oldest first. Jobs of a disabled source wait for its return.
  FOR v_job IN SELECT * FROM jobs j WHERE j.status IN ('pending', 'scheduled') AND j.next_run_at <= v_now
                  AND NOT EXISTS (SELECT FROM sources s WHERE s.id = j.source_id AND NOT s.enabled)
                ORDER BY j.next_run_at LIMIT v_left FOR UPDATE OF j SKIP LOCKED LOOP
    job_id := v_job.id;
    token := gen_random_uuid();
    taken_over := false;
    v_trigger := CASE WHEN v_job.retries > 0 THEN 'retry'
                      WHEN v_job.status = 'pending' AND (v_job.executions > 0 OR v_job.interval_seconds IS NOT NULL) THEN 'force_run'
                      ELSE 'schedule' END;
    INSERT INTO job_executions (job_id, number, trigger, worker, started_at, retry_attempt)
    VALUES (v_job.id, v_job.executions + 1, v_trigger, p_owner, v_now, v_job.retries)
    RETURNING id INTO execution_id;
    UPDATE jobs j
       SET status = 'running', lock_token = token, locked_by = p_owner, heartbeat_at = v_now, execution_id = job_lease.execution_id,
           executions = j.executions + 1, updated_at = v_now, off_phase = false,
           -- A forced run and a retry come when they come; only a scheduled time says what the phase is.
           phase_at = CASE WHEN v_job.status = 'scheduled' AND NOT v_job.off_phase THEN v_job.next_run_at
                      ELSE coalesce(j.phase_at, v_job.next_run_at) END
     WHERE j.id = v_job.id AND j.status IN ('pending', 'scheduled');
    INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
    VALUES (v_job.id, v_now, v_job.status, 'running', 'lease', v_trigger, p_owner, execution_id);
    RETURN NEXT;
  END LOOP;
END $$;

-- Says that these jobs are being run; answers those that still are this runner's.
CREATE FUNCTION job_beat(p_tokens uuid[], p_skew interval DEFAULT '0') RETURNS SETOF uuid LANGUAGE sql AS $$
  UPDATE jobs SET heartbeat_at = now() + p_skew
   WHERE status = 'running' AND lock_token = ANY (p_tokens) AND NOT handed_back
  RETURNING lock_token
$$;

-- A scheduler that stops in order: its executions go on where it leaves them, with whoever comes next.
CREATE FUNCTION job_hand_back(p_tokens uuid[], p_skew interval DEFAULT '0') RETURNS integer LANGUAGE sql AS $$
  WITH handed AS (
    UPDATE jobs SET handed_back = true, lock_token = gen_random_uuid(), locked_by = NULL, heartbeat_at = now() + p_skew
     WHERE status = 'running' AND lock_token = ANY (p_tokens) RETURNING id),
  told AS (SELECT pg_notify('outrider_jobs', '') FROM handed LIMIT 1)
  SELECT count(*)::integer FROM handed LEFT JOIN told ON true
$$;

-- Ends a run and says what the job is now; NULL: it is somebody else's, and nothing changed. p_sweep: what becomes of
-- rows that still wait under it. A recurring job goes on after a failure: its retries are used first, then its next time
-- comes; only a job that runs once ends as failed.
CREATE FUNCTION job_end(
  p_job_id integer, p_token uuid, p_outcome text, p_error text, p_stack text, p_found_hash bytea, p_metadata jsonb, p_sweep text,
  p_actor text, p_skew interval DEFAULT '0')
RETURNS job_status LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_job jobs;
  v_to job_status;
  v_action text := CASE p_outcome WHEN 'completed' THEN 'complete' ELSE 'fail' END;
BEGIN
  SELECT * INTO v_job FROM jobs j WHERE j.id = p_job_id AND j.status = 'running' AND j.lock_token = p_token FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE job_executions e
     SET status = p_outcome::execution_status, completed_at = greatest(v_now, e.started_at), error_message = p_error,
         error_stack = p_stack, found_hash = p_found_hash, metadata = e.metadata || p_metadata, sweep = p_sweep
   WHERE e.id = v_job.execution_id AND e.status = 'running';
  IF p_outcome = 'completed' AND p_found_hash IS NOT NULL THEN
    v_job.unchanged_runs := CASE WHEN v_job.found_hash = p_found_hash THEN least(v_job.unchanged_runs + 1, 30) ELSE 0 END;
    v_job.found_hash := p_found_hash;
  END IF;
  IF p_outcome = 'failed' AND v_job.retries < v_job.max_retries THEN
    v_to := 'scheduled';
    v_action := 'retry';
    v_job.retries := v_job.retries + 1;
    v_job.off_phase := true;
    v_job.next_run_at := v_now + job_backoff(v_job.retry_backoff_seconds, v_job.retries);
  ELSE
    v_to := CASE WHEN v_job.returns_to = 'paused' THEN 'paused'
                 WHEN v_job.interval_seconds IS NOT NULL AND v_job.schedule_enabled THEN 'scheduled'
                 ELSE p_outcome END::job_status;
    v_job.retries := 0;
    v_job.returns_to := NULL;
    v_job.next_run_at := CASE WHEN v_to = 'scheduled' THEN
      job_next_run(v_job.phase_at, v_job.interval_seconds,
                   CASE WHEN v_job.adaptive_scheduling THEN v_job.unchanged_runs ELSE 0 END, v_now) END;
  END IF;
  UPDATE jobs j
     SET status = v_to, lock_token = NULL, locked_by = NULL, heartbeat_at = NULL, execution_id = NULL, handed_back = false,
         retries = v_job.retries, off_phase = v_job.off_phase, next_run_at = v_job.next_run_at, returns_to = v_job.returns_to,
         unchanged_runs = v_job.unchanged_runs, found_hash = v_job.found_hash, updated_at = v_now,
         pause_reason = CASE WHEN v_to = 'paused' THEN 'operator' END
   WHERE j.id = p_job_id AND j.status = 'running';
  INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
  VALUES (p_job_id, v_now, 'running', v_to, v_action, p_error, p_actor, v_job.execution_id);
  RETURN v_to;
END $$;

-- Jobs whose scheduler was lost: due now, their executions failed, their locks cleared, in one statement. Answers them.
CREATE FUNCTION job_recover(p_lost interval, p_actor text, p_skew interval DEFAULT '0')
RETURNS TABLE (job_id integer, execution_id bigint, worker text) LANGUAGE sql AS $$
  WITH lost AS (
    SELECT j.id, j.execution_id, j.locked_by FROM jobs j
     WHERE j.status = 'running' AND NOT j.handed_back AND j.heartbeat_at < now() + p_skew - p_lost
       FOR UPDATE SKIP LOCKED
  ), ended AS (
    UPDATE job_executions e
       SET status = 'failed', completed_at = greatest(now() + p_skew, e.started_at), sweep = 'free',
           error_message = 'the scheduler that ran it was lost'
      FROM lost l WHERE e.id = l.execution_id AND e.status = 'running'
  ), freed AS (
    UPDATE jobs j
       SET status = 'scheduled', next_run_at = now() + p_skew, off_phase = true, lock_token = NULL, locked_by = NULL,
           heartbeat_at = NULL, execution_id = NULL, updated_at = now() + p_skew
      FROM lost l WHERE j.id = l.id AND j.status = 'running'
  ), noted AS (
    INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
    SELECT l.id, now() + p_skew, 'running', 'scheduled', 'recover', 'no heartbeat from ' || l.locked_by, p_actor, l.execution_id
      FROM lost l)
  SELECT l.id, l.execution_id, l.locked_by FROM lost l
$$;

-- Adds a line to an execution's log that tells what was done to it, numbered under its row's lock like all others.
CREATE FUNCTION execution_say(p_execution_id bigint, p_at timestamptz, p_level text, p_message text)
RETURNS void LANGUAGE sql AS $$
  WITH place AS (UPDATE job_executions SET log_lines = log_lines + 1 WHERE id = p_execution_id RETURNING log_lines)
  INSERT INTO execution_logs (execution_id, id, at, category, level, message)
  SELECT p_execution_id, p.log_lines, p_at, 'lifecycle', p_level, left(p_message, 2000) FROM place p
$$;

-- Cancels a job, running or not; a run under way ends as cancelled, and fetchers learn of it within a second. Answers
-- what the job was, or NULL: nothing that can be cancelled.
CREATE FUNCTION job_cancel(p_job_id integer, p_reason text, p_actor text, p_skew interval DEFAULT '0')
RETURNS job_status LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_job jobs;
BEGIN
  SELECT * INTO v_job FROM jobs j WHERE j.id = p_job_id AND j.status IN ('pending', 'scheduled', 'running', 'paused') FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE job_executions e
     SET status = 'cancelled', completed_at = greatest(v_now, e.started_at), error_message = p_reason, sweep = 'cancelled'
   WHERE e.id = v_job.execution_id AND e.status = 'running';
  UPDATE jobs j
     SET status = 'cancelled', lock_token = NULL, locked_by = NULL, heartbeat_at = NULL, execution_id = NULL, handed_back = false,
         pause_reason = NULL, returns_to = NULL, next_run_at = NULL, updated_at = v_now
   WHERE j.id = p_job_id AND j.status IN ('pending', 'scheduled', 'running', 'paused');
  INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
  VALUES (p_job_id, v_now, v_job.status, 'cancelled', 'cancel', p_reason, p_actor, v_job.execution_id);
  PERFORM execution_say(v_job.execution_id, v_now, 'warn', 'cancelled by ' || p_actor || coalesce(': ' || p_reason, ''));
  PERFORM pg_notify('outrider_jobs', p_job_id::text);
  RETURN v_job.status;
END $$;

-- A source that is disabled takes its jobs along: scheduled ones rest, a run under way ends and its rows are held like
-- all others of the source. A pending job waits as it is, since it is not leased. Enabling gives back those that rest
-- for this reason, in their phase. Index: jobs_source. Answers how many changed.
CREATE FUNCTION job_follow_source(p_source_id integer, p_enabled boolean, p_actor text, p_skew interval DEFAULT '0')
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_job jobs;
  v_changed integer := 0;
  v_to job_status := CASE WHEN p_enabled THEN 'scheduled' ELSE 'paused' END;
BEGIN
  FOR v_job IN SELECT * FROM jobs j WHERE j.source_id = p_source_id
                  AND CASE WHEN p_enabled THEN j.status = 'paused' AND j.pause_reason = 'source_disabled'
                      ELSE j.status IN ('scheduled', 'running') END
                ORDER BY j.id FOR UPDATE LOOP
    UPDATE job_executions e
       SET status = 'cancelled', completed_at = greatest(v_now, e.started_at), error_message = 'the source was disabled', sweep = 'free'
     WHERE e.id = v_job.execution_id AND e.status = 'running';
    UPDATE jobs j
       SET status = v_to,
           -- A forced run of a job that somebody has paused: that is what it comes back to, whatever its source does.
           pause_reason = CASE WHEN p_enabled THEN NULL WHEN j.returns_to = 'paused' THEN 'operator' ELSE 'source_disabled' END,
           returns_to = NULL, lock_token = NULL, locked_by = NULL,
           heartbeat_at = NULL, execution_id = NULL, handed_back = false, off_phase = false, retries = 0, updated_at = v_now,
           next_run_at = CASE WHEN NOT p_enabled THEN CASE WHEN j.returns_to IS NULL THEN j.next_run_at END WHEN j.interval_seconds IS NULL THEN v_now
                         ELSE job_next_run(coalesce(j.phase_at, j.next_run_at, v_now), j.interval_seconds,
                                           CASE WHEN j.adaptive_scheduling THEN j.unchanged_runs ELSE 0 END, v_now) END
     WHERE j.id = v_job.id AND j.status IN ('scheduled', 'running', 'paused');
    INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
    VALUES (v_job.id, v_now, v_job.status, v_to, CASE WHEN p_enabled THEN 'resume' ELSE 'pause' END,
            CASE WHEN p_enabled THEN 'the source was enabled' ELSE 'the source was disabled' END, p_actor, v_job.execution_id);
    PERFORM execution_say(v_job.execution_id, v_now, 'warn', 'cancelled: the source was disabled by ' || p_actor);
    v_changed := v_changed + 1;
  END LOOP;
  IF v_changed > 0 THEN
    PERFORM pg_notify('outrider_jobs', '');
  END IF;
  RETURN v_changed;
END $$;

-- What becomes of up to p_limit rows of one domain that wait under an execution that is over; a full portion means: call
-- again. 'free' makes them ordinary rows. Otherwise what was never fetched is dead with that code, which any producer may
-- submit again, and what was fetched before is what it was: nothing about it is given up. Rows in flight are left to
-- their worker and found by the next sweep. Index: url_frontier_execution.
CREATE FUNCTION execution_sweep(
  p_execution_id bigint, p_bucket smallint, p_domain_key bigint, p_what text, p_limit integer, p_skew interval DEFAULT '0')
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_swept integer;
  v_ready integer;
  v_budgeted integer;
  v_sources integer[];
  v_from url_status[];
  v_to url_status[];
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  IF p_what = 'free' THEN
    UPDATE url_frontier f SET execution_id = NULL
      FROM (SELECT p.url_hash FROM url_frontier p
             WHERE p.execution_id = p_execution_id AND p.bucket = p_bucket AND p.domain_key = p_domain_key
               AND p.status IN ('pending', 'failed', 'needs_render') LIMIT p_limit) p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash;
    GET DIAGNOSTICS v_swept = ROW_COUNT;
    RETURN v_swept;
  END IF;
  WITH part AS (
    SELECT f.url_hash, f.ready, f.budgeted, f.status AS was,
           CASE WHEN f.duplicate_of IS NOT NULL THEN 'duplicate'
                WHEN f.validation_status IN ('valid', 'stub') THEN 'fetched' WHEN f.redirected_to IS NOT NULL THEN 'redirected'
                ELSE 'dead' END::url_status AS becomes
      FROM url_frontier f
     WHERE f.execution_id = p_execution_id AND f.bucket = p_bucket AND f.domain_key = p_domain_key
       AND f.status IN ('pending', 'failed', 'needs_render')
       AND (v_slot.in_flight IS NULL OR f.url_hash <> ALL (v_slot.in_flight))
     LIMIT p_limit
  ), moved AS (
    UPDATE url_frontier f
       SET status = p.becomes, ready = false, level = f.priority,
           -- A listing has no such time: it waits for the next run.
           due_at = CASE WHEN p.becomes IN ('fetched', 'duplicate') AND f.refresh_seconds IS NOT NULL THEN
                      greatest(v_now, f.last_fetched_at + make_interval(secs => f.refresh_seconds)) END,
           error_code = CASE WHEN p.becomes = 'dead' THEN p_what END,
           error_text = CASE WHEN p.becomes = 'dead' THEN 'its run was over before its turn came' END
      FROM part p
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = p.url_hash
    RETURNING f.source_id, f.kind, p.was, f.status, p.ready, p.budgeted)
  SELECT count(*), count(*) FILTER (WHERE m.ready), count(*) FILTER (WHERE m.ready AND m.budgeted),
         array_agg(m.source_id) FILTER (WHERE m.kind <> 'probe'), array_agg(m.was) FILTER (WHERE m.kind <> 'probe'),
         array_agg(m.status) FILTER (WHERE m.kind <> 'probe')
    INTO v_swept, v_ready, v_budgeted, v_sources, v_from, v_to FROM moved m;
  IF v_swept > 0 THEN
    PERFORM frontier_count_moves(p_bucket, v_now, array_agg(x.source_id), array_agg(x.was), x.becomes, x.becomes = 'dead')
       FROM unnest(v_sources, v_from, v_to) AS x(source_id, was, becomes) GROUP BY x.becomes;
    v_slot.queued := v_slot.queued - v_ready;
    v_slot.budgeted := v_slot.budgeted - v_budgeted;
    UPDATE domain_slots s
       SET queued = v_slot.queued, budgeted = v_slot.budgeted,
           -- A leased slot gets its top with the settle that ends the lease.
           top = CASE WHEN s.lease_owner IS NULL THEN slot_top(v_slot, v_now) ELSE s.top END,
           next_at = greatest(s.next_at, v_now), wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_swept;
END $$;

-- Known articles of a domain become due now for an execution, longest unseen first; as promotion does it, they stand two
-- levels below their pages and the domain's budget holds them. Answers how many. Index: url_frontier_refresh.
CREATE FUNCTION execution_refresh(
  p_execution_id bigint, p_bucket smallint, p_domain_key bigint, p_limit integer, p_skew interval DEFAULT '0')
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_count integer;
  v_sources integer[];
BEGIN
  PERFORM FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  WITH known AS (
    SELECT f.url_hash FROM url_frontier f
     WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.status = 'fetched' AND f.kind = 'article'
       AND f.due_at IS NOT NULL AND f.due_at < v_now + interval '500 years'
     ORDER BY f.due_at LIMIT p_limit
  ), due AS (
    UPDATE url_frontier f
       SET status = 'pending', ready = true, due_at = v_now, budgeted = true, level = greatest(1, f.priority - 2), tries = 0,
           execution_id = p_execution_id
      FROM known k WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = k.url_hash
    RETURNING f.source_id)
  SELECT count(*), array_agg(d.source_id) INTO v_count, v_sources FROM due d;
  IF v_count > 0 THEN
    PERFORM frontier_count_moves(p_bucket, v_now, v_sources, array_fill('fetched'::url_status, ARRAY[v_count]), 'pending');
    UPDATE domain_slots s SET queued = s.queued + v_count, budgeted = s.budgeted + v_count, wake_at = v_now
     WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;
  END IF;
  RETURN v_count;
END $$;

-- How many rows hold an execution up, counted up to a bound: they wait or are in flight, and their turn comes within the
-- horizon. A domain that rests or has used its budget keeps its rows beyond it. Index: url_frontier_execution.
CREATE FUNCTION execution_waiting(p_execution_id bigint, p_horizon interval, p_most integer, p_skew interval DEFAULT '0')
RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM (
    SELECT FROM url_frontier f JOIN domain_slots s ON s.bucket = f.bucket AND s.domain_key = f.domain_key
     WHERE f.execution_id = p_execution_id AND f.status IN ('pending', 'failed', 'needs_render')
       -- A page that needs a browser is waited for only where there is one.
       AND CASE WHEN f.status = 'needs_render' THEN s.own_pool = ANY (render_groups())
           ELSE f.due_at < now() + p_skew + p_horizon END
       AND (f.url_hash = ANY (s.in_flight) OR s.next_at < now() + p_skew + p_horizon
            -- A domain that never had a run has no budget to be used up.
            AND NOT coalesce(f.budgeted AND s.budget_left <= 0 AND s.budget_until > now() + p_skew + p_horizon, false))
     LIMIT p_most) x
$$;
