import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  beatJobs,
  cancelJob,
  endJob,
  handBackJobs,
  isLegalMove,
  type JobStatus,
  leaseJobs,
  loadJobStats,
  recoverJobs,
} from '../../src/jobs/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeJob, readEvents, readExecutions, readJob } from './fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(async () => {
  // Whatever a test did, it did legal moves only.
  const events = await database.pool.query<{ from: JobStatus; to: JobStatus }>(
    'SELECT from_status AS "from", to_status AS "to" FROM job_events WHERE from_status IS NOT NULL',
  );
  for (const { from, to } of events.rows) expect(isLegalMove(from, to), `${from} to ${to}`).toBe(true);
  await database.pool.query('DELETE FROM jobs');
  await database.pool.query('UPDATE job_scheduler SET polled_at = NULL');
});

const lease = (owner = 'one', skewMs = 0, limit = 100) => leaseJobs(database.pool, { owner, limit, skewMs });
const minuteMs = 60_000;

describe('a lease', () => {
  test('takes what is due, oldest first, and no more than asked', async () => {
    const late = await makeJob(database.pool, { next_run_at: new Date(Date.now() - 5000) });
    const later = await makeJob(database.pool, { next_run_at: new Date(Date.now() - 9000) });
    await makeJob(database.pool, { next_run_at: new Date(Date.now() + 60_000) });
    expect((await lease('one', 0, 1)).map((job) => job.id)).toEqual([later]);
    expect((await lease('two')).map((job) => job.id)).toEqual([late]);
    expect(await lease('two')).toEqual([]);
    expect(await readEvents(database.pool, late)).toEqual(['pending>running lease']);
    expect(await readExecutions(database.pool, late)).toMatchObject([
      { number: 1, status: 'running', trigger: 'schedule', worker: 'two', retry_attempt: 0 },
    ]);
  });

  test('of many schedulers at once gives each job to one', async () => {
    for (let at = 0; at < 40; at += 1) await makeJob(database.pool);
    const taken = await Promise.all(Array.from({ length: 8 }, (_, at) => lease(`owner ${at}`, 0, 10)));
    const ids = taken.flat().map((job) => job.id);
    expect(ids).toHaveLength(40);
    expect(new Set(ids).size).toBe(40);
  });

  test('that is alive is never recovered, however long it lasts', async () => {
    const id = await makeJob(database.pool);
    const [job] = await lease();
    for (let minutes = 1; minutes <= 30; minutes += 1) {
      expect(await beatJobs(database.pool, [job!.token], { skewMs: minutes * minuteMs })).toEqual(
        new Set([job!.token]),
      );
      const skewMs = minutes * minuteMs + 59_000;
      expect(await recoverJobs(database.pool, { actor: 'two', lostMs: minuteMs, skewMs })).toEqual([]);
      expect(await lease('two', skewMs)).toEqual([]);
    }
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBe('completed');
    expect(await readExecutions(database.pool, id)).toHaveLength(1);
  });

  test('that is lost is recovered whole: due now, failed, unlocked, counted', async () => {
    const id = await makeJob(database.pool, { interval_seconds: 3600 });
    const [job] = await lease();
    const skewMs = 61_000;
    const recovered = await recoverJobs(database.pool, { actor: 'two', lostMs: minuteMs, skewMs });
    expect(recovered).toEqual([{ jobId: id, executionId: job!.executionId, worker: 'one' }]);
    expect(await readJob(database.pool, id)).toMatchObject({
      status: 'scheduled',
      lock_token: null,
      execution_id: null,
    });
    expect(await readExecutions(database.pool, id)).toMatchObject([
      { status: 'failed', error_message: 'the scheduler that ran it was lost', sweep: 'free' },
    ]);
    expect((await loadJobStats(database.pool)).staleLocksCleared).toBe(1);
    // The old runner changes nothing any more, whatever it tries.
    expect(await beatJobs(database.pool, [job!.token], { skewMs })).toEqual(new Set());
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one', skewMs })).toBeNull();
    expect(await handBackJobs(database.pool, [job!.token])).toBe(0);
    const [again] = await lease('two', skewMs);
    expect(again).toMatchObject({ id, number: 2, takenOver: false });
    expect(await readEvents(database.pool, id)).toEqual([
      'scheduled>running lease',
      'running>scheduled recover',
      'scheduled>running lease',
    ]);
  });

  test('that is handed back goes on as the same execution, at any age', async () => {
    const id = await makeJob(database.pool);
    const [job] = await lease();
    expect(await handBackJobs(database.pool, [job!.token])).toBe(1);
    const skewMs = 3600_000;
    expect(await recoverJobs(database.pool, { actor: 'two', lostMs: minuteMs, skewMs })).toEqual([]);
    const [taken] = await lease('two', skewMs);
    expect(taken).toMatchObject({ id, executionId: job!.executionId, takenOver: true, number: 1 });
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBeNull();
    expect(await endJob(database.pool, taken!, { outcome: 'completed', actor: 'two', skewMs })).toBe(
      'completed',
    );
    expect(await readExecutions(database.pool, id)).toMatchObject([{ status: 'completed', worker: 'two' }]);
  });
});

