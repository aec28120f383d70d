import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendLog, logCategories, logLevels } from '../../src/jobs/index.ts';
import { endRun, putJob } from '../jobs/standing.ts';
import { randomFrom } from '../web/random.ts';
import { createChecked } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab({ settings: { 'api.streams_per_caller': 4 } });
  ask = await createChecked(lab);
});
afterAll(() => lab.close());

/** A running job and its execution. */
async function startJob(): Promise<{ job: number; execution: string }> {
  const { pool } = lab.database;
  const job = await putJob(pool, 'running');
  const found = await pool.query<{ id: string }>('SELECT execution_id::text AS id FROM jobs WHERE id = $1', [
    job,
  ]);
  return { job, execution: found.rows[0]!.id };
}

const lineOf = (message: string) => ({ category: 'fetch', level: 'info', message }) as const;

type Told = { id: number; name: string; data: Record<string, unknown> };

/** Follows a log as a browser does, and is cut off after so many bytes; answers what whole events it has read. */
async function follow(
  execution: string,
  {
    after,
    bytes = Number.POSITIVE_INFINITY,
    query = '',
  }: { after?: number; bytes?: number; query?: string } = {},
): Promise<Told[]> {
  const cut = new AbortController();
  const open = () =>
    fetch(`${lab.address}/api/v1/executions/${execution}/logs/stream${query}`, {
      signal: cut.signal,
      headers: {
        ...lab.headersOf('read'),
        ...(after === undefined ? {} : { 'last-event-id': String(after) }),
      },
    });
  let response = await open();
  // Those who left a moment ago may still count.
  while (response.status === 429) response = await open();
  expect(response.status).toBe(200);
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body!) {
      text += decoder.decode(piece, { stream: true });
      if (text.length < bytes) continue;
      text = text.slice(0, bytes);
      break;
    }
  } finally {
    cut.abort();
  }
  // What comes behind the last empty line was cut in its middle.
  return text
    .slice(0, text.lastIndexOf('\n\n') + 1)
    .split('\n\n')
    .flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      return data === undefined
        ? []
        : [{ id: Number(field('id')), name: field('event')!, data: JSON.parse(data) }];
    });
}

