import type { Database } from '../db/index.ts';
import { saveAudit } from '../switches/index.ts';
import { actOnJob } from './act.ts';
import { createJobs } from './create.ts';

/** What bringing sources and jobs together did. */
export type SyncReport = { created: number; resumed: number; unchanged: number };

/**
 * Makes a crawl job for every enabled source that the spider reads and that has none, and resumes those that rest. What
 * is as it should be stays.
 */
export async function syncEnabledSources(
  database: Database,
  { actor, intervalMinutes = 360 }: { actor: string; intervalMinutes?: number },
): Promise<SyncReport> {
  const found = await database.pool.query<{ slug: string; paused: number[]; jobs: number }>(
    `SELECT s.slug, coalesce(array_agg(j.id) FILTER (WHERE j.status = 'paused' AND j.schedule_enabled), '{}') AS paused, count(j.id)::integer AS jobs
       FROM sources s LEFT JOIN jobs j ON j.source_id = s.id AND j.kind = 'crawl' AND j.status <> 'cancelled'
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