describe('the end of a run', () => {
  test('that failed is tried again after 60, 120, 240 s, then a job that runs once has failed', async () => {
    const id = await makeJob(database.pool);
    let skewMs = 0;
    for (const [attempt, seconds] of [60, 120, 240].entries()) {
      const [job] = await lease('one', skewMs);
      expect(job).toMatchObject({ attempt, number: attempt + 1 });
      const error = { outcome: 'failed', error: 'no', stack: 'at no', actor: 'one', skewMs } as const;
      expect(await endJob(database.pool, job!, error)).toBe('scheduled');
      const { next_run_at, updated_at, retries } = await readJob(database.pool, id);
      expect(retries).toBe(attempt + 1);
      expect(next_run_at!.getTime() - updated_at.getTime()).toBe(seconds * 1000);
      expect(await lease('one', skewMs + (seconds - 10) * 1000)).toEqual([]);
      skewMs += (seconds + 5) * 1000;
    }
    const [last] = await lease('one', skewMs);
    expect(await endJob(database.pool, last!, { outcome: 'failed', error: 'no', actor: 'one', skewMs })).toBe(
      'failed',
    );
    expect(await readExecutions(database.pool, id)).toMatchObject(
      [0, 1, 2, 3].map((attempt) => ({
        retry_attempt: attempt,
        status: 'failed',
        error_message: 'no',
        trigger: attempt === 0 ? 'schedule' : 'retry',
      })),
    );
  });

  test('of a recurring job leads to its next time in phase, also after its retries are used', async () => {
    const due = new Date(Date.now() - 1000);
    const id = await makeJob(database.pool, { interval_seconds: 3600, next_run_at: due, max_retries: 1 });
    const [first] = await lease();
    await endJob(database.pool, first!, { outcome: 'failed', error: 'no', actor: 'one' });
    const [second] = await lease('one', 70_000);
    await endJob(database.pool, second!, { outcome: 'failed', error: 'no', actor: 'one', skewMs: 70_000 });
    expect(await readJob(database.pool, id)).toMatchObject({
      status: 'scheduled',
      retries: 0,
      next_run_at: new Date(due.getTime() + 3_600_000),
    });
  });

  test('of a forced run of a paused job leads back to paused', async () => {
    const id = await makeJob(database.pool, {
      status: 'pending',
      interval_seconds: 3600,
      returns_to: 'paused',
    });
    const [job] = await lease();
    expect(job!.trigger).toBe('force_run');
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBe('paused');
    expect(await readJob(database.pool, id)).toMatchObject({ status: 'paused', pause_reason: 'operator' });
  });

  test('that found the same articles doubles the interval up to a day, another set ends that', async () => {
    const due = new Date(Date.now() - 1000);
    const id = await makeJob(database.pool, { interval_seconds: 6 * 3600, next_run_at: due });
    let skewMs = 0;
    const hours: number[] = [];
    for (const set of ['a', 'a', 'a', 'a', 'a', 'b', 'b']) {
      const [job] = await lease('one', skewMs);
      const at = (await readJob(database.pool, id)).phase_at!;
      const foundHash = Buffer.alloc(32, set);
      await endJob(database.pool, job!, { outcome: 'completed', foundHash, actor: 'one', skewMs });
      const next = (await readJob(database.pool, id)).next_run_at!;
      hours.push((next.getTime() - at.getTime()) / 3_600_000);
      skewMs = next.getTime() - Date.now() + 1000;
      // Somebody looks all the time: this is no downtime.
      await database.pool.query('UPDATE job_scheduler SET polled_at = now() + ms($1)', [skewMs]);
    }
    expect(hours).toEqual([6, 12, 24, 24, 24, 6, 12]);
  });

  test.each([
    ['pending', {}],
    ['scheduled', { interval_seconds: 3600 }],
    ['paused', { interval_seconds: 3600, status: 'paused', pause_reason: 'operator' }],
  ] as const)('by a cancel is possible while it is %s', async (status, columns) => {
    const id = await makeJob(database.pool, columns);
    expect(await cancelJob(database.pool, id, { actor: 'ann' })).toBe(status);
    expect(await cancelJob(database.pool, id, { actor: 'ann' })).toBeNull();
    expect(await readJob(database.pool, id)).toMatchObject({ status: 'cancelled' });
  });

  test('by a cancel while it runs takes it from its runner', async () => {
    const id = await makeJob(database.pool);
    const [job] = await lease();
    expect(await cancelJob(database.pool, id, { actor: 'ann', reason: 'enough' })).toBe('running');
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBeNull();
    expect(await readExecutions(database.pool, id)).toMatchObject([
      { status: 'cancelled', error_message: 'enough', sweep: 'cancelled' },
    ]);
  });
});

