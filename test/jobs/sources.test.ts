import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { submit } from '../../src/frontier/index.ts';
import {
  appendLog,
  createJobsOfNewSources,
  endJob,
  leaseJobs,
  loadJobStats,
  pruneExecutionLogs,
  pruneExecutions,
  readLog,
  sweepExecutions,
  syncEnabledSources,
} from '../../src/jobs/index.ts';
import { createSource, deleteSource, type Source, setSourceEnabled } from '../../src/sources/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeJob, readEvents, readExecutions, readJob } from './fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('DELETE FROM jobs');
  await database.pool.query('DELETE FROM sources');
  await database.pool.query('UPDATE job_scheduler SET polled_at = NULL');
});

const by = { actor: 'ann' };
let sources = 0;
const makeSource = async (mode: 'feed' | 'spider' | 'both' = 'spider'): Promise<Source> => {
  sources += 1;
  return (await createSource(database.pool, { url: `https://site${sources}.example/`, mode })).source;
};
const lease = (limit = 10) => leaseJobs(database.pool, { owner: 'one', limit });
const jobsOf = async (source: Source): Promise<{ id: number; status: string }[]> =>
  (
    await database.pool.query<{ id: number; status: string }>(
      'SELECT id, status FROM jobs WHERE source_id = $1 ORDER BY id',
      [source.id],
    )
  ).rows;

describe('a source that is disabled', () => {
  test('pauses its scheduled jobs, and enabling resumes those and no others', async () => {
    const source = await makeSource();
    const columns = { kind: 'crawl', source_id: source.id, interval_seconds: 3600 } as const;
    const due = new Date(Date.now() + 600_000);
    const scheduled = await makeJob(database.pool, { ...columns, next_run_at: due });
    const paused = await makeJob(database.pool, { ...columns, status: 'paused', pause_reason: 'operator' });
    await setSourceEnabled(database.pool, source.slug, false, by);
    expect(await readJob(database.pool, scheduled)).toMatchObject({
      status: 'paused',
      pause_reason: 'source_disabled',
    });
    await setSourceEnabled(database.pool, source.slug, true, by);
    expect(await readJob(database.pool, scheduled)).toMatchObject({ status: 'scheduled', next_run_at: due });
    expect((await readJob(database.pool, paused)).status).toBe('paused');
    expect(await readEvents(database.pool, scheduled)).toEqual([
      'scheduled>paused pause',
      'paused>scheduled resume',
    ]);
  });

  test('leaves a job paused whose run was forced although somebody had paused it', async () => {
    const source = await makeSource();
    const columns = { kind: 'crawl', source_id: source.id, interval_seconds: 3600 } as const;
    const forced = { ...columns, status: 'pending', returns_to: 'paused', next_run_at: new Date(0) } as const;
    const running = await makeJob(database.pool, forced);
    expect(await lease()).toHaveLength(1);
    const retried = await makeJob(database.pool, { ...columns, returns_to: 'paused', off_phase: true });
    await setSourceEnabled(database.pool, source.slug, false, by);
    await setSourceEnabled(database.pool, source.slug, true, by);
    for (const id of [running, retried])
      expect(await readJob(database.pool, id)).toMatchObject({
        status: 'paused',
        pause_reason: 'operator',
        next_run_at: null,
      });
  });

  test('ends a run under way, whose rows are held and come back as ordinary ones', async () => {
    const source = await makeSource();
    const id = await makeJob(database.pool, { kind: 'crawl', source_id: source.id, interval_seconds: 3600 });
    const [job] = await lease();
    await submit(database.pool, [
      {
        url: source.url,
        kind: 'listing',
        origin: 'manual',
        sourceId: source.id,
        priority: 5,
        executionId: job!.executionId,
        own: true,
      },
    ]);
    await setSourceEnabled(database.pool, source.slug, false, by);
    expect(await readJob(database.pool, id)).toMatchObject({ status: 'paused', lock_token: null });
    expect(await readExecutions(database.pool, id)).toMatchObject([
      { status: 'cancelled', error_message: 'the source was disabled' },
    ]);
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBeNull();
    expect(await sweepExecutions(database.pool)).toBe(1);
    await setSourceEnabled(database.pool, source.slug, true, by);
    const rows = await database.pool.query(
      `SELECT status, execution_id, due_at <= now() AS due FROM url_frontier WHERE source_id = $1`,
      [source.id],
    );
    expect(rows.rows).toEqual([{ status: 'pending', execution_id: null, due: true }]);
  });

  test('keeps its pending jobs from running until it is enabled', async () => {
    const source = await makeSource();
    const id = await makeJob(database.pool, { kind: 'crawl', source_id: source.id });
    await setSourceEnabled(database.pool, source.slug, false, by);
    expect(await lease()).toEqual([]);
    await setSourceEnabled(database.pool, source.slug, true, by);
    expect((await lease()).map((job) => job.id)).toEqual([id]);
  });

  test('and deleted takes its jobs along, running ones too', async () => {
    const source = await makeSource();
    const id = await makeJob(database.pool, { kind: 'crawl', source_id: source.id });
    const [job] = await lease();
    await appendLog(database.pool, job!.executionId, [
      { category: 'lifecycle', level: 'info', message: 'begins' },
    ]);
    expect(await deleteSource(database.pool, source.slug, by)).toBe(true);
    expect(await endJob(database.pool, job!, { outcome: 'completed', actor: 'one' })).toBeNull();
    expect((await database.pool.query('SELECT FROM jobs WHERE id = $1', [id])).rowCount).toBe(0);
    expect(await readExecutions(database.pool, id)).toEqual([]);
    // What its runner still says is said to nobody.
    expect(
      await appendLog(database.pool, job!.executionId, [
        { category: 'error', level: 'warn', message: 'late' },
      ]),
    ).toBe(0);
  });
});

