import type { Database, Queryable } from '../db/index.ts';
import type { Source } from '../sources/index.ts';
import { findJob, type Job } from './jobs.ts';
import {
  jobInterval,
  jobMetadata,
  jobSource,
  jobSources,
  jobUrl,
  jobWarnings,
  type NewJob,
} from './new-job.ts';
import { placeJobs } from './placing.ts';

/** A job that was made, and what somebody should think over. */
export type CreatedJob = { job: Job; warnings: string[] };

/** Makes a job: a recurring one gets the least filled slot of its interval, one without a schedule is due at once. */
export async function createJob(
  database: Database,
  wanted: NewJob,
  by: { actor: string; skewMs?: number },
): Promise<CreatedJob> {
  const row = await checkJob(await jobSources(database.pool, [wanted]), wanted);
  const job = await database.withTransaction(async (tx) => {
    const [id] = await insertJobs(tx, [row], by);
    return (await findJob(tx, id!))!;
  });
  return { job, warnings: jobWarnings(wanted) };
}

/** Makes many jobs in one go: the slots are read once, and each job sees those before it. Answers their numbers. */
export async function createJobs(
  database: Database,
  wanted: readonly NewJob[],
  by: { actor: string; skewMs?: number },
): Promise<number[]> {
  const sources = await jobSources(database.pool, wanted);
  const rows: NewRow[] = [];
  for (const one of wanted) rows.push(await checkJob(sources, one));
  return database.withTransaction((tx) => insertJobs(tx, rows, by));
}

/** A job that can be stored, before it has its time. */
export type NewRow = {
  kind: string;
  sourceId: number | null;
  /** Its source rests, so it does. */
  isHeld: boolean;
  url: string | null;
  intervalSeconds: number | null;
  scheduleEnabled: boolean;
  adaptiveScheduling: boolean;
  maxRetries: number;
  retryBackoffSeconds: number;
  maxPages: number | null;
  maxDepth: number | null;
  metadata: string;
};

/** Refuses what cannot be run: at its creation, never when its time has come. */
async function checkJob(sources: ReadonlyMap<string | number, Source>, wanted: NewJob): Promise<NewRow> {
  const kind = wanted.kind ?? 'crawl';
  const source = jobSource(sources, kind, wanted.source);
  return {
    kind,
    sourceId: source?.id ?? null,
    isHeld: source !== null && !source.enabled,
    url: wanted.url == null ? null : jobUrl(wanted.url, source),
    intervalSeconds: jobInterval(wanted) ?? null,
    scheduleEnabled: wanted.scheduleEnabled ?? true,
    adaptiveScheduling: wanted.adaptiveScheduling ?? true,
    maxRetries: wanted.maxRetries ?? 3,
    retryBackoffSeconds: wanted.retryBackoffSeconds ?? 60,
    maxPages: wanted.maxPages ?? null,
    maxDepth: wanted.maxDepth ?? null,
    metadata: await jobMetadata(kind, wanted.metadata ?? {}),
  };
}

// A schedule that is off keeps a job and never makes it due: it rests as a paused one does, and resuming turns it on.
const rests = ({ isHeld, scheduleEnabled }: NewRow): boolean => isHeld || !scheduleEnabled;

/** Stores jobs with their events and audit, in one statement each for the slots and the rows. */
export async function insertJobs(
  tx: Queryable,
  rows: readonly NewRow[],
  { actor, skewMs = 0 }: { actor: string; skewMs?: number },
): Promise<number[]> {
  const recurring = rows.flatMap((row) =>
    row.intervalSeconds === null || rests(row) ? [] : [{ row, seconds: row.intervalSeconds }],
  );
  const times =
    recurring.length === 0
      ? []
      : await placeJobs(
          tx,
          recurring.map((one) => one.seconds),
          skewMs,
        );
  const timeOf = new Map(recurring.map(({ row }, index) => [row, times[index]!]));
  const result = await tx.query<{ id: number }>(
    `WITH made AS (
       INSERT INTO jobs (kind, status, source_id, url, interval_seconds, schedule_enabled, adaptive_scheduling, max_retries,
              retry_backoff_seconds, max_pages, max_depth, metadata, pause_reason, next_run_at, phase_at, created_by)
       SELECT r.kind::job_kind, r.status::job_status, r."sourceId", r.url, r."intervalSeconds", r."scheduleEnabled",
              r."adaptiveScheduling", r."maxRetries", r."retryBackoffSeconds", r."maxPages", r."maxDepth", r.metadata::jsonb,
              r."pauseReason", CASE r.status WHEN 'pending' THEN now() + $3 * interval '1 millisecond' ELSE r.at END, r.at, $2
         FROM jsonb_to_recordset($1::jsonb) AS r(kind text, status text, "sourceId" integer, url text,
              "intervalSeconds" integer, "scheduleEnabled" boolean, "adaptiveScheduling" boolean, "maxRetries" smallint,
              "retryBackoffSeconds" integer, "maxPages" integer, "maxDepth" smallint, metadata text, "pauseReason" text,
              at timestamptz)
       RETURNING id, kind, status, source_id, interval_seconds
     ), told AS (
       INSERT INTO job_events (job_id, to_status, action, actor) SELECT id, status, 'create', $2 FROM made
     ), audited AS (
       INSERT INTO audit (actor, action, subject, detail)
       SELECT $2, 'job_create', id::text, jsonb_build_object('kind', kind, 'sourceId', source_id, 'intervalSeconds', interval_seconds)
         FROM made
     )
     SELECT id FROM made ORDER BY id`,
    [JSON.stringify(rows.map((row) => ({ ...row, ...standing(row, timeOf.get(row)) }))), actor, skewMs],
  );
  await tx.query(`SELECT pg_notify('outrider_jobs', '')`);
  return result.rows.map((row) => row.id);
}

function standing(
  row: NewRow,
  at: Date | undefined,
): { status: string; pauseReason: string | null; at: Date | null } {
  if (rests(row))
    return { status: 'paused', pauseReason: row.isHeld ? 'source_disabled' : 'operator', at: null };
  return { status: at === undefined ? 'pending' : 'scheduled', pauseReason: null, at: at ?? null };
}
