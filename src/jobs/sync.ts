import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { saveAudit } from '../switches/index.ts';
import { actOnJob } from './act.ts';
import { createJobs } from './create.ts';

// Imports have 7102, slots 7103, those who mend domains 7105.
const syncLock = 7104;

/** What a sync did: jobs made, jobs resumed, and sources that had what they need. */
export type SyncReport = { created: number; resumed: number; unchanged: number };

// The first read of a new source is under way when its job is made: the job's own begins in the second half of its
// interval, spread over it by the source's number.
const firstRun = `now() + make_interval(secs => $2::integer * (0.5 + (hashint4(s.id) & 1023) / 2048.0))`;

// A job that ran once, or still will, reads a source no second time; one that rests without its schedule is somebody's wish.
const keepsReading = `j.kind = 'crawl' AND j.status <> 'cancelled' AND (j.interval_seconds IS NOT NULL OR j.status = 'paused')`;

/** Gives new sources that the spider reads their job, once: one that was deleted on purpose does not come back. */
export async function createJobsOfNewSources(
  db: Queryable,
  { actor, intervalSeconds }: { actor: string; intervalSeconds: number },
): Promise<number> {
  const result = await db.query(
    `WITH wanted AS (
       SELECT s.id FROM sources s WHERE s.enabled AND s.ingestion_mode IN ('spider', 'both') AND s.job_made_at IS NULL
        ORDER BY s.id LIMIT 10000 FOR UPDATE SKIP LOCKED
     ), noted AS (
       UPDATE sources s SET job_made_at = now() FROM wanted w WHERE s.id = w.id
     ), made AS (
       INSERT INTO jobs (kind, status, source_id, interval_seconds, next_run_at, created_by)
       SELECT 'crawl', 'scheduled', s.id, $2::integer, ${firstRun}, $1 FROM wanted s
        WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.source_id = s.id AND ${keepsReading})
       RETURNING id)
     INSERT INTO job_events (job_id, to_status, action, actor) SELECT id, 'scheduled', 'create', $1 FROM made`,
    [actor, intervalSeconds],
  );
  return result.rowCount ?? 0;
}

/**
 * Makes a crawl job for every enabled source that the spider reads and that has none which recurs, and resumes those that
 * rest. What is as it should be stays.
 */
export function syncEnabledSources(
  database: Database,
  options: { actor: string; intervalMinutes: number },
): Promise<SyncReport> {
  return database.withTransaction(async (tx) => {
    // One at a time: of two that look before either writes each would make every job. The work is done on other
    // connections, and nobody waits: whoever did would keep one that it needs.
    await tx.query(`SET LOCAL idle_in_transaction_session_timeout = '5min'`);
    const turn = await tx.query<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock(${syncLock}) AS taken`);
    if (!turn.rows[0]!.taken)
      throw new AppError('busy', 'jobs are being synced already', {
        httpStatus: 409,
        retry: true,
        advice: 'Try again in a minute.',
      });
    return syncSources(database, options);
  });
}

async function syncSources(
  database: Database,
  { actor, intervalMinutes }: { actor: string; intervalMinutes: number },
): Promise<SyncReport> {
  const found = await database.pool.query<{ slug: string; paused: number[]; jobs: number }>(
    `SELECT s.slug, coalesce(array_agg(j.id) FILTER (WHERE j.status = 'paused' AND j.schedule_enabled), '{}') AS paused, count(j.id)::integer AS jobs
       FROM sources s LEFT JOIN jobs j ON j.source_id = s.id AND ${keepsReading}
      WHERE s.enabled AND s.ingestion_mode IN ('spider', 'both') GROUP BY s.id, s.slug ORDER BY s.id`,
  );
  const missing = found.rows.filter((row) => row.jobs === 0);
  const paused = found.rows.flatMap((row) => row.paused);
  const by = { actor };
  if (missing.length > 0)
    await createJobs(
      database,
      missing.map(({ slug }) => ({ source: slug, intervalMinutes })),
      by,
    );
  for (const id of paused) await actOnJob(database, id, 'resume', { ...by, reason: 'its source is enabled' });
  await database.pool.query(
    'UPDATE sources SET job_made_at = now() WHERE slug = ANY ($1::text[]) AND job_made_at IS NULL',
    [missing.map(({ slug }) => slug)],
  );
  const report = {
    created: missing.length,
    resumed: paused.length,
    unchanged: found.rows.length - missing.length - found.rows.filter((row) => row.paused.length > 0).length,
  };
  await saveAudit(database.pool, { actor, action: 'jobs_sync', subject: 'jobs', detail: report });
  return report;
}
