import { createHash } from 'node:crypto';
import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { saveAudit } from '../switches/index.ts';
import { type Distribution, decideMoves, distributionOf, type SlotGroup, Slots } from './slots.ts';

// Whoever gives out slots holds it until that is committed: each must see what the one before gave away.
const slotLock = 7103;

/** Waits for its turn to give out slots; the turn ends with the transaction. */
export async function takeSlotTurn(tx: Queryable): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${slotLock})`);
}

// As effectiveIntervalSeconds has it.
const effective = `(j.interval_seconds * CASE WHEN j.adaptive_scheduling
  THEN greatest(1, least(j.interval_seconds::bigint << least(j.unchanged_runs, 11)::integer, 86400) / j.interval_seconds)
  ELSE 1 END)::integer`;
const isRecurring = `(j.interval_seconds IS NOT NULL AND j.schedule_enabled AND j.returns_to IS DISTINCT FROM 'paused')`;
// A run that was forced, is under way or waits for a retry comes again at its own time.
const ownTime = `CASE WHEN ${isRecurring} AND (j.status <> 'scheduled' OR j.off_phase)
  THEN coalesce(j.phase_at, j.next_run_at) ELSE j.next_run_at END`;

type Loaded = { slots: Slots; jobs: number };

/**
 * The slots of the next 24 hours as they are filled. Jobs of whole quarters are counted together by slot and interval,
 * so that ten thousand of them are some hundred groups; the others, which are few, each by their second. Reads the
 * jobs once: 10,000 of them were 175 groups in 38 ms on a machine with ten times the work it has cores for.
 */
export async function loadSlots(db: Queryable, skewMs = 0): Promise<Loaded> {
  const result = await db.query<SlotGroup & { now: number }>(
    `WITH active AS MATERIALIZED (
       SELECT ${effective} AS seconds, ${ownTime} AS at, ${isRecurring} AS recurs
         FROM jobs j WHERE j.status IN ('pending', 'scheduled') OR (j.status = 'running' AND ${isRecurring}))
     SELECT floor(extract(epoch FROM g.at))::float8 AS at, g."intervalSeconds", g.jobs FROM (
       SELECT CASE WHEN recurs AND seconds % 900 = 0 AND seconds <= 86400
                   THEN date_bin('15 minutes', at, 'epoch'::timestamptz) ELSE at END AS at,
              CASE WHEN recurs THEN seconds END AS "intervalSeconds", count(*)::integer AS jobs
         FROM active WHERE at IS NOT NULL GROUP BY 1, 2) g`,
  );
  const slots = new Slots(await loadNow(db, skewMs), result.rows);
  const jobs = result.rows.reduce((sum, row) => sum + (row.intervalSeconds === null ? 0 : row.jobs), 0);
  return { slots, jobs };
}

async function loadNow(db: Queryable, skewMs: number): Promise<number> {
  const result = await db.query<{ now: number }>('SELECT extract(epoch FROM now())::float8 AS now');
  return Math.floor(result.rows[0]!.now + skewMs / 1000);
}

/** Times for recurring jobs that are made or resumed, in one go; asked in the slots' turn. */
export async function placeJobs(tx: Queryable, intervals: readonly number[], skewMs = 0): Promise<Date[]> {
  await takeSlotTurn(tx);
  const { slots } = await loadSlots(tx, skewMs);
  return slots.chooseAll(intervals).map((seconds) => new Date(seconds * 1000));
}

/** Where the runs of the next 24 hours lie. */
export async function loadDistribution(db: Queryable, skewMs = 0): Promise<Distribution> {
  const { slots, jobs } = await loadSlots(db, skewMs);
  return distributionOf(slots, jobs);
}

/** A job that rebalancing gives another time. */
export type RebalanceMove = { id: number; from: Date; to: Date };

/** What rebalancing does, or would do. */
export type Rebalance = {
  /** Names these moves: whoever has seen a preview may say that it is this one he wants. */
  plan: string;
  moves: RebalanceMove[];
  scoreBefore: number;
  scoreAfter: number;
};

// Whoever looks at a job that runs soon must not see it vanish; and none is sent to and fro.
const soonSeconds = 1800;
const restSeconds = 3600;

/**
 * Says which jobs should get another time, and writes exactly that unless it is a preview. Jobs that run within half an
 * hour and those that were moved within the hour stay. A plan that is given must still be what comes out.
 */
export function rebalance(
  database: Database,
  options: { preview: boolean; actor: string; plan?: string; skewMs?: number },
): Promise<Rebalance> {
  const { preview, actor, skewMs = 0 } = options;
  return database.withTransaction(async (tx) => {
    if (!preview) await takeSlotTurn(tx);
    const { slots, jobs } = await loadSlots(tx, skewMs);
    const movable = await tx.query<{ id: number; at: number; intervalSeconds: number }>(
      `SELECT j.id, extract(epoch FROM j.next_run_at)::float8 AS at, ${effective} AS "intervalSeconds"
         FROM jobs j
        WHERE j.status = 'scheduled' AND NOT j.off_phase AND ${isRecurring} AND j.next_run_at > to_timestamp($1::float8 + ${soonSeconds})
          AND (j.moved_at IS NULL OR j.moved_at <= to_timestamp($1::float8 - ${restSeconds}))
        ORDER BY j.id ${preview ? '' : 'FOR UPDATE'}`,
      [slots.nowSeconds],
    );
    const scoreBefore = distributionOf(slots, jobs).distributionScore;
    const moves = decideMoves(slots, movable.rows);
    const plan = createHash('sha256')
      .update(moves.map(({ id, from, to }) => `${id} ${from} ${to}`).join('\n'))
      .digest('hex')
      .slice(0, 32);
    if (options.plan !== undefined && options.plan !== plan) throw planChanged();
    if (!preview && moves.length > 0) {
      await tx.query(
        `UPDATE jobs j SET next_run_at = to_timestamp(m.t), phase_at = to_timestamp(m.t),
                moved_at = to_timestamp($3::float8), updated_at = now()
           FROM unnest($1::integer[], $2::float8[]) AS m(id, t) WHERE j.id = m.id AND j.status = 'scheduled'`,
        [moves.map((move) => move.id), moves.map((move) => move.to), slots.nowSeconds],
      );
      await saveAudit(tx, {
        actor,
        action: 'jobs_rebalance',
        subject: 'jobs',
        detail: { moved: moves.length, plan },
      });
      await tx.query(`SELECT pg_notify('outrider_jobs', '')`);
    }
    return {
      plan,
      moves: moves.map(({ id, from, to }) => ({ id, from: new Date(from * 1000), to: new Date(to * 1000) })),
      scoreBefore,
      scoreAfter: distributionOf(slots, jobs).distributionScore,
    };
  });
}

const planChanged = (): AppError =>
  new AppError('rebalance_changed', 'the jobs have changed since that preview', {
    httpStatus: 409,
    advice: 'Look at the preview again: POST /api/v1/scheduler/rebalance/preview',
  });
