import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  actOnJob,
  createJob,
  createJobs,
  findJob,
  loadDistribution,
  rebalance,
} from '../../src/jobs/index.ts';
import { createTestDatabase } from '../setup/database.ts';
import { putJob } from './standing.ts';

// OUTRIDER_JOBS=10000 makes them one by one, too.
const oneByOne = Number(process.env.OUTRIDER_JOBS ?? 300);
const { db, pool, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => pool.query('TRUNCATE jobs CASCADE'));
const by = { actor: 'test' };
const minute = 60_000;

test('ten thousand jobs that are made in one go are spread evenly', async () => {
  const hours = [1, 6, 12, 24];
  const ids = await createJobs(
    db,
    Array.from({ length: 10_000 }, (_, n) => ({
      kind: 'prune' as const,
      intervalMinutes: hours[n % hours.length]!,
      intervalType: 'hours' as const,
    })),
    by,
  );
  expect(new Set(ids).size).toBe(10_000);
  const { distributionScore, totalJobs, totalRuns, peak, slots } = await loadDistribution(pool);
  expect(totalJobs).toBe(10_000);
  // 24 + 4 + 2 + 1 runs a day for every four.
  expect(totalRuns).toBe(77_500);
  expect(distributionScore).toBeGreaterThan(0.99);
  expect(peak!.runs).toBeLessThan(1.05 * Math.min(...slots.map((slot) => slot.runs)));
  // Rebalancing finds next to nothing to do.
  expect((await rebalance(db, { preview: true, ...by })).moves.length).toBeLessThan(100);
});

test('jobs that are made one by one, many at once, are spread evenly', async () => {
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < oneByOne / 8; n += 1)
        await createJob(db, { kind: 'prune', intervalMinutes: 1, intervalType: 'days' }, by);
    }),
  );
  const { slots, distributionScore } = await loadDistribution(pool);
  const loads = slots.map((slot) => slot.runs);
  expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
  expect(distributionScore).toBe(1);
}, 600_000);

test('a job that is resumed gets a slot anew, beside nobody', async () => {
  const at = new Date(Date.now() + 45 * minute);
  for (let n = 0; n < 20; n += 1) await putJob(pool, 'scheduled', { at, intervalSeconds: 86_400 });
  const id = await putJob(pool, 'paused', { at, intervalSeconds: 86_400 });
  const job = await actOnJob(db, id, 'resume', by);
  const slotOf = (time: Date): number => Math.floor(time.getTime() / (15 * minute));
  expect(slotOf(job.nextRunAt!)).not.toBe(slotOf(at));
  expect((await loadDistribution(pool)).slots.filter((slot) => slot.runs === 1)).toHaveLength(1);
});

test('what was forced, is under way or waits for a retry is counted at its own time', async () => {
  const at = new Date(Date.now() + 120 * minute);
  for (const status of ['pending', 'running', 'scheduled'] as const)
    await putJob(pool, status, { at, intervalSeconds: 86_400 });
  await pool.query(
    `UPDATE jobs SET next_run_at = now(), off_phase = status = 'scheduled' WHERE status <> 'running'`,
  );
  // These are in no slot: they rest, or will when they have ended.
  await putJob(pool, 'paused', { at });
  await putJob(pool, 'failed', { at });
  const forced = await putJob(pool, 'paused', { at });
  await actOnJob(db, forced, 'force_run', by);
  const { slots, totalJobs } = await loadDistribution(pool);
  expect(totalJobs).toBe(3);
  expect(slots.find((slot) => slot.runs === 3)!.at.getTime()).toBe(
    Math.floor(at.getTime() / (15 * minute)) * 15 * minute,
  );
});

test('executing does exactly what the preview says', async () => {
  // Five minutes into a quarter: none ends between the preview and the execution.
  const quarter = 15 * minute;
  const skewMs = quarter - (Date.now() % quarter) + 5 * minute;
  const now = Date.now() + skewMs;
  const asked = { ...by, skewMs };
  for (let n = 0; n < 400; n += 1)
    await putJob(pool, 'scheduled', {
      at: new Date(now + 60 * minute + n * 100),
      intervalSeconds: n % 2 === 0 ? 86_400 : 3600 * 6,
    });
  const preview = await rebalance(db, { preview: true, ...asked });
  expect(preview.moves.length).toBeGreaterThan(300);
  expect(preview.scoreAfter).toBeGreaterThan(0.95);
  expect(preview.scoreBefore).toBeLessThan(0.7);
  const before = await pool.query('SELECT id, next_run_at, moved_at FROM jobs ORDER BY id');
  expect(before.rows.every((row) => row.moved_at === null)).toBe(true);
  await expect(rebalance(db, { preview: false, plan: '0'.repeat(32), ...asked })).rejects.toMatchObject({
    code: 'rebalance_changed',
  });
  const done = await rebalance(db, { preview: false, ...asked, plan: preview.plan });
  expect(done).toEqual(preview);
  const expected = new Map(done.moves.map((move) => [move.id, move.to.getTime()]));
  for (const { id, next_run_at: was } of before.rows as { id: number; next_run_at: Date }[]) {
    const job = (await findJob(pool, id))!;
    expect(job.nextRunAt!.getTime()).toBe(expected.get(id) ?? was.getTime());
    expect(job.movedAt === null).toBe(!expected.has(id));
  }
  expect((await loadDistribution(pool, skewMs)).distributionScore).toBeCloseTo(done.scoreAfter, 5);
  const audit = await pool.query(`SELECT detail FROM audit WHERE action = 'jobs_rebalance'`);
  expect(audit.rows).toEqual([{ detail: { moved: done.moves.length, plan: done.plan } }]);
});

test('what runs within half an hour, moved within the hour, or waits for a retry stays', async () => {
  const soon = new Date(Date.now() + 25 * minute);
  const late = new Date(Date.now() + 90 * minute);
  const stay: number[] = [];
  for (let n = 0; n < 30; n += 1)
    stay.push(await putJob(pool, 'scheduled', { at: soon, intervalSeconds: 86_400 }));
  const moved: number[] = [];
  for (let n = 0; n < 30; n += 1)
    moved.push(await putJob(pool, 'scheduled', { at: late, intervalSeconds: 86_400 }));
  await pool.query(`UPDATE jobs SET moved_at = now() - interval '55 minutes' WHERE id = ANY ($1)`, [moved]);
  const retried = await putJob(pool, 'scheduled', { at: late, intervalSeconds: 86_400 });
  await pool.query('UPDATE jobs SET off_phase = true WHERE id = $1', [retried]);
  expect((await rebalance(db, { preview: false, ...by })).moves).toEqual([]);
  await pool.query(`UPDATE jobs SET moved_at = now() - interval '65 minutes' WHERE id = ANY ($1)`, [moved]);
  const { moves } = await rebalance(db, { preview: false, ...by });
  expect(moves.length).toBeGreaterThan(20);
  expect(moves.every((move) => moved.includes(move.id))).toBe(true);
  // None is sent to and fro.
  expect(
    (await rebalance(db, { preview: false, ...by })).moves.some((move) => expected(moves).has(move.id)),
  ).toBe(false);
});

const expected = (moves: readonly { id: number }[]): Set<number> => new Set(moves.map((move) => move.id));
