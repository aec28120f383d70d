import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { putJob } from '../jobs/standing.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
});
afterAll(() => lab.close());

const names = async (sql: string): Promise<unknown[]> =>
  (await lab.database.pool.query<{ x: unknown }>(sql)).rows.map(({ x }) => x);

test('sources that are named are disabled, enabled and deleted, and one that is unknown holds up no other', async () => {
  const { pool } = lab.database;
  for (const name of ['one', 'two', 'three'])
    await createSource(pool, { url: `https://${name}.test/`, name });
  const act = (body: object, asker: 'write' | 'admin' | 'read' = 'write') =>
    lab.ask('POST', '/api/v1/sources/actions', body, asker);
  const slugs = ['one', 'nobody', 'two'];
  expect(await act({ action: 'disable', slugs, reason: 'they rest' })).toEqual({
    status: 200,
    body: {
      done: 2,
      refused: [
        { id: 'nobody', code: 'source_unknown', detail: expect.stringContaining('nobody') as string },
      ],
      left: [],
    },
  });
  expect(await names(`SELECT disable_reason AS x FROM sources WHERE NOT enabled`)).toEqual([
    'they rest',
    'they rest',
  ]);
  expect((await act({ action: 'enable', slugs })).body.done).toBe(2);
  expect(await names('SELECT slug AS x FROM sources WHERE enabled ORDER BY id')).toEqual([
    'one',
    'two',
    'three',
  ]);
  expect(await act({ action: 'delete', slugs }, 'write')).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect((await act({ action: 'enable', slugs }, 'read')).status).toBe(403);
  expect((await act({ action: 'delete', slugs, documents: 'delete' }, 'admin')).body.done).toBe(2);
  expect(await names('SELECT slug AS x FROM sources')).toEqual(['three']);
  const actors = await names(`SELECT DISTINCT action || ' ' || subject AS x FROM audit ORDER BY x`);
  expect(actors).toContain('source_disable one');
  expect(actors).not.toContain('source_disable nobody');
  for (const body of [
    { action: 'disable', slugs },
    { action: 'enable', slugs, documents: 'keep' },
    { action: 'enable', slugs: [] },
    { action: 'enable', slugs: ['one', 'one'] },
    { action: 'enable', slugs: Array.from({ length: 501 }, (_, n) => `s${n}`) },
  ])
    expect(await act(body), JSON.stringify(body).slice(0, 60)).toMatchObject({ status: 400 });
});

test('jobs that are named are acted on as each stands', async () => {
  const { pool } = lab.database;
  const at = new Date(Date.now() + 7_200_000);
  const scheduled = await putJob(pool, 'scheduled', { at, intervalSeconds: 86_400 });
  const failed = await putJob(pool, 'failed');
  const { status, body } = await lab.ask(
    'POST',
    '/api/v1/jobs/actions',
    { action: 'pause', ids: [failed, scheduled, 999_999], reason: 'a holiday' },
    'write',
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({
    done: 1,
    refused: [
      { id: failed, code: 'job_state', detail: expect.stringContaining('failed') as string },
      { id: 999_999, code: 'job_unknown' },
    ],
    left: [],
  });
  expect(await names(`SELECT status AS x FROM jobs WHERE id = ${scheduled}`)).toEqual(['paused']);
});

test('channels that are named are disabled, enabled and polled', async () => {
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://herald.test/', name: 'Herald' });
  const ids: number[] = [];
  for (const n of [1, 2]) {
    const url = `https://herald.test/${n}.xml`;
    const made = {
      sourceId: source.id,
      kind: 'feed' as const,
      url,
      intervalSeconds: 900,
      foundBy: 'link' as const,
    };
    ids.push((await createChannel(pool, made)).channel.id);
  }
  const act = async (body: object) => lab.ask('POST', '/api/v1/channels/actions', body, 'write');
  expect((await act({ action: 'disable', ids: [...ids, 999_999] })).body).toEqual({
    dryRun: false,
    matched: 3,
    outcomes: { disabled: 2, 'refused:unknown': 1 },
    total: { count: 3, exact: true },
    cursor: null,
  });
  expect((await act({ action: 'poll', ids })).body.outcomes).toEqual({ 'refused:disabled': 2 });
  expect((await act({ action: 'enable', ids })).body.outcomes).toEqual({ enabled: 2 });
  expect((await act({ action: 'poll', ids })).body.outcomes).toEqual({ polled: 2 });
  for (const body of [
    { action: 'enable' },
    { action: 'enable', filter: { state: 'failing' } },
    { action: 'poll', ids, filter: { state: 'failing' } },
    { action: 'poll', ids, dryRun: true },
  ])
    expect(await act(body), JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { code: 'request_invalid' },
    });
});
