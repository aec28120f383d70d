import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobKinds } from '../../src/jobs/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { endRun, putJob, startRun } from '../jobs/standing.ts';
import { createChecked, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
let sourceId: number;
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
  const { source } = await createSource(lab.database.pool, { url: 'https://herald.test/', name: 'Herald' });
  sourceId = source.id;
});
afterAll(() => lab.close());

const make = async (body: object) => {
  const made = await ask('POST', '/api/v1/jobs', body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
};

describe('making jobs', () => {
  test('without a schedule a job is due at once', async () => {
    const job = await make({ source: 'herald' });
    expect(job).toMatchObject({
      kind: 'crawl',
      status: 'pending',
      source: 'herald',
      sourceId,
      url: null,
      intervalSeconds: null,
      effectiveIntervalSeconds: null,
      adaptiveScheduling: true,
      maxRetries: 3,
      retryBackoffSeconds: 60,
      actions: ['cancel'],
      warnings: [],
      metadata: {},
    });
    expect(new Date(job.nextRunAt).getTime()).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    [6, 'hours', 21_600],
    [6, 'minutes', 360],
    [6, undefined, 360],
    [2, 'days', 172_800],
  ])('%i %s', async (intervalMinutes, intervalType, seconds) => {
    const job = await make({ source: sourceId, intervalMinutes, ...(intervalType && { intervalType }) });
    expect(job).toMatchObject({
      status: 'scheduled',
      intervalSeconds: seconds,
      effectiveIntervalSeconds: seconds,
    });
    const waits = new Date(job.nextRunAt).getTime() - Date.now();
    expect(waits).toBeGreaterThan(-5000);
    expect(waits).toBeLessThan(Math.min(seconds, 86_400) * 1000);
  });

  test('a schedule that is off keeps the job, paused; resuming turns it on', async () => {
    const job = await make({ source: 'herald', intervalMinutes: 60, scheduleEnabled: false });
    expect(job).toMatchObject({
      status: 'paused',
      pauseReason: 'operator',
      nextRunAt: null,
      scheduleEnabled: false,
    });
    expect((await ask('POST', `/api/v1/jobs/${job.id}/resume`)).body).toMatchObject({
      status: 'scheduled',
      scheduleEnabled: true,
    });
  });

  test('of a disabled source a job rests until that is enabled', async () => {
    const { source } = await createSource(lab.database.pool, { url: 'https://off.test/', name: 'Off' });
    await setSourceEnabled(lab.database.pool, source.slug, false, { actor: 'test', reason: 'a test' });
    expect(await make({ source: 'off', intervalMinutes: 60 })).toMatchObject({
      status: 'paused',
      pauseReason: 'source_disabled',
    });
  });

  test('depth is taken as it is given, with a warning where it is deep', async () => {
    expect((await make({ source: 'herald', maxDepth: 5 })).warnings).toEqual([]);
    expect((await make({ source: 'herald', maxDepth: 6 })).warnings).toEqual([
      expect.stringContaining('6 is deep'),
    ]);
    expect((await make({ source: 'herald', maxDepth: -1 })).warnings).toEqual([
      expect.stringContaining('no end'),
    ]);
  });

  test('an import brings its list', async () => {
    const text = 'https://a.test/\nhttps://b.test/\n';
    const job = await make({ kind: 'import', metadata: { text, format: 'lines' } });
    expect(job.metadata).toEqual({ text, format: 'lines' });
    const long = Array.from(
      { length: 15_000 },
      (_, n) => `https://publisher-number-${n}.test/front-page/`,
    ).join('\n');
    expect(long.length).toBeGreaterThan(600_000);
    expect((await make({ kind: 'import', metadata: { text: long, format: 'lines' } })).status).toBe(
      'pending',
    );
  });

  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  test.each([
    [{}, 'job_source_required'],
    [{ kind: 'refresh' }, 'job_source_required'],
    [{ kind: 'discover', intervalMinutes: 5 }, 'job_source_required'],
    [{ source: 'nobody' }, 'source_unknown'],
    [{ source: 999_999 }, 'source_unknown'],
    [{ kind: 'prune', source: 'nobody' }, 'source_unknown'],
    [{ kind: 'prune', source: 'herald' }, 'job_source_unused'],
    [{ kind: 'recalculate', source: 'herald', intervalMinutes: 60 }, 'job_source_unused'],
    [{ kind: 'import', source: 'herald', metadata: { text: 'https://a.test/' } }, 'job_source_unused'],
    [{ source: 'herald', intervalMinutes: 366, intervalType: 'days' }, 'job_interval_invalid'],
    [{ source: 'herald', intervalType: 'hours' }, 'job_interval_invalid'],
    [{ source: 'herald', url: 'mailto:x@herald.test' }, 'job_url_invalid'],
    [{ source: 'herald', url: 'nothing at all' }, 'job_url_invalid'],
    [{ source: 'herald', url: 'https://elsewhere.test/' }, 'job_url_invalid'],
    [{ source: 'herald', url: 'http://127.0.0.1/' }, 'address_refused'],
    [{ kind: 'prune', metadata: { a: 'x'.repeat(66_000) } }, 'job_metadata_invalid'],
    [{ kind: 'prune', metadata: { a: 'a\u0000b' } }, 'job_metadata_invalid'],
    [{ kind: 'prune', metadata: { '\ud800': 1 } }, 'job_metadata_invalid'],
    [{ kind: 'prune', metadata: deep(40) }, 'job_metadata_invalid'],
    [{ kind: 'import' }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: '' } }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: 5 } }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: 'https://a.test/', format: 'toString' } }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: 'https://a.test/' } }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: 'x'.repeat(1_060_000), format: 'lines' } }, 'job_import_invalid'],
    [{ kind: 'import', metadata: { text: '{"nothing":', format: 'json' } }, 'job_import_invalid'],
  ])('%j is refused: %s', async (body, code) => {
    const before = await lab.database.pool.query('SELECT count(*) FROM jobs');
    const said = await ask('POST', '/api/v1/jobs', body);
    expect([said.status, said.body.code]).toEqual([422, code]);
    expect((await lab.database.pool.query('SELECT count(*) FROM jobs')).rows).toEqual(before.rows);
  });

  test('a backslash before a harmless u is no NUL', async () => {
    const metadata = { path: 'C:\\u0000\\ud800' };
    expect((await make({ kind: 'prune', metadata })).metadata).toEqual(metadata);
  });

  test('no body makes it fail', async () => {
    const fields = [
      'kind',
      'source',
      'url',
      'intervalMinutes',
      'intervalType',
      'maxDepth',
      'maxPages',
      'metadata',
      'extra',
    ];
    for (const field of fields)
      for (const value of hostileValues) {
        const { status } = await lab.ask('POST', '/api/v1/jobs', { kind: 'prune', [field]: value });
        expect(status, `${field} ${JSON.stringify(value)}`).toBeLessThan(500);
      }
    const nested = `{"kind":"prune","metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
    const response = await fetch(`${lab.address}/api/v1/jobs`, {
      method: 'POST',
      headers: { ...lab.headersOf('admin'), 'content-type': 'application/json' },
      body: nested,
    });
    expect(response.status).toBe(422);
  });
});

describe('changing jobs', () => {
  const change = (id: number, body: object) => ask('PATCH', `/api/v1/jobs/${id}`, body);
  const every = { intervalMinutes: 2, intervalType: 'hours' };

  test.each([
    // status, what it has, what is changed, what it is then
    ['completed', { intervalSeconds: null }, every, 'scheduled'],
    ['completed', { intervalSeconds: null }, { maxPages: 5 }, 'completed'],
    ['completed', { intervalSeconds: null }, { ...every, scheduleEnabled: false }, 'completed'],
    ['scheduled', {}, { intervalMinutes: null }, 'paused'],
    ['scheduled', {}, { scheduleEnabled: false }, 'paused'],
    ['scheduled', {}, every, 'scheduled'],
    ['paused', { scheduleEnabled: false }, { scheduleEnabled: true }, 'scheduled'],
    ['paused', {}, { scheduleEnabled: true }, 'paused'],
    ['paused', {}, every, 'paused'],
    ['pending', {}, { scheduleEnabled: false }, 'pending'],
    ['running', {}, { scheduleEnabled: false }, 'running'],
    ['failed', {}, every, 'failed'],
  ] as const)('a %s job, %j, changed by %j is %s', async (status, has, body, becomes) => {
    const { pool } = lab.database;
    const id = await putJob(pool, status, has);
    const { status: code, body: job } = await change(id, body);
    expect([code, job.status]).toEqual([200, becomes]);
    const events = await pool.query(
      'SELECT from_status AS "from", to_status AS "to" FROM job_events WHERE job_id = $1',
      [id],
    );
    expect(events.rows).toEqual(status === becomes ? [] : [{ from: status, to: becomes }]);
    if (becomes === 'scheduled') expect(new Date(job.nextRunAt).getTime()).toBeGreaterThan(Date.now() - 5000);
    if (becomes === 'paused') expect(job.nextRunAt).toBeNull();
    // What is due or runs ends first, and rests then.
    if (status === 'pending' || status === 'running') expect(job.returnsTo).toBe('paused');
    const audit = await pool.query(`SELECT FROM audit WHERE action = 'job_change' AND subject = $1`, [
      String(id),
    ]);
    expect(audit.rowCount).toBe(1);
  });

  test('what is left out stays, null takes back', async () => {
    const job = await make({
      source: 'herald',
      maxPages: 10,
      maxDepth: 2,
      url: 'https://herald.test/news',
      metadata: { a: 1 },
    });
    expect((await change(job.id, { maxRetries: 7 })).body).toMatchObject({
      maxRetries: 7,
      maxPages: 10,
      maxDepth: 2,
      url: 'https://herald.test/news',
      metadata: { a: 1 },
    });
    expect((await change(job.id, { maxPages: null, maxDepth: null, url: null })).body).toMatchObject({
      maxPages: null,
      maxDepth: null,
      url: null,
    });
    expect((await change(job.id, { url: 'https://elsewhere.test/' })).status).toBe(422);
    expect((await change(job.id, {})).status).toBe(400);
    expect((await change(999_999, { maxPages: 1 })).status).toBe(404);
  });

  test('a cancelled job does not change, a running one is not deleted', async () => {
    const { pool } = lab.database;
    const gone = await putJob(pool, 'cancelled');
    expect(await change(gone, { maxPages: 1 })).toMatchObject({ status: 409, body: { code: 'job_state' } });
    const running = await putJob(pool, 'running');
    const refused = await ask('DELETE', `/api/v1/jobs/${running}`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'job_state' } });
    expect(refused.body.advice).toContain('cancel');
    await ask('POST', `/api/v1/jobs/${running}/cancel`);
    expect((await ask('DELETE', `/api/v1/jobs/${running}`)).body).toEqual({ id: running, deleted: true });
    expect((await ask('GET', `/api/v1/jobs/${running}`)).status).toBe(404);
    expect((await pool.query('SELECT FROM job_executions WHERE job_id = $1', [running])).rowCount).toBe(0);
  });
});

describe('lists', () => {
  test('pages in both orders hold every job once, with marks and totals', async () => {
    const { pool } = lab.database;
    await pool.query('DELETE FROM jobs');
    const ids: number[] = [];
    for (let n = 0; n < 25; n += 1)
      ids.push(
        await putJob(pool, n % 5 === 0 ? 'paused' : 'scheduled', {
          // Some at the same time.
          at: new Date(Date.now() + Math.floor(n / 3) * 60_000),
          ...(n % 2 === 0 ? { kind: 'crawl' as const, sourceId } : {}),
        }),
      );
    for (let n = 0; n < 22; n += 1) {
      await startRun(pool, ids[1]!);
      await endRun(pool, ids[1]!, { status: 'scheduled', execution: n % 4 === 0 ? 'failed' : 'completed' });
    }
    const pages = async (query: string) => {
      const seen: { id: number; nextRunAt: string | null; marks: { number: number }[] }[] = [];
      let cursor: string | null = null;
      do {
        const { body, status } = await ask(
          'GET',
          `/api/v1/jobs?limit=4${query}${cursor ? `&cursor=${cursor}` : ''}`,
        );
        expect(status).toBe(200);
        seen.push(...body.items);
        cursor = body.cursor;
      } while (cursor !== null);
      return seen;
    };
    expect((await pages('')).map((job) => job.id)).toEqual(ids.toReversed());
    const byTime = await pages('&sort=next_run');
    expect(byTime.map((job) => job.id).sort((a, b) => a - b)).toEqual(ids);
    const times = byTime.map((job) =>
      job.nextRunAt === null ? Number.POSITIVE_INFINITY : Date.parse(job.nextRunAt),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(await pages('&status=paused')).toHaveLength(5);
    expect(await pages('&status=paused&sort=next_run')).toHaveLength(5);
    expect(await pages('&status=paused,scheduled&kind=crawl&source=herald')).toHaveLength(13);
    const marks = byTime.find((job) => job.id === ids[1])!.marks.map((mark) => mark.number);
    expect(marks).toEqual(Array.from({ length: 20 }, (_, n) => 22 - n));
    expect((await ask('GET', '/api/v1/jobs?kind=crawl&limit=1')).body.total).toEqual({
      count: 13,
      exact: true,
    });
    expect((await ask('GET', '/api/v1/jobs/stats')).body).toMatchObject({
      total: { count: 25, exact: true },
      jobs: { paused: { count: 5 }, scheduled: { count: 20 }, running: { count: 0 } },
      executions: { total: 22, completed: 16, failed: 6 },
    });
    const runs = await ask('GET', `/api/v1/jobs/${ids[1]}/executions?limit=5`);
    expect(runs.body.items.map((one: { number: number }) => one.number)).toEqual([22, 21, 20, 19, 18]);
    const more = await ask('GET', `/api/v1/jobs/${ids[1]}/executions?limit=500&cursor=${runs.body.cursor}`);
    expect(more.body.items).toHaveLength(17);
    expect((await ask('GET', `/api/v1/jobs/${ids[1]}/events`)).body.items).toEqual([]);
  });

  test('what is no status, kind, source or cursor is said', async () => {
    for (const [query, status] of [
      ['status=unknown', 400],
      ['status=paused,', 400],
      ['kind=x', 400],
      ['source=nobody', 404],
      ['sort=id', 400],
      ['cursor=WyIxIl0', 400],
      ['other=1', 400],
    ] as const)
      expect((await ask('GET', `/api/v1/jobs?${query}`)).status, query).toBe(status);
  });

  test('everybody may read, who may write acts, admins bring all together', async () => {
    const { pool } = lab.database;
    await createSource(pool, { url: 'https://spidered.test/', name: 'Spidered', mode: 'spider' });
    const id = await putJob(pool, 'scheduled');
    expect((await lab.ask('GET', `/api/v1/jobs/${id}`, undefined, 'read')).status).toBe(200);
    expect((await lab.ask('POST', `/api/v1/jobs/${id}/pause`, undefined, 'read')).status).toBe(403);
    expect((await lab.ask('POST', `/api/v1/jobs/${id}/pause`, undefined, 'write')).status).toBe(200);
    expect((await lab.ask('POST', '/api/v1/admin/sync-enabled-sources', undefined, 'write')).status).toBe(
      403,
    );
    expect((await ask('POST', '/api/v1/admin/sync-enabled-sources')).body).toEqual({
      created: 1,
      resumed: 0,
      unchanged: 0,
    });
    const [job] = (await ask('GET', '/api/v1/jobs?source=spidered')).body.items;
    expect(job).toMatchObject({ kind: 'crawl', status: 'scheduled', intervalSeconds: 21_600 });
    await ask('POST', `/api/v1/jobs/${job.id}/pause`);
    expect((await ask('POST', '/api/v1/admin/sync-enabled-sources')).body).toMatchObject({
      created: 0,
      resumed: 1,
    });
    expect((await ask('POST', '/api/v1/admin/sync-enabled-sources')).body).toMatchObject({
      created: 0,
      unchanged: 1,
    });
  });

  test.each(jobKinds)('a job of the kind %s can be made and is listed as such', async (kind) => {
    const needs = ['crawl', 'refresh', 'discover'].includes(kind)
      ? { source: 'herald' }
      : kind === 'import'
        ? { metadata: { text: 'https://a.test/', format: 'lines' } }
        : {};
    const job = await make({ kind, ...needs });
    expect((await ask('GET', `/api/v1/jobs?kind=${kind}&limit=1`)).body.items[0].id).toBe(job.id);
  });
});
