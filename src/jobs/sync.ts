import type { Queryable } from '../db/index.ts';
import { wakeSchedulers } from './leases.ts';

/** What a sync did: jobs made, jobs resumed, and sources that had what they need. */
export type SyncReport = { created: number; resumed: number; unchanged: number };

// The first read of a new source is under way when its job is made: the job's own begins in the second half of its
// interval, spread over it by the source's number.
const firstRun = `now() + make_interval(secs => $2::integer * (0.5 + (hashint4(s.id) & 1023) / 2048.0))`;

/** Makes crawl jobs for the sources a condition names; one that has a crawl job in whatever status gets no other. */
async function createCrawlJobs(
  db: Queryable,
  where: string,
  { actor, intervalSeconds }: { actor: string; intervalSeconds: number },
): Promise<number> {
  const result = await db.query(
    `WITH wanted AS (
       SELECT s.id FROM sources s WHERE s.enabled AND s.ingestion_mode IN ('spider', 'both') AND ${where}
        ORDER BY s.id LIMIT 10000 FOR UPDATE SKIP LOCKED
     ), noted AS (
       UPDATE sources s SET job_made_at = now() FROM wanted w WHERE s.id = w.id
     ), made AS (
       INSERT INTO jobs (kind, status, source_id, interval_seconds, next_run_at, created_by)
       SELECT 'crawl', 'scheduled', s.id, $2::integer, ${firstRun}, $1 FROM wanted s
        WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.source_id = s.id AND j.kind = 'crawl' AND j.status <> 'cancelled')
       RETURNING id)
     INSERT INTO job_events (job_id, to_status, action, actor) SELECT id, 'scheduled', 'create', $1 FROM made`,
    [actor, intervalSeconds],
  );
  return result.rowCount ?? 0;
}

/** Gives new sources that the spider reads their job, once: one that was deleted on purpose does not come back. */
export async function createJobsOfNewSources(
  db: Queryable,
  options: { actor: string; intervalSeconds: number },
): Promise<number> {
  return createCrawlJobs(db, 's.job_made_at IS NULL', options);
}

/**
 * Makes missing crawl jobs of enabled sources that the spider reads and resumes those that rest, whoever paused them: a
 * sync is an operator's wish that all of them run. Answers what it did.
 */
export async function syncEnabledSources(
  db: Queryable,
  actor: string,
  { intervalSeconds = 360 * 60 }: { intervalSeconds?: number } = {},
): Promise<SyncReport> {
  const before = await db.query<{ sources: number }>(
    `SELECT count(*)::integer AS sources FROM sources s
      WHERE s.enabled AND s.ingestion_mode IN ('spider', 'both')`,
  );
  const created = await createCrawlJobs(
    db,
    `NOT EXISTS (SELECT FROM jobs j WHERE j.source_id = s.id AND j.kind = 'crawl' AND j.status <> 'cancelled')`,
    { actor, intervalSeconds },
  );
  const resumed = await db.query(
    `WITH resting AS (
       SELECT j.id FROM jobs j JOIN sources s ON s.id = j.source_id
        WHERE j.kind = 'crawl' AND j.status = 'paused' AND s.enabled AND s.ingestion_mode IN ('spider', 'both')
        ORDER BY j.id FOR UPDATE OF j
     ), moved AS (
       UPDATE jobs j SET status = 'scheduled', pause_reason = NULL, updated_at = now(),
              next_run_at = CASE WHEN j.interval_seconds IS NULL THEN now()
                            ELSE job_next_run(coalesce(j.phase_at, j.next_run_at, now()), j.interval_seconds,
                                   CASE WHEN j.adaptive_scheduling THEN j.unchanged_runs ELSE 0 END, now()) END
         FROM resting r WHERE j.id = r.id AND j.status = 'paused' RETURNING j.id)
     INSERT INTO job_events (job_id, from_status, to_status, action, reason, actor)
     SELECT id, 'paused', 'scheduled', 'resume', 'sync', $1 FROM moved`,
    [actor],
  );
  await wakeSchedulers(db);
  const counts = { created, resumed: resumed.rowCount ?? 0 };
  return { ...counts, unchanged: Math.max(0, before.rows[0]!.sources - counts.created - counts.resumed) };
}
