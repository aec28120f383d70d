import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { intervalNow } from './interval.ts';
import { findJob, type Job, jobState, requireJob, unknownJob } from './jobs.ts';
import { cancelJob } from './leases.ts';
import { placeJobs, takeSlotTurn } from './placing.ts';
import { actionMove, type JobAction, type JobStatus } from './states.ts';

/** Who acts on a job, and why. */
export type JobAct = { actor: string; reason?: string | null; skewMs?: number };

const done: Readonly<Record<JobAction, string>> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  retry: 'retried',
  force_run: 'forced to run',
};

/**
 * Does something to a job, if it may be done as the job stands: status, event and audit in one statement, so that of two
 * acts at once exactly one wins. A job that is resumed gets a slot as a new one does.
 */
export async function actOnJob(database: Database, id: number, action: JobAction, act: JobAct): Promise<Job> {
  const { from } = actionMove(action);
  return database.withTransaction(async (tx) => {
    // The turn before the row, as everybody takes them.
    if (action === 'resume') await takeSlotTurn(tx);
    await tx.query('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [id]);
    const before = await requireJob(tx, id);
    if (from.includes(before.status)) await requireOpenSource(tx, before, action);
    let next: Date | null = null;
    if (action === 'resume') {
      // One that runs once is due at once.
      const seconds = intervalNow(before);
      if (seconds !== null) [next = null] = await placeJobs(tx, [seconds], act.skewMs);
    }
    const was = action === 'cancel' ? await cancel(tx, id, act) : await move(tx, id, { action, next, act });
    const job = await findJob(tx, id);
    if (job === null) throw unknownJob(id);
    if (was === null) throw jobState(job, done[action]);
    return job;
  });
}

const skewOf = ({ skewMs = 0 }: JobAct): string => `${skewMs} milliseconds`;

type Moved = { was: JobStatus | null };

async function move(
  tx: Queryable,
  id: number,
  { action, next, act }: { action: JobAction; next: Date | null; act: JobAct },
): Promise<JobStatus | null> {
  const { from, to } = actionMove(action);
  const result = await tx.query<Moved>(
    'SELECT job_act($1, $2, $3::job_status[], $4::job_status, $5, $6, $7, $8::interval) AS was',
    [id, action, from, to, next, act.reason ?? null, act.actor, skewOf(act)],
  );
  return result.rows[0]!.was;
}

/** Cancels and writes down who did it. */
async function cancel(tx: Queryable, id: number, act: JobAct): Promise<JobStatus | null> {
  const was = await cancelJob(tx, id, act);
  if (was !== null)
    await tx.query(`SELECT job_audit($1, 'cancel', $2::job_status, 'cancelled', $3, $4)`, [
      id,
      was,
      act.reason ?? null,
      act.actor,
    ]);
  return was;
}

/** Nothing of a source that rests is run: its rows are held, and a run would wait for them in vain. */
async function requireOpenSource(
  db: Queryable,
  { id, sourceId, source }: Job,
  action: JobAction,
): Promise<void> {
  if (sourceId === null || action === 'cancel' || action === 'pause') return;
  const result = await db.query('SELECT FROM sources WHERE id = $1 AND NOT enabled', [sourceId]);
  if (result.rowCount === 0) return;
  throw new AppError(
    'source_disabled',
    `job ${id} cannot be ${done[action]}: its source ${source} is disabled`,
    {
      httpStatus: 409,
      advice: `Enable it first, which resumes its jobs: outrider sources enable ${source}`,
    },
  );
}
