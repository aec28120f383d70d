import type { Database, Queryable } from '../db/index.ts';
import { loadSources } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { intervalNow } from './interval.ts';
import { findJob, type Job, jobState, unknownJob } from './jobs.ts';
import { type JobWishes, jobInterval, jobMetadata, jobUrl } from './new-job.ts';
import { placeJobs, takeSlotTurn } from './placing.ts';
import { isLegalMove, type JobStatus } from './states.ts';

/** What a change makes of where a job stands. */
export type Standing = {
  status: JobStatus;
  /** Whether it gets a time anew. */
  isPlaced: boolean;
  returnsTo: 'paused' | null;
};

type Schedule = Pick<Job, 'status' | 'intervalSeconds' | 'scheduleEnabled' | 'returnsTo' | 'pauseReason'>;

/**
 * Where a job stands when its schedule has changed. A schedule that is added makes a completed job recur. One that is
 * turned off or taken away lets a waiting job rest: nothing runs that nobody asked for. What is due at once or runs ends
 * first, and rests then. Turning a schedule on again resumes the job, unless its source rests.
 */
export function decideStanding(
  job: Schedule,
  wanted: Pick<Schedule, 'intervalSeconds' | 'scheduleEnabled'>,
): Standing {
  const { status } = job;
  const wasOn = job.scheduleEnabled && job.intervalSeconds !== null;
  const isOn = wanted.scheduleEnabled && wanted.intervalSeconds !== null;
  const stays = {
    status,
    isPlaced: false,
    returnsTo: job.returnsTo === 'paused' ? ('paused' as const) : null,
  };
  switch (status) {
    case 'scheduled':
      // A retry of a job that runs once waits here too, and has no schedule that could go.
      if (wasOn && !isOn) return { status: 'paused', isPlaced: false, returnsTo: null };
      return { ...stays, isPlaced: isOn && wanted.intervalSeconds !== job.intervalSeconds };
    case 'completed':
      return isOn ? { status: 'scheduled', isPlaced: true, returnsTo: null } : stays;
    case 'paused':
      return isOn && !job.scheduleEnabled && job.pauseReason !== 'source_disabled'
        ? { status: 'scheduled', isPlaced: true, returnsTo: null }
        : stays;
    case 'pending':
    case 'running':
      if (!wanted.scheduleEnabled) return { ...stays, returnsTo: 'paused' };
      return wanted.scheduleEnabled && !job.scheduleEnabled ? { ...stays, returnsTo: null } : stays;
    default:
      return stays;
  }
}

