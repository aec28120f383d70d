import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadNewestEvent } from '../../src/events/index.ts';
import { saveWorker } from '../../src/frontier/index.ts';
import { saveAudit } from '../../src/switches/index.ts';
import { startRun } from '../jobs/standing.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
});
afterAll(() => lab.close());

type Told = { id: string | null; name: string; data: Record<string, unknown> };

/** A reader of events, as a browser has one. */
async function follow(headers: Record<string, string> = {}, query = '') {
  const stop = new AbortController();
  const response = await fetch(`${lab.address}/api/v1/events${query}`, {
    signal: stop.signal,
    headers: { ...lab.headersOf('read'), ...headers },
  });
  if (response.status !== 200) return { status: response.status, until: null, leave: () => undefined };
  const told: Told[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const read = async (): Promise<void> => {
    const { value = '', done } = await reader.read();
    if (done) throw new Error('the stream has ended');
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
      const data = field('data');
      if (data !== null) told.push({ id: field('id'), name: field('event')!, data: JSON.parse(data) });
    }
  };
  return {
    status: 200,
    /** Reads on until what was told is enough. */
    until: async (isEnough: (told: readonly Told[]) => boolean): Promise<readonly Told[]> => {
      while (!isEnough(told)) await read();
      return told;
    },
    leave: () => stop.abort(),
  };
}

const note = (subject: string): Promise<void> =>
  saveAudit(lab.database.pool, { actor: 'test', action: 'note', subject, detail: {} });
const move = (name: string): Promise<unknown> =>
  lab.database.pool.query(
    `WITH d AS (INSERT INTO domains (bucket, domain_key, name) VALUES (1, hashtext($1), $1) ON CONFLICT DO NOTHING)
     INSERT INTO domain_events (bucket, domain_key, at, from_status, to_status, reason, actor)
     VALUES (1, hashtext($1), now(), 'pending', 'active', 'tested', 'test')`,
    [name],
  );
const kept = (told: readonly Told[]): Told[] => told.filter((one) => one.id !== null);
const subjects = (told: readonly Told[]): unknown[] =>
  kept(told).map(({ data }) => data.subject ?? data.domain);

test('what happens is told as it happens, and nothing twice after a cut', async () => {
  await note('before anybody listened');
  // An older transaction, of any database of this server, hides it until it ends.
  while ((await loadNewestEvent(lab.database.pool)) === 0n) await sleep(20);
  const first = await follow();
  await note('a');
  await move('b.example');
  const seen = await first.until!((told) => kept(told).length >= 2);
  expect(subjects(seen)).toEqual(['a', 'b.example']);
  expect(kept(seen)[1]).toMatchObject({
    name: 'domain',
    data: { from: 'pending', to: 'active', reason: 'tested', actor: 'test' },
  });
  first.leave();
  await note('c');
  await move('d.example');
  const id = kept(seen).at(-1)!.id!;
  const second = await follow({ 'last-event-id': id });
  await note('e');
  expect(subjects(await second.until!((told) => kept(told).length >= 3))).toEqual(['c', 'd.example', 'e']);
  second.leave();
  // From the first event on, by the address.
  const third = await follow({}, `?after=${encodeURIComponent(kept(seen)[0]!.id!)}`);
  expect(subjects(await third.until!((told) => kept(told).length >= 4))).toEqual([
    'b.example',
    'c',
    'd.example',
    'e',
  ]);
  third.leave();
});

test('many events of one transaction are all told, in portions', async () => {
  const reader = await follow();
  await lab.database.pool.query(
    `INSERT INTO audit (actor, action, subject) SELECT 'test', 'many', n::text FROM generate_series(1, 350) n`,
  );
  const told = await reader.until!((all) => kept(all).length >= 350);
  expect(subjects(told)).toEqual(Array.from({ length: 350 }, (_, n) => String(n + 1)));
  reader.leave();
});

test('a reader that does not read misses nothing', async () => {
  const reader = await follow();
  // 30 MB: more than any buffer between takes.
  await lab.database.pool.query(
    `INSERT INTO audit (actor, action, subject, detail)
     SELECT 'test', 'large', n::text, jsonb_build_object('words', repeat('x', 100000)) FROM generate_series(1, 300) n`,
  );
  await note('last');
  // Another one hears of the last before the first has read a word.
  const other = await follow();
  await note('after it');
  await other.until!((all) => kept(all).length >= 1);
  other.leave();
  const told = await reader.until!((all) => kept(all).length >= 302);
  expect(subjects(told)).toEqual([
    ...Array.from({ length: 300 }, (_, n) => String(n + 1)),
    'last',
    'after it',
  ]);
  reader.leave();
});

