-- A role for fetchers: it does all the work of one and sees no secret. What is not named here is not granted, so a new
-- table is out of reach until somebody puts it here.

-- Gives a role what a fetcher needs and takes away what it had besides. Of settings, sources and channels it only reads;
-- where a poll changes a channel, a function does it with its owner's rights.
CREATE FUNCTION fetcher_grant(p_role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_schema text := quote_ident(current_schema());
  v_role text := quote_ident(p_role);
  v_table text;
  v_function regprocedure;
BEGIN
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %s FROM %s', v_schema, v_role);
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', v_schema, v_role);
  -- The hot tables, by their key, and the logs and counts, which have none.
  FOR v_table IN
    SELECT c.oid::regclass::text FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND (c.relname IN ('crawl_log', 'counter_deltas', 'execution_reports') OR EXISTS (
         SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
          WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'bucket'))
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s', v_table, v_role);
  END LOOP;
  FOREACH v_table IN ARRAY ARRAY['settings', 'sources', 'channels', 'channel_addresses', 'sinks', 'sink_states', 'jobs',
                                 'job_executions', 'schema_migrations'] LOOP
    EXECUTE format('GRANT SELECT ON %I TO %s', v_table, v_role);
  END LOOP;
  EXECUTE format('GRANT UPDATE (cpu_ms, peak_memory_bytes) ON job_executions TO %s', v_role);
  EXECUTE format('GRANT SELECT, INSERT ON discoveries, execution_found TO %s', v_role);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO %s', v_role);
  -- Whoever owns the tables need not be one who may change roles. Processes ask for these limits themselves; only a
  -- pooler needs them here.
  BEGIN
    EXECUTE format('ALTER ROLE %s SET lock_timeout = ''3s''', v_role);
    EXECUTE format('ALTER ROLE %s SET idle_in_transaction_session_timeout = ''10s''', v_role);
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END;
  -- With a search path of their own: what a caller puts into its temporary schema must not be met with other rights.
  FOR v_function IN
    SELECT p.oid FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
       AND p.proname IN ('channel_move', 'channel_add_files', 'channel_drop_file')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %s, pg_temp', v_function, v_schema);
  END LOOP;
END $$;

-- Remembers the role, so that a later version gives it what that one's tables and functions need.
CREATE FUNCTION fetcher_add(p_role text, p_actor text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fetcher_grant(p_role);
  PERFORM setting_set('fetcher_roles', coalesce((
    SELECT jsonb_agg(DISTINCT r.role) FROM (
      SELECT jsonb_array_elements_text(s.value) AS role FROM settings s WHERE s.name = 'fetcher_roles'
      UNION SELECT p_role) r), '[]'), p_actor);
END $$;

-- Called when functions were made anew; roles that are gone are passed over.
CREATE FUNCTION fetcher_regrant() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_role text;
BEGIN
  FOR v_role IN
    SELECT r.role FROM settings s CROSS JOIN LATERAL jsonb_array_elements_text(s.value) AS r(role)
      JOIN pg_roles p ON p.rolname = r.role
     WHERE s.name = 'fetcher_roles'
  LOOP
    PERFORM fetcher_grant(v_role);
  END LOOP;
END $$;