/** Changes a job: what is left out stays. A cancelled job does not change any more. */
export async function changeJob(
  database: Database,
  id: number,
  wishes: JobWishes,
  { actor, skewMs = 0 }: { actor: string; skewMs?: number },
): Promise<Job> {
  const interval = jobInterval(wishes);
  return database.withTransaction(async (tx) => {
    // The turn before the row, as everybody takes them.
    await takeSlotTurn(tx);
    await tx.query('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [id]);
    const before = await findJob(tx, id);
    if (before === null) throw unknownJob(id);
    if (before.status === 'cancelled') throw jobState(before, 'changed');
    const wanted = {
      intervalSeconds: interval === undefined ? before.intervalSeconds : interval,
      scheduleEnabled: wishes.scheduleEnabled ?? before.scheduleEnabled,
      adaptiveScheduling: wishes.adaptiveScheduling ?? before.adaptiveScheduling,
      unchangedRuns: before.unchangedRuns,
    };
    const standing = decideStanding(before, wanted);
    if (standing.status !== before.status && !isLegalMove(before.status, standing.status))
      throw jobState(before, 'changed');
    const seconds = standing.isPlaced ? intervalNow(wanted) : null;
    const [next = null] = seconds === null ? [] : await placeJobs(tx, [seconds], skewMs);
    await saveChange(tx, before, {
      ...wanted,
      ...standing,
      next,
      url: await changedUrl(tx, before, wishes.url),
      metadata: wishes.metadata === undefined ? null : await jobMetadata(before.kind, wishes.metadata),
      maxRetries: wishes.maxRetries ?? before.maxRetries,
      retryBackoffSeconds: wishes.retryBackoffSeconds ?? before.retryBackoffSeconds,
      maxPages: wishes.maxPages === undefined ? before.maxPages : wishes.maxPages,
      maxDepth: wishes.maxDepth === undefined ? before.maxDepth : wishes.maxDepth,
    });
    const { metadata: _metadata, ...told } = wishes;
    await saveAudit(tx, { actor, action: 'job_change', subject: String(id), detail: told });
    if (standing.status !== before.status)
      await tx.query(
        `INSERT INTO job_events (job_id, from_status, to_status, action, actor) VALUES ($1, $2, $3, 'schedule', $4)`,
        [id, before.status, standing.status, actor],
      );
    await tx.query(`SELECT pg_notify('outrider_jobs', $1)`, [String(id)]);
    return (await findJob(tx, id))!;
  });
}

async function changedUrl(
  tx: Queryable,
  before: Job,
  wanted: string | null | undefined,
): Promise<string | null> {
  if (wanted === undefined || wanted === null) return wanted === null ? null : before.url;
  const [source = null] = before.sourceId === null ? [] : await loadSources(tx, [before.sourceId]);
  return jobUrl(wanted, source);
}

type Change = Pick<
  Job,
  | 'url'
  | 'intervalSeconds'
  | 'scheduleEnabled'
  | 'adaptiveScheduling'
  | 'maxRetries'
  | 'retryBackoffSeconds'
  | 'maxPages'
  | 'maxDepth'
> &
  Standing & { next: Date | null; metadata: string | null };

/** Writes a change; the status it was decided for is held by the row's lock, and named all the same. */
async function saveChange(tx: Queryable, before: Job, change: Change): Promise<void> {
  await tx.query(
    `UPDATE jobs SET url = $3, interval_seconds = $4, schedule_enabled = $5, adaptive_scheduling = $6,
            -- A schedule of another length begins anew.
            unchanged_runs = CASE WHEN interval_seconds IS DISTINCT FROM $4 OR NOT $6 THEN 0 ELSE unchanged_runs END,
            max_retries = $7, retry_backoff_seconds = $8, max_pages = $9, max_depth = $10,
            metadata = coalesce($11::jsonb, metadata), status = $12::job_status, returns_to = $13::job_status,
            pause_reason = CASE WHEN $12::job_status = 'paused' THEN coalesce(pause_reason, 'operator') END,
            next_run_at = CASE WHEN $12::job_status = 'paused' THEN NULL ELSE coalesce($14::timestamptz, next_run_at) END,
            phase_at = coalesce($14::timestamptz, phase_at), off_phase = off_phase AND $14::timestamptz IS NULL, updated_at = now()
      WHERE id = $1 AND status = $2::job_status`,
    [
      before.id,
      before.status,
      change.url,
      change.intervalSeconds,
      change.scheduleEnabled,
      change.adaptiveScheduling,
      change.maxRetries,
      change.retryBackoffSeconds,
      change.maxPages,
      change.maxDepth,
      change.metadata,
      change.status,
      change.returnsTo,
      change.next,
    ],
  );
}

/** Deletes a job with its executions and their logs. One that runs is cancelled first. */
export async function deleteJob(database: Database, id: number, actor: string): Promise<Job> {
  return database.withTransaction(async (tx) => {
    await tx.query('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [id]);
    const job = await findJob(tx, id);
    if (job === null) throw unknownJob(id);
    if (job.status === 'running') throw jobState(job, 'deleted');
    await tx.query(`DELETE FROM jobs WHERE id = $1 AND status <> 'running'`, [id]);
    await saveAudit(tx, {
      actor,
      action: 'job_delete',
      subject: String(id),
      detail: { kind: job.kind, source: job.source, status: job.status },
    });
    return job;
  });
}
