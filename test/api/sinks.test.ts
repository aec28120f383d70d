import { afterAll, beforeAll, expect, test } from 'vitest';
import { runReplays, saveSink } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { storeDocuments } from '../sinks/store.ts';
import { createChecked, hostileTexts, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
  lab = { ...lab, ask: await createChecked(lab) };
  await saveSink(lab.database.pool, { name: 'archive', kind: 'test', enabled: true });
  const { source } = await createSource(lab.database.pool, {
    url: 'https://herald.example/',
    name: 'Herald',
  });
  await storeDocuments(lab.database.pool, [
    { url: 'https://herald.example/a', sourceId: source.id },
    { url: 'https://other.example/b' },
  ]);
});
afterAll(() => lab.close());

const archive = async () =>
  (await lab.ask('GET', '/api/v1/sinks')).body.items.find(
    (sink: { name: string }) => sink.name === 'archive',
  );

test('sinks are listed with what waits for them', async () => {
  expect(await archive()).toMatchObject({ enabled: true, waiting: 2, deadLetters: 0, deliverer: null });
});

test('dead letters are shown and tried again', async () => {
  await lab.database.pool.query(
    `WITH gone AS (DELETE FROM outbox WHERE sink = 'archive' RETURNING *)
     INSERT INTO dead_letters SELECT bucket, sink, domain_key, url_hash, version, enqueued_at, now(), 1, 'too long' FROM gone`,
  );
  const { body } = await lab.ask('GET', '/api/v1/sinks/archive/dead-letters');
  expect(body.items).toHaveLength(2);
  expect(body.items[0]).toMatchObject({ error: 'too long', attempts: 1, version: 1 });
  expect(body.cursor).toBe(null);
  // Both became dead at the same moment: a page ends between them and loses none.
  const first = (await lab.ask('GET', '/api/v1/sinks/archive/dead-letters?limit=1')).body;
  const rest = (await lab.ask('GET', `/api/v1/sinks/archive/dead-letters?limit=1&cursor=${first.cursor}`))
    .body;
  expect([...first.items, ...rest.items]).toEqual(body.items);
  const end = (await lab.ask('GET', `/api/v1/sinks/archive/dead-letters?limit=1&cursor=${rest.cursor}`)).body;
  expect(end).toEqual({ items: [], cursor: null });
  for (const cursor of ['x', '1.2.3', `${first.cursor}0000000000`, `99999999999999999.${body.items[0].id}`])
    expect(
      (await lab.ask('GET', `/api/v1/sinks/archive/dead-letters?cursor=${cursor}`)).body.code,
      cursor,
    ).toBe('cursor_invalid');
  expect((await lab.ask('POST', '/api/v1/sinks/archive/retry')).body).toEqual({ retried: 2 });
  expect(await archive()).toMatchObject({ waiting: 2, deadLetters: 0 });
});

test('a replay is asked for once, and narrowed to a source', async () => {
  await lab.database.pool.query(`DELETE FROM outbox WHERE sink = 'archive'`);
  const wish = { source: 'herald', since: '2020-01-01' };
  expect((await lab.ask('POST', '/api/v1/sinks/archive/replay', wish)).status).toBe(202);
  expect((await lab.ask('POST', '/api/v1/sinks/archive/replay', wish)).status).toBe(409);
  expect((await lab.ask('GET', '/api/v1/sinks')).body.replays).toMatchObject([
    { sink: 'archive', enqueued: 0 },
  ]);
  while ((await runReplays(lab.database.db, 1)) > 0);
  expect(await archive()).toMatchObject({ waiting: 1 });
  expect((await lab.ask('GET', '/api/v1/sinks')).body.replays).toEqual([]);
  expect((await lab.ask('POST', '/api/v1/sinks/archive/replay', { since: 'never' })).status).toBe(400);
  expect((await lab.ask('POST', '/api/v1/sinks/archive/replay', { source: 'nobody' })).status).toBe(404);
});

test('a sink is paused and goes on; one that there is not is not found', async () => {
  expect((await lab.ask('POST', '/api/v1/sinks/archive/pause')).body).toEqual({
    sink: 'archive',
    enabled: false,
  });
  expect(await archive()).toMatchObject({ enabled: false });
  expect((await lab.ask('POST', '/api/v1/sinks/archive/resume')).status).toBe(200);
  for (const path of ['retry', 'pause', 'resume'])
    expect((await lab.ask('POST', `/api/v1/sinks/nobody/${path}`)).status, path).toBe(404);
  const audit = await lab.database.pool.query('SELECT action FROM audit ORDER BY action');
  expect(audit.rows.map((row) => row.action)).toEqual([
    'sink_pause',
    'sink_replay',
    'sink_resume',
    'sink_retry',
  ]);
});

test('a sink that is configured no more is forgotten, the index never', async () => {
  expect((await lab.ask('DELETE', '/api/v1/sinks/index')).body.code).toBe('sink_builtin');
  expect((await lab.ask('DELETE', '/api/v1/sinks/archive')).body).toEqual({ sink: 'archive', removed: true });
  expect(await archive()).toBeUndefined();
  expect((await lab.ask('DELETE', '/api/v1/sinks/archive')).status).toBe(404);
});

test('whatever comes, nothing breaks', async () => {
  for (const value of hostileValues)
    for (const field of ['source', 'since', 'other'])
      await lab.ask('POST', '/api/v1/sinks/index/replay', { [field]: value });
  for (const text of hostileTexts) {
    const part = new URLSearchParams({ v: text }).toString().slice(2);
    await lab.ask('GET', `/api/v1/sinks/index/dead-letters?limit=${part}`);
    await lab.ask('GET', `/api/v1/sinks/index/dead-letters?cursor=${part}`);
    await lab.ask('GET', `/api/v1/sinks?x=${part}`);
    if (part !== '') await lab.ask('POST', `/api/v1/sinks/${part}/retry`);
  }
});
