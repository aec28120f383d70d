import { afterEach, beforeEach, expect, test } from 'vitest';
import { done, finish, item, take } from '../../test/frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { createChannel } from '../channels/index.ts';
import { foldCounters, type LoggedRequest, pruneRollups, submit } from '../frontier/index.ts';
import { createSource } from '../sources/index.ts';
import { loadSeries, type SeriesPoint, type SeriesSpan, seriesSpans } from './series.ts';

const minuteMs = 60_000;
let database: TestDatabase;
// The middle of a minute: whatever a test takes, it does not see the next one begin.
let skewMs: number;
beforeEach(async () => {
  database = await createTestDatabase();
  skewMs = minuteMs / 2 - (Date.now() % minuteMs);
});
afterEach(() => database.drop());

/** Writes what a settle would have counted so many minutes ago. */
async function count(minutesAgo: number, columns: Record<string, unknown>): Promise<void> {
  const names = Object.keys(columns);
  await database.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, ${names.join(', ')})
     VALUES (0, date_trunc('minute', now() + $1 * interval '1 millisecond'), NULL, ${names.map((_, n) => `$${n + 2}`).join(', ')})`,
    [skewMs - minutesAgo * minuteMs, ...Object.values(columns)],
  );
}

const sum = (points: readonly SeriesPoint[], name: 'fetched' | 'requests' | 'discovered'): number =>
  points.reduce((all, point) => all + point[name], 0);
const totals = async (name: 'fetched' | 'requests' | 'discovered'): Promise<number[]> =>
  Promise.all(
    seriesSpans.map(async (span) => sum((await loadSeries(database.pool, span, skewMs)).points, name)),
  );

test.each([
  ['1h', 60, 61],
  ['24h', 300, 289],
  ['7d', 3600, 169],
] as const)('%s has a point for every step and no more than 300', async (span: SeriesSpan, step, points) => {
  const series = await loadSeries(database.pool, span, skewMs);
  expect(series).toMatchObject({ span, stepSeconds: step, from: series.points[0]!.at });
  expect(series.points).toHaveLength(points);
  const times = series.points.map((point) => point.at.getTime());
  expect(times.every((time) => time % (step * 1000) === 0)).toBe(true);
  expect(new Set(times.slice(1).map((time, n) => time - times[n]!))).toEqual(new Set([step * 1000]));
  expect(series.until.getTime() - times.at(-1)!).toBeLessThan(step * 1000);
  expect(series.until.getTime()).toBeGreaterThanOrEqual(times.at(-1)!);
});

test('steps that nobody saw are empty: no backlog, no latency, and nothing happened', async () => {
  const { points } = await loadSeries(database.pool, '1h', skewMs);
  const nothing = { discovered: 0, fetched: 0, documents: 0, failed: 0, unchanged: 0, duplicate: 0, dead: 0 };
  for (const point of points)
    expect(point).toMatchObject({
      ...nothing,
      requests: 0,
      backlog: null,
      latencyP50Ms: null,
      latencyP95Ms: null,
      delayP50Seconds: null,
    });
});

test('what requests and polls took is told by percentiles of what settled', async () => {
  await submit(database.pool, [item('a.test', '1'), item('a.test', '2'), item('a.test', '3')], {
    skewMs,
  });
  const [held] = await take(database.db, { skewMs });
  const request = (totalMs: number, status: number | null = 200): LoggedRequest => ({
    endedAt: performance.now(),
    status,
    kind: 'article',
    outcome: status === null ? 'timeout' : 'response',
    hash: null,
    url: 'https://a.test/1',
    sourceId: null,
    executionId: null,
    waitMs: 0,
    headersMs: 1,
    totalMs,
    bytes: 10,
  });
  await finish(database.db, held!, {
    items: held!.urls.map((url) => done(url.hash)),
    // What was never answered has no latency.
    requests: [request(100), request(100), request(100), request(30_000, null)],
    skewMs,
  });
  await foldCounters(database.pool, skewMs);
  for (const span of seriesSpans) {
    const points = (await loadSeries(database.pool, span, skewMs)).points.filter((one) => one.requests > 0);
    expect(points).toHaveLength(1);
    expect(points[0]).toMatchObject({ discovered: 3, fetched: 3, requests: 4, backlog: 0 });
    expect(points[0]!.latencyP50Ms).toBeGreaterThanOrEqual(91);
    expect(points[0]!.latencyP95Ms).toBeLessThanOrEqual(128);
  }
});

test('delays of found items are told where a poll found any', async () => {
  await count(3, { requests: 1, delays: [6, 6, 6, 12] });
  await foldCounters(database.pool, skewMs);
  const told = (await loadSeries(database.pool, '1h', skewMs)).points.flatMap(
    (one) => one.delayP50Seconds ?? [],
  );
  expect(told).toHaveLength(1);
  expect(told[0]).toBeGreaterThanOrEqual(32);
  expect(told[0]).toBeLessThanOrEqual(64);
});

test('items that a poll found count with the mean delay of that poll', async () => {
  const { pool, db } = database;
  const { source } = await createSource(pool, { url: 'https://a.test/', name: 'A' });
  const { channel } = await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://a.test/feed.xml',
    intervalSeconds: 900,
    foundBy: 'link',
  });
  const [held] = await take(db, { skewMs: skewMs + minuteMs });
  await finish(db, held!, {
    items: [
      done(held!.urls[0]!.hash, {
        kind: 'channel',
        status: 'pending',
        dueInMs: 900_000,
        channel: {
          id: channel.id,
          error: null,
          newItems: 3,
          format: 'rss',
          hub: null,
          lastItemAt: null,
          delays: { items: 3, seconds: 150 },
        },
      }),
    ],
    skewMs: skewMs + minuteMs,
  });
  await foldCounters(pool, skewMs + minuteMs);
  const { points } = await loadSeries(pool, '1h', skewMs + minuteMs);
  // In the middle of the bucket from 32 to 64 s.
  expect(points.at(-1)!.delayP50Seconds).toBe(48);
  const { rows } = await pool.query<{ found: number }>(
    'SELECT sum(n)::integer AS found FROM rollups, unnest(delays) n WHERE minutes = 1',
  );
  expect(rows[0]!.found).toBe(3);
});

test('the backlog is what waits at the last look of each step, and a gap where nobody looked', async () => {
  await submit(database.pool, [item('a.test', '1'), item('a.test', '2')], { skewMs });
  await foldCounters(database.pool, skewMs);
  // Nobody runs for three minutes, then more comes.
  await submit(database.pool, [item('a.test', '3')], { skewMs: skewMs + 4 * minuteMs });
  await foldCounters(database.pool, skewMs + 4 * minuteMs);
  const { points } = await loadSeries(database.pool, '1h', skewMs + 4 * minuteMs);
  expect(points.slice(-5).map((point) => point.backlog)).toEqual([2, null, null, null, 3]);
  expect(points.slice(-5).map((point) => point.discovered)).toEqual([2, 0, 0, 0, 1]);
});

test('what comes late is added to the minute it belongs to', async () => {
  await count(7, { fetched: 5, latencies: [3] });
  await foldCounters(database.pool, skewMs);
  await count(7, { fetched: 2, latencies: [3, 4] });
  await count(2000, { fetched: 1 });
  await foldCounters(database.pool, skewMs);
  const { points } = await loadSeries(database.pool, '1h', skewMs);
  expect(points.at(-8)).toMatchObject({ fetched: 7, backlog: null });
  expect(await totals('fetched')).toEqual([7, 7, 8]);
  const { rows } = await database.pool.query<{ latencies: number[] }>(
    'SELECT DISTINCT latencies FROM rollups WHERE latencies IS NOT NULL',
  );
  expect(rows.map((row) => row.latencies.slice(3, 5))).toEqual([[2, 1]]);
});

test('a crash while folding loses nothing and counts nothing twice', async () => {
  await count(1, { fetched: 4, rows_pending: 9 });
  const client = await database.pool.connect();
  client.on('error', () => undefined);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await client.query('BEGIN');
  await foldCounters(client, skewMs);
  // The server ends it between the work and the commit.
  await database.pool.query('SELECT pg_terminate_backend($1, 5000)', [rows[0]!.pid]);
  client.release(true);
  expect(await totals('fetched')).toEqual([0, 0, 0]);
  await foldCounters(database.pool, skewMs);
  await foldCounters(database.pool, skewMs);
  expect(await totals('fetched')).toEqual([4, 4, 4]);
  expect((await loadSeries(database.pool, '1h', skewMs)).points.at(-1)!.backlog).toBe(9);
});

test('when a part of a fold cannot be written, none is', async () => {
  await count(1, { fetched: 4 });
  await database.pool.query('ALTER TABLE rollups ADD CONSTRAINT full_disk CHECK (fetched = 0)');
  await expect(foldCounters(database.pool, skewMs)).rejects.toThrow('full_disk');
  const { rows } = await database.pool.query(
    'SELECT (SELECT count(*)::integer FROM counters) AS counters, (SELECT count(*)::integer FROM counter_deltas) AS deltas',
  );
  expect(rows).toEqual([{ counters: 0, deltas: 1 }]);
});

test('two schedulers that fold at once count everything once', async () => {
  for (let round = 0; round < 20; round += 1) {
    await Promise.all([
      count(round % 3, { fetched: 1, requests: 2, rows_pending: 1, latencies: [1] }),
      foldCounters(database.pool, skewMs),
      foldCounters(database.pool, skewMs),
      count(round % 7, { fetched: 1, requests: 2, rows_pending: 1, latencies: [2] }),
    ]);
  }
  await foldCounters(database.pool, skewMs);
  expect(await totals('fetched')).toEqual([40, 40, 40]);
  expect(await totals('requests')).toEqual([80, 80, 80]);
  const { rows } = await database.pool.query<{ minutes: number; answers: number }>(
    `SELECT minutes, sum(n)::integer AS answers FROM rollups, unnest(latencies) n GROUP BY minutes ORDER BY minutes`,
  );
  expect(rows.map((row) => row.answers)).toEqual([40, 40, 40]);
  expect((await loadSeries(database.pool, '1h', skewMs)).points.at(-1)!.backlog).toBe(40);
});

test('roll-ups go when no chart reaches them', async () => {
  await count(0, { fetched: 1 });
  await count(9 * 1440, { fetched: 1 });
  await foldCounters(database.pool, skewMs);
  expect(await pruneRollups(database.pool)).toBe(3);
  expect(await totals('fetched')).toEqual([1, 1, 1]);
});