describe('jobs of sources that the spider reads', () => {
  const options = { actor: 'scheduler', intervalSeconds: 21_600 };

  test('are made by themselves, once, and begin after the first read', async () => {
    const [spider, both, feed] = [
      await makeSource('spider'),
      await makeSource('both'),
      await makeSource('feed'),
    ];
    expect(await createJobsOfNewSources(database.pool, options)).toBe(2);
    expect(await createJobsOfNewSources(database.pool, options)).toBe(0);
    expect(await jobsOf(feed)).toEqual([]);
    const [job] = await jobsOf(spider);
    expect(job!.status).toBe('scheduled');
    const early = await database.pool.query(
      `SELECT FROM jobs WHERE next_run_at NOT BETWEEN created_at + interval '3 hours' AND created_at + interval '6 hours'`,
    );
    expect(early.rowCount).toBe(0);
    // One that was deleted on purpose does not come back.
    await database.pool.query('DELETE FROM jobs WHERE source_id = $1', [both.id]);
    expect(await createJobsOfNewSources(database.pool, options)).toBe(0);
    // A source that follows links from now on gets its own.
    await database.pool.query(`UPDATE sources SET ingestion_mode = 'both' WHERE id = $1`, [feed.id]);
    expect(await createJobsOfNewSources(database.pool, options)).toBe(1);
  });

  test('are made and resumed by a sync, which says what it did', async () => {
    const bare = await makeSource('spider');
    const has = await makeSource('both');
    const rests = await makeSource('spider');
    const disabled = await makeSource('spider');
    await makeSource('feed');
    await setSourceEnabled(database.pool, disabled.slug, false, by);
    const crawl = { kind: 'crawl', interval_seconds: 3600 } as const;
    await makeJob(database.pool, { ...crawl, source_id: has.id });
    const paused = await makeJob(database.pool, {
      ...crawl,
      source_id: rests.id,
      status: 'paused',
      pause_reason: 'operator',
    });
    expect(await syncEnabledSources(database.db, { actor: 'ann', intervalMinutes: 360 })).toEqual({
      created: 1,
      resumed: 1,
      unchanged: 1,
    });
    expect(await jobsOf(bare)).toMatchObject([{ status: 'scheduled' }]);
    expect(await jobsOf(disabled)).toEqual([]);
    expect(await readEvents(database.pool, paused)).toEqual(['paused>scheduled resume']);
    expect(await syncEnabledSources(database.db, { actor: 'ann', intervalMinutes: 360 })).toEqual({
      created: 0,
      resumed: 0,
      unchanged: 3,
    });
  });

  test('are made once, however many ask for a sync at the same time', async () => {
    const made = [await makeSource('spider'), await makeSource('spider')];
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, () =>
        syncEnabledSources(database.db, { actor: 'ann', intervalMinutes: 360 }),
      ),
    );
    for (const source of made) expect(await jobsOf(source)).toHaveLength(1);
    const refused = asked.filter((one) => one.status === 'rejected');
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'busy' });
    expect(refused.length).toBeLessThan(asked.length);
  });

  test('are made beside one that runs once, which reads nothing a second time', async () => {
    const fresh = await makeSource('spider');
    const once = await makeJob(database.pool, { kind: 'crawl', source_id: fresh.id });
    expect(await createJobsOfNewSources(database.pool, options)).toBe(1);
    const known = await makeSource('spider');
    await database.pool.query('UPDATE sources SET job_made_at = now() WHERE id = $1', [known.id]);
    const done = { kind: 'crawl', status: 'completed', next_run_at: null as never } as const;
    const ran = await makeJob(database.pool, { ...done, source_id: known.id });
    const rests = await makeSource('spider');
    await makeJob(database.pool, {
      ...done,
      source_id: rests.id,
      status: 'paused',
      pause_reason: 'operator',
      schedule_enabled: false,
    });
    expect(await syncEnabledSources(database.db, { actor: 'ann', intervalMinutes: 360 })).toEqual({
      created: 1,
      resumed: 0,
      unchanged: 2,
    });
    expect(await jobsOf(fresh)).toMatchObject([{ id: once, status: 'pending' }, { status: 'scheduled' }]);
    expect(await jobsOf(known)).toMatchObject([{ id: ran, status: 'completed' }, { status: 'scheduled' }]);
    expect(await jobsOf(rests)).toMatchObject([{ status: 'paused' }]);
  });
});

