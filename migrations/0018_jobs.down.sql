ALTER TABLE sources DROP COLUMN job_made_at;
DROP TABLE execution_logs;
DROP TABLE job_executions;
DROP TABLE job_events;
DROP TABLE jobs;
DROP TYPE log_category;
DROP TYPE execution_status;
DROP TYPE job_status;
DROP TYPE job_kind;
