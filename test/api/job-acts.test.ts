import { afterAll, beforeAll, expect, test } from 'vitest';
import { actionMove, type JobAction, jobActions, jobStatuses } from '../../src/jobs/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { putJob, startRun } from '../jobs/standing.ts';
import { createChecked } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
});
afterAll(() => lab.close());

const pathOf = (action: JobAction): string => action.replace('_', '-');
const cases = jobStatuses.flatMap((status) => jobActions.map((action) => ({ status, action })));

test.each(cases)('$action of a $status job', async ({ status, action }) => {
  const { pool } = lab.database;
  const id = await putJob(pool, status, { retries: 3 });
  const { from, to } = actionMove(action);
  const isLegal = from.includes(status);
  const said = await ask('POST', `/api/v1/jobs/${id}/${pathOf(action)}`, { reason: 'a test' });
  const events = await pool.query(
    'SELECT from_status AS "from", to_status AS "to", action, reason FROM job_events WHERE job_id = $1',
    [id],
  );
  const audit = await pool.query('SELECT detail FROM audit WHERE action = $1 AND subject = $2', [
    `job_${action}`,
    String(id),
  ]);
  if (!isLegal) {
    expect(said.status).toBe(409);
    expect(said.body.code).toBe('job_state');
    expect(said.body.detail).toContain(`job ${id} is ${status}`);
    expect(said.body.advice).toBeTruthy();
    expect([events.rows, audit.rows]).toEqual([[], []]);
    expect((await ask('GET', `/api/v1/jobs/${id}`)).body.status).toBe(status);
    return;
  }
  expect(said.status).toBe(200);
  expect(said.body).toMatchObject({ id, status: to, executionId: null });
  expect(said.body.returnsTo).toBe(action === 'force_run' && status === 'paused' ? 'paused' : null);
  if (action === 'retry' || action === 'force_run') expect(said.body.retries).toBe(0);
  expect(said.body.nextRunAt === null).toBe(to === 'paused' || to === 'cancelled');
  expect(events.rows).toEqual([{ from: status, to, action, reason: 'a test' }]);
  expect(audit.rows).toEqual([{ detail: { from: status, to, reason: 'a test' } }]);
});

test('of two acts at once exactly one wins', async () => {
  const { pool } = lab.database;
  for (let round = 0; round < 10; round += 1) {
    const id = await putJob(pool, 'paused');
    const said = await Promise.all(
      ['resume', 'force-run', 'resume', 'force-run'].map((act) =>
        lab.ask('POST', `/api/v1/jobs/${id}/${act}`),
      ),
    );
    const won = said.filter((one) => one.status === 200);
    // A job that was resumed first may be forced then; nothing else goes twice.
    const events = await pool.query<{ from: string; to: string }>(
      'SELECT from_status AS "from", to_status AS "to" FROM job_events WHERE job_id = $1 ORDER BY id',
      [id],
    );
    expect(events.rows).toHaveLength(won.length);
    expect(said.filter((one) => one.status === 409)).toHaveLength(said.length - won.length);
    let at = 'paused';
    for (const { from, to } of events.rows) {
      expect(from).toBe(at);
      at = to;
    }
  }
  const id = await putJob(pool, 'scheduled');
  const said = await Promise.all(
    Array.from({ length: 8 }, () => lab.ask('POST', `/api/v1/jobs/${id}/pause`)),
  );
  expect(said.map((one) => one.status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
});

test('cancelling a run ends its execution, clears its lock and stands in its log', async () => {
  const { pool } = lab.database;
  const id = await putJob(pool, 'scheduled');
  const execution = await startRun(pool, id);
  expect((await ask('POST', `/api/v1/jobs/${id}/cancel`, { reason: 'too much' })).body).toMatchObject({
    status: 'cancelled',
    actions: [],
    lockedBy: null,
    heartbeatAt: null,
  });
  expect((await ask('GET', `/api/v1/executions/${execution}`)).body).toMatchObject({
    status: 'cancelled',
    logLines: 1,
  });
  const { items } = (await ask('GET', `/api/v1/executions/${execution}/logs`)).body;
  expect(items).toMatchObject([
    { id: 1, category: 'lifecycle', message: expect.stringContaining('too much') },
  ]);
});

test('everything that may be due or is cancelled is told to schedulers', async () => {
  const client = await lab.database.pool.connect();
  const heard: string[] = [];
  client.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await client.query('LISTEN outrider_jobs');
  const ids: number[] = [];
  for (const [status, act] of [
    ['paused', 'resume'],
    ['failed', 'retry'],
    ['completed', 'force-run'],
    ['running', 'cancel'],
  ] as const) {
    const id = await putJob(lab.database.pool, status);
    ids.push(id);
    await ask('POST', `/api/v1/jobs/${id}/${act}`);
  }
  // Whatever was sent before is here when this is answered.
  await client.query('SELECT 1');
  expect(heard).toEqual(ids.map(String));
  client.release(true);
});

test('nothing of a disabled source is run, and the error says what to do', async () => {
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://rests.test/', name: 'Rests' });
  await setSourceEnabled(pool, source.slug, false, { actor: 'test', reason: 'a test' });
  for (const [status, act] of [
    ['paused', 'resume'],
    ['paused', 'force-run'],
    ['failed', 'retry'],
  ] as const) {
    const id = await putJob(pool, status, { kind: 'crawl', sourceId: source.id });
    const said = await ask('POST', `/api/v1/jobs/${id}/${act}`);
    expect(said).toMatchObject({ status: 409, body: { code: 'source_disabled' } });
    expect(said.body.advice).toContain('outrider sources enable rests');
  }
  const id = await putJob(pool, 'paused', { kind: 'crawl', sourceId: source.id });
  expect((await ask('POST', `/api/v1/jobs/${id}/cancel`)).status).toBe(200);
});

test('unknown jobs and hostile bodies', async () => {
  expect(await ask('POST', '/api/v1/jobs/999999/pause')).toMatchObject({
    status: 404,
    body: { code: 'job_unknown' },
  });
  const id = await putJob(lab.database.pool, 'scheduled');
  for (const body of [{ reason: '' }, { reason: 'a\nb' }, { reason: 5 }, { other: 1 }, [], 'x'])
    expect((await ask('POST', `/api/v1/jobs/${id}/pause`, body)).status, JSON.stringify(body)).toBe(400);
});