test('a log that is cut again and again while many write loses and doubles nothing', async () => {
  const { job, execution } = await startJob();
  const { db, pool } = lab.database;
  const random = randomFrom(7);
  const writers = 4;
  const portions = 25;
  const writing = Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let portion = 0; portion < portions; portion += 1)
        // Transactions of several statements, of which some come to nothing.
        await db
          .withTransaction(async (tx) => {
            await appendLog(tx, BigInt(execution), [
              lineOf(`${writer}:${portion}:0`),
              lineOf(`${writer}:${portion}:1`),
            ]);
            // The others come between.
            for (let n = random.int(4); n > 0; n -= 1) await tx.query('SELECT 1');
            await appendLog(tx, BigInt(execution), [lineOf(`${writer}:${portion}:2`)]);
            if (portion % 5 === 4) throw new Error('taken back');
          })
          .catch((error: Error) => expect(error.message).toBe('taken back'));
    }),
  ).then(() => endRun(pool, job));
  const seen: Told[] = [];
  let cuts = 0;
  while (seen.at(-1)?.name !== 'end') {
    const after = seen.at(-1)?.id;
    const told = await follow(execution, {
      ...(after === undefined ? {} : { after }),
      bytes: 200 + random.int(3000),
    });
    seen.push(...told);
    cuts += 1;
  }
  await writing;
  const lines = seen.filter((one) => one.name === 'line');
  expect(cuts).toBeGreaterThan(5);
  expect(lines.map((one) => one.id)).toEqual(lines.map((_, index) => index + 1));
  const expected = Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: portions }, (_, portion) => portion)
      .filter((portion) => portion % 5 !== 4)
      .flatMap((portion) => [0, 1, 2].map((n) => `${writer}:${portion}:${n}`)),
  ).flat();
  expect(lines.map((one) => one.data.message).sort()).toEqual(expected.sort());
  expect(seen.at(-1)).toMatchObject({ name: 'end', id: lines.length, data: { status: 'completed' } });
  // The same to whoever comes late, and as a file.
  expect(await follow(execution)).toEqual(seen);
  const file = await fetch(`${lab.address}/api/v1/executions/${execution}/logs/download?format=ndjson`, {
    headers: lab.headersOf('read'),
  });
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="execution-${execution}.ndjson"`,
  );
  const written = (await file.text()).trimEnd().split('\n');
  expect(written.map((line) => JSON.parse(line))).toEqual(lines.map((one) => one.data));
});

test('a run that has ended tells all of it and ends; one that is gone ends too', async () => {
  const { job, execution } = await startJob();
  const { pool } = lab.database;
  await appendLog(
    pool,
    BigInt(execution),
    Array.from({ length: 450 }, (_, n) => ({
      category: logCategories[n % logCategories.length]!,
      level: logLevels[n % logLevels.length]!,
      message: `line ${n}`,
    })),
  );
  const following = follow(execution, { after: 440 });
  await endRun(pool, job, { execution: 'failed', status: 'failed' });
  expect((await following).map((one) => [one.name, one.id])).toEqual([
    ...Array.from({ length: 10 }, (_, n) => ['line', 441 + n]),
    ['end', 450],
  ]);
  const filtered = await follow(execution, { query: '?category=error&level=info&after=10' });
  expect(filtered.at(-1)).toMatchObject({ name: 'end', id: 450, data: { status: 'failed' } });
  expect(filtered.slice(0, -1).every(({ data }) => data.category === 'error' && data.level === 'info')).toBe(
    true,
  );
  expect(filtered.length).toBeGreaterThan(10);
});

test('pages of a log: in order, newest first, by category, level and words', async () => {
  const { execution } = await startJob();
  const { pool } = lab.database;
  const path = `/api/v1/executions/${execution}/logs`;
  expect((await ask('GET', path)).body).toEqual({ items: [], cursor: null, lines: 0 });
  // More than one look reads.
  await appendLog(
    pool,
    BigInt(execution),
    Array.from({ length: 41_000 }, (_, n) =>
      n % 20_500 === 20_499
        ? { category: 'error', level: 'error', message: `Ferry number ${n} 100% sank`, detail: { n } }
        : lineOf(`line ${n}`),
    ),
  );
  const all = async (query: string): Promise<number[]> => {
    const ids: number[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const { body } = await ask('GET', `${path}?${query}${cursor === null ? '' : `&cursor=${cursor}`}`);
      ids.push(...body.items.map((line: { id: number }) => line.id));
      cursor = body.cursor;
      pages += 1;
    } while (cursor !== null && pages < 200);
    return ids;
  };
  expect(await all('limit=1000')).toEqual(Array.from({ length: 41_000 }, (_, n) => n + 1));
  for (const query of ['category=error', 'level=error', 'q=FERRY', 'q=100%25%20s', 'q=ferry&level=error']) {
    expect(await all(query), query).toEqual([20_500, 41_000]);
    expect(await all(`${query}&order=newest`), query).toEqual([41_000, 20_500]);
  }
  expect(await all('q=nothing')).toEqual([]);
  const { items } = (await ask('GET', `${path}?order=newest&limit=2`)).body;
  expect(items).toMatchObject([
    { id: 41_000, detail: { n: 40_999 } },
    { id: 40_999, detail: null },
  ]);
  // Back from any line, and from beyond the end.
  const first = async (query: string): Promise<number> =>
    (await ask('GET', `${path}?order=newest&limit=1&${query}`)).body.items[0]?.id;
  expect([await first('before=501'), await first('before=2147483647')]).toEqual([500, 41_000]);
  expect((await ask('GET', `${path}?order=newest&before=1`)).body).toMatchObject({ items: [], cursor: null });
  for (const query of ['before=5', 'order=newest&before=0', 'order=newest&before=5&cursor=x'])
    expect((await ask('GET', `${path}?${query}`)).body.code, query).toBe('request_invalid');
});

test('a log as text has one line for each', async () => {
  const { execution } = await startJob();
  await appendLog(lab.database.pool, BigInt(execution), [
    { ...lineOf('two\nlines'), at: new Date('2026-01-02T03:04:05.678Z') },
    { category: 'rate_limit', level: 'warn', message: '429', at: new Date('2026-01-02T03:04:06Z') },
  ]);
  const file = await fetch(`${lab.address}/api/v1/executions/${execution}/logs/download`, {
    headers: lab.headersOf('read'),
  });
  expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await file.text()).toBe(
    '2026-01-02T03:04:05.678Z info  fetch      two ⏎ lines\n2026-01-02T03:04:06.000Z warn  rate_limit 429\n',
  );
});

test('unknown executions, numbers that are none, and one reader too many', async () => {
  for (const path of ['', '/logs', '/logs/stream', '/logs/download'])
    expect(await ask('GET', `/api/v1/executions/999999${path}`), path).toMatchObject({
      status: 404,
      body: { code: 'execution_unknown' },
    });
  for (const id of ['x', '-1', '1.5', '9'.repeat(19), '%00'])
    expect((await lab.ask('GET', `/api/v1/executions/${id}`)).status, id).toBe(400);
  const { execution } = await startJob();
  const open = async (headers: Record<string, string> = {}) => {
    const leave = new AbortController();
    const response = await fetch(`${lab.address}/api/v1/executions/${execution}/logs/stream`, {
      signal: leave.signal,
      headers: { ...lab.headersOf('write'), ...headers },
    });
    return { status: response.status, leave: () => leave.abort() };
  };
  for (const id of ['x', '-1', '1.5', '99999999999'])
    expect((await open({ 'last-event-id': id })).status, id).toBe(400);
  const readers = [await open(), await open(), await open(), await open()];
  expect(readers.map((one) => one.status)).toEqual([200, 200, 200, 200]);
  expect((await open()).status).toBe(429);
  for (const one of readers) one.leave();
});
