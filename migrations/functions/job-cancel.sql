-- Cancels a job, running or not. Whoever runs it has lost its token and changes nothing more: the execution has ended with
-- this. Answers what the job was, or NULL: nothing that can be cancelled.
CREATE FUNCTION job_cancel(p_job_id integer, p_reason text, p_actor text, p_skew interval DEFAULT '0')
RETURNS job_status LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := now() + p_skew;
  v_job jobs;
BEGIN
  SELECT * INTO v_job FROM jobs j
   WHERE j.id = p_job_id AND j.status IN ('pending', 'scheduled', 'running', 'paused') FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE job_executions e
     SET status = 'cancelled', completed_at = greatest(v_now, e.started_at), error_message = p_reason
   WHERE e.id = v_job.execution_id AND e.status = 'running';
  UPDATE jobs j
     SET status = 'cancelled', lock_token = NULL, locked_by = NULL, heartbeat_at = NULL, execution_id = NULL,
         pause_reason = NULL, returns_to = NULL, next_run_at = NULL, updated_at = v_now
   WHERE j.id = p_job_id AND j.status IN ('pending', 'scheduled', 'running', 'paused');
  INSERT INTO job_events (job_id, at, from_status, to_status, action, reason, actor, execution_id)
  VALUES (p_job_id, v_now, v_job.status, 'cancelled', 'cancel', p_reason, p_actor, v_job.execution_id);
  PERFORM pg_notify('outrider_jobs', p_job_id::text);
  RETURN v_job.status;
END $$;