test('a slower transaction is not passed by', async () => {
  const reader = await follow();
  const slow = await lab.database.pool.connect();
  try {
    await slow.query('BEGIN');
    await slow.query(`INSERT INTO audit (actor, action, subject) VALUES ('test', 'note', 'slow')`);
    await note('quick');
    await slow.query('COMMIT');
  } finally {
    slow.release();
  }
  const told = await reader.until!((all) => kept(all).length >= 2);
  expect(subjects(told)).toEqual(['slow', 'quick']);
  reader.leave();
});

test('workers and activity are told at once, and again when they have changed', async () => {
  const reader = await follow();
  const latest = (told: readonly Told[], name: string) => told.findLast((one) => one.name === name)?.data;
  const begun = await reader.until!(
    (told) => latest(told, 'workers') !== undefined && latest(told, 'activity') !== undefined,
  );
  expect(latest(begun, 'activity')).toMatchObject({ lately: { fetched: 0 }, domainsDue: 0 });
  const worker = { id: 'w1', role: 'fetch', pool: 'default', version: '1', host: 'h', pid: 1 };
  await saveWorker(lab.database.pool, {
    ...worker,
    state: { loops: [{ name: 'fetch', errorsInRow: 2 }, 'nonsense', null] },
  });
  await lab.database.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, fetched) VALUES (1, date_trunc('minute', now()), 1, 7)`,
  );
  const isChanged = (told: readonly Told[]): boolean =>
    (latest(told, 'workers') as { items: unknown[] }).items.length === 1 &&
    (latest(told, 'activity') as { lately: { fetched: number } }).lately.fetched === 7;
  const told = await reader.until!(isChanged);
  expect(latest(told, 'workers')).toMatchObject({
    items: [{ ...worker, isAlive: true, loops: [{ name: 'fetch', isHealthy: false }] }],
  });
  reader.leave();
});

test('moves of jobs and how far they are are told, also after a cut in the middle of a transaction', async () => {
  const { pool } = lab.database;
  const reader = await follow();
  const { body: job } = await lab.ask('POST', '/api/v1/jobs', { kind: 'prune', intervalMinutes: 60 });
  const told = kept(await reader.until!((all) => kept(all).length >= 2));
  expect(told.map((one) => one.name)).toEqual(['audit', 'job']);
  expect(told[1]!.data).toMatchObject({ jobId: job.id, from: null, to: 'scheduled', action: 'create' });
  reader.leave();
  // The audit and the event are of one transaction.
  expect(told[0]!.id!.split('-')[0]).toBe(told[1]!.id!.split('-')[0]);
  await lab.ask('POST', `/api/v1/jobs/${job.id}/pause`);
  const between = await follow({ 'last-event-id': told[0]!.id! });
  const after = kept(await between.until!((all) => kept(all).length >= 3));
  expect(after.map((one) => [one.name, one.data.action])).toEqual([
    ['job', 'create'],
    ['audit', 'job_pause'],
    ['job', 'pause'],
  ]);
  between.leave();
  const last = await follow({ 'last-event-id': after[2]!.id! });
  await lab.ask('POST', `/api/v1/jobs/${job.id}/resume`);
  await startRun(pool, job.id);
  const seen = await last.until!((all) =>
    all.some((one) => one.name === 'progress' && (one.data.items as unknown[]).length === 1),
  );
  expect(kept(seen).map((one) => one.data.action)).toEqual(['job_resume', 'resume']);
  expect(seen.findLast((one) => one.name === 'progress')!.data.items).toMatchObject([
    { jobId: job.id, number: 1, itemsCrawled: 0 },
  ]);
  last.leave();
});

test('an id of elsewhere is refused, and so is one reader too many', async () => {
  for (const id of [
    'x',
    '1',
    '1-audit-',
    '1-domain-5',
    '1-job',
    '1-job-x',
    '99999999999999999999-audit',
    "1-audit-1'--",
    '1-audit-1-1',
  ])
    expect((await follow({ 'last-event-id': id })).status, id).toBe(400);
  expect((await follow({}, '?after=x')).status).toBe(400);
  expect((await follow({}, '?other=1')).status).toBe(400);
  expect((await follow({ 'last-event-id': '999999999999-audit' })).status).toBe(410);
  expect(
    (await fetch(`${lab.address}/api/v1/events`, { method: 'HEAD', headers: lab.headersOf('read') })).status,
  ).toBe(405);
  // So many per caller; those who left a moment ago may still count.
  const readers: Awaited<ReturnType<typeof follow>>[] = [];
  for (let last = await follow(); last.status === 200; last = await follow()) readers.push(last);
  expect(readers.length).toBeGreaterThan(5);
  expect(readers.length).toBeLessThanOrEqual(10);
  expect((await follow()).status).toBe(429);
  for (const reader of readers) reader.leave();
  // Whoever leaves makes room; the test's own time limit is the bound.
  for (let last = await follow(); ; last = await follow()) {
    last.leave();
    if (last.status === 200) break;
  }
});