describe('after a day of downtime', () => {
  const jobs = 10_000;
  const intervalSeconds = 6 * 3600;
  const slotMs = 15 * minuteMs;
  const perSlot = Math.ceil((jobs * slotMs) / (intervalSeconds * 1000));

  test(`${jobs} jobs run once each, at their own time`, async () => {
    await database.pool.query(
      `INSERT INTO jobs (kind, status, interval_seconds, next_run_at, created_by)
       SELECT 'recalculate', 'scheduled', $1::integer, now() + make_interval(secs => n * $1::integer::float8 / $2::integer), 'test'
         FROM generate_series(1, $2::integer) n`,
      [intervalSeconds, jobs],
    );
    expect(await lease('one', -minuteMs)).toEqual([]);
    const dayMs = 86_400_000;
    const late = await makeJob(database.pool, {
      interval_seconds: 7 * 86_400,
      next_run_at: new Date(Date.now() + dayMs - 5 * minuteMs),
    });
    // What is late by less than a slot runs now.
    expect((await lease('one', dayMs, jobs)).map((job) => job.id)).toEqual([late]);
    // Told from the moment of that look: time goes on while this is asked.
    const slots = await database.pool.query<{ jobs: number }>(
      `SELECT count(*)::integer AS jobs FROM jobs j, job_scheduler s WHERE j.status = 'scheduled'
        GROUP BY floor(extract(epoch FROM j.next_run_at - s.polled_at) / 900) ORDER BY 1`,
    );
    expect(slots.rows.reduce((sum, row) => sum + row.jobs, 0)).toBe(jobs);
    for (const slot of slots.rows) expect(slot.jobs).toBeLessThanOrEqual(perSlot + 2);
    const outside = await database.pool.query(
      `SELECT FROM jobs j, job_scheduler s WHERE j.status = 'scheduled'
          AND j.next_run_at NOT BETWEEN s.polled_at AND s.polled_at + make_interval(secs => $1)`,
      [intervalSeconds],
    );
    expect(outside.rowCount).toBe(0);
  });

  test('what waits for a busy scheduler is not moved', async () => {
    const id = await makeJob(database.pool, { interval_seconds: 3600 });
    for (let minutes = 0; minutes <= 60; minutes += 10)
      expect(await lease('one', minutes * minuteMs, 0)).toEqual([]);
    expect((await lease('one', 61 * minuteMs)).map((job) => job.id)).toEqual([id]);
  });
});

describe('a clock that was days ahead and is put right', () => {
  const aheadMs = 5 * 86_400_000;

  test('keeps no job waiting until it comes there again', async () => {
    const hourly = await makeJob(database.pool, { interval_seconds: 3600 });
    const retried = await makeJob(database.pool);
    for (const job of await lease('one', aheadMs))
      await endJob(database.pool, job, {
        outcome: job.id === hourly ? 'completed' : 'failed',
        actor: 'one',
        skewMs: aheadMs,
      });
    const once = await makeJob(database.pool, { next_run_at: new Date(Date.now() + aheadMs) });
    const soon = new Date(Date.now() + 30 * minuteMs);
    const kept = await makeJob(database.pool, { interval_seconds: 3600, next_run_at: soon });
    for (const id of [hourly, retried])
      expect((await readJob(database.pool, id)).next_run_at!.getTime()).toBeGreaterThan(
        Date.now() + aheadMs - minuteMs,
      );
    await lease('one', 0, 0);
    const waitsMs = async (id: number): Promise<number> =>
      (await readJob(database.pool, id)).next_run_at!.getTime() - Date.now();
    expect(await waitsMs(hourly)).toBeLessThanOrEqual(60 * minuteMs);
    expect(await waitsMs(retried)).toBeLessThanOrEqual(minuteMs);
    expect(await waitsMs(once)).toBeLessThanOrEqual(0);
    expect((await readJob(database.pool, kept)).next_run_at).toEqual(soon);
    // From here on time is as it was: nothing is moved again.
    const before = await readJob(database.pool, hourly);
    await lease('one', 0, 0);
    expect(await readJob(database.pool, hourly)).toEqual(before);
  });

  test('hides no scheduler that is lost', async () => {
    const id = await makeJob(database.pool);
    await lease('one', aheadMs);
    await lease('two', 0, 0);
    const lost = { actor: 'two', lostMs: minuteMs, skewMs: minuteMs + 1000 };
    expect(await recoverJobs(database.pool, lost)).toMatchObject([{ jobId: id, worker: 'one' }]);
  });
});