test('a log that is full says so once, and still tells how the run ended', async () => {
  await makeJob(database.pool);
  const [job] = await lease();
  const { executionId } = job!;
  await database.pool.query('UPDATE job_executions SET log_lines = 199998 WHERE id = $1', [
    executionId.toString(),
  ]);
  const page = { category: 'fetch', level: 'info', message: 'a page' } as const;
  expect(await appendLog(database.pool, executionId, [page, page, page])).toBe(3);
  expect(await appendLog(database.pool, executionId, [page])).toBe(0);
  const end = { category: 'lifecycle', level: 'info', message: 'completed' } as const;
  expect(await appendLog(database.pool, executionId, [end])).toBe(1);
  const lines = await readLog(database.pool, executionId, { limit: 10 });
  expect(lines.map(({ id }) => id)).toEqual([199_999, 200_000, 200_001, 200_002, 200_003]);
  expect(lines.map(({ message }) => message).slice(3)).toEqual([
    expect.stringContaining('full'),
    'completed',
  ]);
});

describe('pruning', () => {
  /** A job with executions of these ages in days, oldest first; `running`: it runs. */
  const withExecutions = async (ages: readonly (number | 'running')[]): Promise<number> => {
    const id = await makeJob(database.pool, { status: 'completed', next_run_at: null as never });
    for (const [at, age] of ages.entries())
      await database.pool.query(
        `INSERT INTO job_executions (job_id, number, status, trigger, worker, started_at, completed_at)
         VALUES ($1, $2, $3, 'schedule', 'one', now() - make_interval(days => $4), $5)`,
        [
          id,
          at + 1,
          age === 'running' ? 'running' : 'completed',
          age === 'running' ? 99 : age,
          age === 'running' ? null : new Date(),
        ],
      );
    await database.pool.query('UPDATE jobs SET executions = $2 WHERE id = $1', [id, ages.length]);
    return id;
  };

  test.each([
    ['the newest hundred', Array.from({ length: 103 }, () => 1), 100],
    ['what is younger than thirty days', [40, 31, 29, 1], 2],
    ['nothing of what is old', [40, 35], 0],
    ['one that runs, however old', ['running' as const, 31, 1], 2],
  ])('keeps %s', async (_what, ages, kept) => {
    const id = await withExecutions(ages);
    await pruneExecutions(database.pool, { keep: 100, days: 30 });
    const left = await readExecutions(database.pool, id);
    expect(left).toHaveLength(kept);
    expect(left.every((one) => one.status === 'running' || one.number > ages.length - 100)).toBe(true);
  });

  test('takes lines past their time, and an execution goes with its lines', async () => {
    const id = await withExecutions([31, 1]);
    const [old, young] = await readExecutions(database.pool, id);
    const line = { category: 'fetch', level: 'info', message: 'a page' } as const;
    for (const { id: execution } of [old!, young!])
      await appendLog(database.pool, execution, [
        { ...line, at: new Date(Date.now() - 31 * 86_400_000) },
        line,
      ]);
    expect(await pruneExecutionLogs(database.pool, { days: 30 })).toBe(1);
    expect((await readLog(database.pool, old!.id, { limit: 10 })).map((one) => one.id)).toEqual([2]);
    expect(await pruneExecutions(database.pool, { keep: 100, days: 30 })).toBe(1);
    expect(await readLog(database.pool, old!.id, { limit: 10 })).toEqual([]);
    expect(await readLog(database.pool, young!.id, { limit: 10 })).toHaveLength(2);
  });
});

test('the scheduler says how it does', async () => {
  for (const outcome of ['completed', 'completed', 'completed', 'failed'] as const) {
    await makeJob(database.pool, { max_retries: 0 });
    const [job] = await lease();
    await endJob(database.pool, job!, { outcome, actor: 'one', skewMs: 2000 });
  }
  await makeJob(database.pool, { interval_seconds: 3600, next_run_at: new Date(Date.now() + 60_000) });
  const metrics = await loadJobStats(database.pool);
  expect(Object.values(metrics.jobs).map(({ count }) => count)).toEqual([0, 1, 0, 0, 3, 1, 0]);
  expect(metrics.executions).toMatchObject({ total: 4, completed: 3, failed: 1, successRate: 0.75 });
  expect(metrics.executions.averageDurationMs).toBeGreaterThanOrEqual(1500);
});
