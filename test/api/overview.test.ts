import { afterAll, beforeEach, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { blockDomain } from '../../src/domains/index.ts';
import { foldCounters, saveWorker, submit } from '../../src/frontier/index.ts';
import type { Attention, Overview } from '../../src/overview/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { systemClock } from '../../src/telemetry/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { done, finish, item, take } from '../frontier/fixtures.ts';
import { putJob } from '../jobs/standing.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// Answers are shared for a second; this clock says when one is over.
let monotonicMs = 0;
let lab: ApiLab = await startApiLab({ clock: { ...systemClock, monotonic: () => monotonicMs } });

beforeEach(async () => {
  await lab.close();
  lab = await startApiLab({ clock: { ...systemClock, monotonic: () => monotonicMs } });
});
afterAll(() => lab.close());

async function look(): Promise<Overview> {
  monotonicMs += 1000;
  const { status, body } = await lab.ask('GET', '/api/v1/overview', undefined, 'read');
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Overview;
}

const trouble = async (id: string): Promise<Attention | undefined> =>
  (await look()).attention.find((one) => one.id === id);

const worker = (role: string, state: object = {}): Promise<void> =>
  saveWorker(lab.database.pool, {
    id: `${role}-1`,
    role,
    pool: 'default',
    version: '0',
    host: 'h',
    pid: 7,
    state,
  });

/** A source with channels, and who works on them. */
async function start(channels = 0): Promise<number[]> {
  const { pool } = lab.database;
  await worker('fetch');
  await worker('schedule');
  // By its links: a source of feeds without one would be a trouble of its own.
  const mode = channels === 0 ? 'spider' : 'feed';
  const { source } = await createSource(pool, { url: 'https://herald.test/', name: 'Herald', mode });
  const ids: number[] = [];
  for (let n = 0; n < channels; n += 1) {
    const { channel } = await createChannel(pool, {
      sourceId: source.id,
      kind: 'feed',
      url: `https://herald.test/${n}.xml`,
      intervalSeconds: 900,
      foundBy: 'link',
    });
    ids.push(channel.id);
  }
  return ids;
}

const failChannels = (ids: readonly number[]): Promise<unknown> =>
  lab.database.pool.query(
    `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind, failing_since)
     SELECT bucket, id, id, 'http_5xx', now() - interval '3 hours' FROM channels WHERE id = ANY ($1)`,
    [ids],
  );

const submitMany = (domain: string, count: number): Promise<unknown> =>
  submit(
    lab.database.pool,
    Array.from({ length: count }, (_, n) => item(domain, `p${n}`)),
  );

test('a first start has nothing to complain of but that nobody works', async () => {
  const first = await look();
  expect(first).toMatchObject({ state: 'ok', sentence: 'No sources yet. Add the first one.' });
  expect(first.attention.map((one) => one.id)).toEqual(['no_fetcher', 'no_scheduler']);
  expect(first.counts).toEqual({
    sources: { count: 0, exact: true },
    failingChannels: { count: 0, exact: true },
    blockedDomains: { count: 0, exact: true },
    unreachableDomains: { count: 0, exact: true },
    failedJobs: { count: 0, exact: true },
    deadUrls: 0,
    pendingUrls: 0,
    fetchingDomains: 0,
    fetchingUrls: 0,
    documents: { count: 0, exact: true },
    deadLetters: { count: 0, exact: true },
  });
});

test('an engine at work tells its pace, its counts and its flow', async () => {
  await start();
  await submitMany('a.test', 3);
  await submitMany('b.test', 2);
  const held = (await take(lab.database.db)).find((one) => one.urls.length === 3)!;
  const [first, second] = held.urls;
  await finish(lab.database.db, held, {
    items: [done(first!.hash), done(second!.hash, { status: 'dead', errorCode: 'not_found' })],
    final: false,
  });
  for (const fold of [false, true]) {
    if (fold) await foldCounters(lab.database.pool);
    const { counts, flow, sentence, state, attention } = await look();
    expect({ state, attention }).toEqual({ state: 'ok', attention: [] });
    expect(sentence).toMatch(/^1[0-2] pages\/h from 2 domains; 3 URLs wait\.$/);
    expect(counts).toMatchObject({ pendingUrls: 3, deadUrls: 1, fetchingDomains: 2, fetchingUrls: 3 });
    expect(flow.discoveredPerMinute).toBeCloseTo((5 / flow.seconds) * 60);
    expect(flow.fetchedPerMinute).toBeCloseTo((1 / flow.seconds) * 60);
    expect(flow.exits).toMatchObject({ dead: 1, failed: 0 });
    expect(flow.sinks).toBe(1);
  }
});

test('deliveries are counted since the look of five minutes ago, and a removed sink takes none back', async () => {
  const { pool } = lab.database;
  await start();
  await pool.query(`UPDATE sinks SET created_at = now() - interval '1 day'`);
  expect((await look()).flow.deliveredPerMinute).toBeNull();
  await foldCounters(pool, -5 * 60_000);
  await pool.query(`UPDATE sink_states SET delivered = delivered + 30 WHERE sink = 'index'`);
  const { deliveredPerMinute } = (await look()).flow;
  // Thirty in five minutes and what this test takes.
  expect(deliveredPerMinute).toBeGreaterThan(0);
  expect(deliveredPerMinute).toBeLessThanOrEqual(6);
  await pool.query(`UPDATE sink_states SET delivered = 0 WHERE sink = 'index'`);
  await pool.query(`UPDATE rollups SET delivered = 100`);
  expect((await look()).flow.deliveredPerMinute).toBe(0);
});

test('what an engine delivered in its first minutes is not told as more than that', async () => {
  const { pool } = lab.database;
  await start();
  await pool.query(`UPDATE sinks SET created_at = now()`);
  await pool.query(`UPDATE sink_states SET delivered = 100 WHERE sink = 'index'`);
  // Before anybody has looked all of it belongs to these minutes.
  expect(((await look()).flow.deliveredPerMinute! / 60) * (await look()).flow.seconds).toBeCloseTo(100, -1);
  await foldCounters(pool, -2 * 60_000);
  await pool.query(`UPDATE sink_states SET delivered = 1600 WHERE sink = 'index'`);
  const delivered = async (): Promise<number> => {
    const { flow } = await look();
    return Math.round((flow.deliveredPerMinute! / 60) * flow.seconds);
  };
  // 1500 since the look of two minutes ago would be 3750 and more in five.
  expect(await delivered()).toBe(1600);
  // An old engine that begins again: what was delivered before its first look is long ago.
  await pool.query(`UPDATE sinks SET created_at = now() - interval '1 day'`);
  expect(await delivered()).toBe(1500);
});

test('a source of feeds without one is told, and found by its status', async () => {
  const { pool } = lab.database;
  await start(1);
  const names = async (): Promise<string[]> => (await look()).attention.map(({ id }) => id);
  expect(await names()).toEqual([]);
  const add = (name: string, mode: 'feed' | 'spider' | 'both' = 'feed') =>
    createSource(pool, { url: `https://${name}.test/`, name, mode });
  await add('linked', 'spider');
  await add('both', 'both');
  const { source } = await add('gone');
  await add('stopped');
  await lab.ask('POST', '/api/v1/sources/stopped/disable', { reason: 'it closed down' });
  const listed = async (status: string): Promise<string[]> => {
    const { body } = await lab.ask('GET', `/api/v1/sources?status=${status}`);
    return (body.items as { slug: string; status: string }[]).map((one) => {
      expect(one.status).toBe(status);
      return one.slug;
    });
  };
  expect((await look()).state).toBe('warn');
  expect(await trouble('empty_source:gone')).toMatchObject({
    sentence: 'gone brings nothing: no feed or sitemap of it is known, or it could not be reached.',
    action: { kind: 'open', target: { screen: 'sources', id: 'gone' } },
  });
  expect(await listed('empty')).toEqual(['gone']);
  expect(await listed('ok')).toEqual(['herald', 'linked', 'both']);
  expect(await listed('disabled')).toEqual(['stopped']);
  // While its feeds are looked for nobody has to mind.
  await lab.ask('POST', `/api/v1/sources/${source.slug}/discover`);
  expect(await names()).toEqual([]);
  expect(await listed('searching')).toEqual(['gone']);
  await pool.query(`UPDATE discoveries SET finished_at = now(), state = 'nothing'`);
  expect(await names()).toEqual(['empty_source:gone']);
  for (const name of ['one', 'two', 'three']) await add(name);
  expect(await trouble('empty_sources')).toMatchObject({
    sentence: '4 sources bring nothing: no feed or sitemap of theirs is known, of three for one.',
    action: { kind: 'open', target: { screen: 'sources', id: null, filter: { status: 'empty' } } },
  });
});

test('a backlog that grows is told, and one that shrinks tells when it ends', async () => {
  await start();
  const { pool } = lab.database;
  await submitMany('a.test', 400);
  await take(lab.database.db);
  await foldCounters(pool, -5 * 60_000);
  await pool.query('UPDATE rollups SET backlog = 100 WHERE looked_at IS NOT NULL');
  expect((await look()).sentence).toMatch(/queue of 400 grows by about \d+ URLs\/min\.$/);
  await pool.query('UPDATE rollups SET backlog = 800 WHERE looked_at IS NOT NULL');
  expect((await look()).sentence).toMatch(/queue empties in about \d+ min\.$/);
});

test('nothing to do is told with when there will be', async () => {
  const ids = await start(1);
  await lab.database.pool.query(
    `UPDATE domain_slots SET next_at = now() + interval '4 minutes', wake_at = NULL`,
  );
  expect(ids).toHaveLength(1);
  const found = await look();
  expect(found.state).toBe('ok');
  expect(found.sentence).toMatch(/^Nothing to fetch now; next fetch in \d+ (?:min|s)\.$/);
});

test('no fetcher and no scheduler are failures', async () => {
  await start();
  await submitMany('a.test', 2);
  await lab.database.pool.query(`UPDATE workers SET heartbeat_at = now() - interval '1 minute'`);
  const found = await look();
  expect(found).toMatchObject({ state: 'fail', sentence: 'No fetcher is alive; 2 URLs wait.' });
  expect(found.attention).toMatchObject([
    { id: 'no_fetcher', severity: 'fail', action: { kind: 'open', target: { screen: 'health' } } },
    { id: 'no_scheduler', severity: 'fail' },
  ]);
});

test('an outage and loops that fail are told of their process', async () => {
  await start();
  await worker('fetch', {
    outage: true,
    loops: [{ name: 'lease', errorsInRow: 4 }, { name: 'x', errorsInRow: 2 }, null, 7],
  });
  const found = await look();
  expect(found.sentence).toBe('No fetcher reaches the network.');
  expect(found.attention.map((one) => [one.id, one.severity])).toEqual([
    ['outage', 'fail'],
    ['loop:h:7:lease', 'warn'],
  ]);
  // What a process of another version writes there is not taken for granted.
  await worker('fetch', { outage: 'perhaps', loops: { name: 3 } });
  expect((await look()).attention).toEqual([]);
});

test('a process that is restarted again and again, and a database that was, are told', async () => {
  await start();
  const last = [1, 2, 3, 90]
    .map((minutes) => ({ at: Date.now() - minutes * 60_000, reason: 'memory', why: 'it ran short' }))
    .reverse();
  await worker('fetch', { restarts: { last: [...last.slice(0, 3), null, { at: 'now' }] } });
  expect((await look()).attention).toEqual([]);
  await worker('fetch', { restarts: { last } });
  await lab.database.pool.query(`UPDATE workers SET started_at = '2020-01-01'`);
  expect((await look()).attention).toMatchObject([
    {
      id: 'restarts:h:fetch:7',
      severity: 'warn',
      sentence: 'The fetch process 7 on h was restarted 3 times in the last hour, last because it ran short.',
      action: { kind: 'open', target: { screen: 'health' } },
    },
    { id: 'database_restarted', sentence: expect.stringContaining('while processes worked with it') },
  ]);
  await worker('fetch', { restarts: { last: [{ at: Date.now(), reason: 'stall', why: 'it stalled' }] } });
  expect((await look()).attention[0]).toMatchObject({
    sentence: 'The fetch process 7 on h was restarted once in the last hour, last because it stalled.',
  });
});

test('switches that are off are told with who did it, and can be switched on', async () => {
  await start();
  await saveSwitch(lab.database.pool, 'spider', false, 'anna');
  expect(await trouble('switch:spider')).toMatchObject({
    severity: 'warn',
    sentence: expect.stringMatching(/^The switch spider was turned off, \d+ s ago by anna\.$/) as string,
    action: { kind: 'switch_on', target: { screen: 'settings', id: 'spider' } },
  });
  await saveSwitch(lab.database.pool, 'fetching', false, 'anna');
  const found = await look();
  expect(found).toMatchObject({ state: 'fail', sentence: 'Fetching is switched off.' });
  expect(found.attention.map((one) => one.id)).toEqual(['switch:fetching', 'switch:spider']);
});

test('pages that need a browser nobody has are told, with what to do', async () => {
  await start();
  await lab.database.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, rows_needs_render) VALUES (1, now(), 1, 3)`,
  );
  expect(await trouble('no_browser')).toMatchObject({
    severity: 'warn',
    sentence: expect.stringMatching(
      /^3 pages need JavaScript and wait: no fetcher has a browser\. Set render\.browser_path/,
    ) as string,
    action: { kind: 'open', target: { screen: 'frontier', filter: { status: 'needs_render' } } },
  });
  await lab.database.pool.query(`UPDATE workers SET renders = true`);
  expect(await trouble('no_browser')).toBeUndefined();
  await lab.database.pool.query('DELETE FROM counter_deltas WHERE rows_needs_render > 0');
});

test('few failing channels are told one by one, more together', async () => {
  const ids = await start(5);
  await failChannels(ids.slice(0, 2));
  const few = await look();
  expect(few.counts.failingChannels).toEqual({ count: 2, exact: true });
  expect(few.sentence).toContain('2 channels failing');
  // The worst comes first.
  expect(few.attention.map((one) => one.id)).toEqual([`channel:${ids[1]}`, `channel:${ids[0]}`]);
  expect(few.attention[0]).toMatchObject({
    sentence: 'The channel https://herald.test/1.xml has failed for 3 h (http_5xx, 2 errors in a row).',
    action: { kind: 'poll_channel', target: { screen: 'channels', id: String(ids[1]) } },
  });
  await failChannels(ids.slice(2));
  expect((await look()).attention).toMatchObject([
    {
      id: 'channels',
      sentence: '5 channels fail; the worst, https://herald.test/4.xml, has failed 5 times in a row for 3 h.',
      action: {
        kind: 'retry_channels',
        target: { screen: 'channels', id: null, filter: { failing: 'true' } },
      },
    },
  ]);
  // What nobody wants polled is no trouble.
  await lab.database.pool.query('UPDATE channels SET enabled = false');
  expect(await look()).toMatchObject({ attention: [], counts: { failingChannels: { count: 0 } } });
});

test('domains that rest with many URLs are told with why, and can be reset', async () => {
  await start();
  await submitMany('few.test', 20);
  await submitMany('shut.test', 150);
  for (const name of ['few.test', 'shut.test'])
    await blockDomain(lab.database.pool, domainIdentity(name), { reason: 'they asked us to', actor: 'anna' });
  const found = await look();
  expect(found.counts.blockedDomains).toEqual({ count: 2, exact: true });
  expect(found.attention).toMatchObject([
    {
      id: 'domain:shut.test',
      sentence: expect.stringMatching(
        /^shut\.test has been blocked for \d+ s \(they asked us to\); 150 URLs wait\.$/,
      ) as string,
      action: { kind: 'reset_domain', target: { screen: 'domains', id: 'shut.test' } },
    },
  ]);
  await lab.database.pool.query(
    `UPDATE domains SET status = 'unreachable', status_reason = 'dns' WHERE name = 'shut.test'`,
  );
  expect((await look()).counts.unreachableDomains.count).toBe(1);
  expect((await trouble('domain:shut.test'))?.sentence).toContain('its name cannot be resolved');
});

test('a domain that is followed is told however few of its URLs wait', async () => {
  const { pool } = lab.database;
  await start(1);
  await createSource(pool, { url: 'https://www.linked.test/', name: 'Linked', mode: 'spider' });
  await createSource(pool, { url: 'https://stopped.test/', name: 'Stopped', mode: 'spider' });
  await lab.ask('POST', '/api/v1/sources/stopped/disable', { reason: 'it closed down' });
  for (const name of ['linked.test', 'stopped.test', 'foreign.test', 'linked.test.other.test'])
    await submitMany(name, 3);
  await pool.query(`UPDATE domains SET status = 'blocked', status_reason = 'forbidden'`);
  const told = async (): Promise<string[]> => (await look()).attention.map(({ id }) => id);
  expect(await told()).toEqual(['domain:linked.test', 'domain:herald.test']);
  expect((await trouble('domain:herald.test'))?.sentence).toMatch(/; 1 URL waits\.$/);
  // What nobody wants polled is no trouble.
  await pool.query('UPDATE channels SET enabled = false');
  for (const slug of ['linked', 'herald'])
    await lab.ask('POST', `/api/v1/sources/${slug}/disable`, { reason: 'enough' });
  expect(await told()).toEqual([]);
});

test('failed jobs can be tried again from here, and uneven ones be spread', async () => {
  await start();
  const { pool } = lab.database;
  const failed = await putJob(pool, 'failed');
  expect((await look()).attention).toEqual([
    {
      id: `job:${failed}`,
      severity: 'warn',
      sentence: `Job ${failed} (prune) has failed: no reason is known`,
      action: {
        label: 'Try it again',
        kind: 'retry_job',
        target: { screen: 'jobs', id: String(failed), filter: {} },
      },
    },
  ]);
  for (let n = 0; n < 3; n += 1) await putJob(pool, 'failed');
  expect((await look()).counts.failedJobs).toEqual({ count: 4, exact: true });
  const at = new Date(Date.now() + 7_200_000);
  for (let n = 0; n < 20; n += 1) await putJob(pool, 'scheduled', { at, intervalSeconds: 86_400 });
  expect((await look()).attention.map((one) => [one.id, one.sentence])).toEqual([
    ['jobs_failed', '4 jobs have failed and are not tried again by themselves.'],
    [
      'job_slots',
      "Jobs stand in each other's way: 20 of 20 runs of the next day begin in the same quarter of an hour.",
    ],
  ]);
  await lab.ask('POST', '/api/v1/scheduler/rebalance');
  expect((await look()).attention.map((one) => one.id)).toEqual(['jobs_failed']);
});

test('many domains that rest, and many open circuits, are told together', async () => {
  await start();
  const names = Array.from({ length: 5 }, (_, n) => `d${n}.test`);
  for (const [n, name] of names.entries()) await submitMany(name, 101 + n);
  const { pool } = lab.database;
  await pool.query(`UPDATE domain_slots SET circuit_good = 0, next_at = now() + interval '10 minutes'`);
  expect((await look()).attention).toMatchObject([
    {
      id: 'circuits',
      sentence: '5 domains refused us again and again and are left alone for a while, d4.test among them.',
    },
  ]);
  await pool.query(`UPDATE domain_slots SET circuit_good = NULL WHERE queued > 101`);
  expect((await look()).attention).toMatchObject([
    {
      id: 'circuit:d0.test',
      sentence: expect.stringMatching(
        /^d0\.test refused us again and again; it is tried again in \d+ min, and 101 URLs wait\.$/,
      ) as string,
      action: { kind: 'open', target: { screen: 'domains', id: 'd0.test' } },
    },
  ]);
  await pool.query(`UPDATE domain_slots SET circuit_good = NULL`);
  await pool.query(`UPDATE domains SET status = 'blocked', status_reason = 'forbidden'`);
  expect((await look()).attention).toMatchObject([
    {
      id: 'domains',
      sentence: '5 domains that rest have URLs waiting, d4.test most of all (105).',
      action: { kind: 'open', target: { screen: 'domains', filter: { status: 'blocked' } } },
    },
  ]);
});

test('URLs that died are told when they are many and not few among the fetched', async () => {
  await start();
  const { pool } = lab.database;
  const died = (dead: number, fetched: number): Promise<unknown> =>
    pool.query(
      `INSERT INTO counter_deltas (bucket, minute, dead, fetched) VALUES (0, date_trunc('minute', now()), $1, $2)`,
      [dead, fetched],
    );
  await died(19, 0);
  await foldCounters(pool);
  expect(await trouble('dead_urls')).toBeUndefined();
  await died(21, 160);
  await foldCounters(pool);
  expect(await trouble('dead_urls')).toMatchObject({
    sentence: '40 URLs ended as dead in the last day, beside 160 that were fetched.',
    action: { kind: 'open', target: { screen: 'frontier', filter: { status: 'dead' } } },
  });
  await died(0, 1000);
  await foldCounters(pool);
  expect(await trouble('dead_urls')).toBeUndefined();
});

test('sinks that fail, lag, are paused or refused something are told', async () => {
  await start();
  const { pool } = lab.database;
  await pool.query(`INSERT INTO sinks (name, kind) VALUES ('search', 'webhook')`);
  await pool.query(`INSERT INTO sink_states (sink) VALUES ('search')`);
  await pool.query(
    `INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
     VALUES (0, 'search', 0, $1, 1, now() - interval '20 minutes')`,
    [Buffer.alloc(32)],
  );
  expect(await trouble('sink_behind:search')).toMatchObject({
    severity: 'warn',
    sentence: 'The sink search is behind: 1 document waits, the eldest for 20 min.',
  });
  await pool.query(
    `UPDATE sink_states SET failing_since = now() - interval '2 hours', failures = 3, error = 'it answers 503' WHERE sink = 'search'`,
  );
  const failing = await look();
  expect(failing.state).toBe('fail');
  expect(failing.attention[0]).toMatchObject({
    id: 'sink_failing:search',
    severity: 'fail',
    sentence: 'The sink search has failed for 2 h; 1 document waits: it answers 503',
  });
  await pool.query(`UPDATE sinks SET enabled = false WHERE name = 'search'`);
  expect(await trouble('sink_paused:search')).toMatchObject({
    action: { kind: 'resume_sink', target: { screen: 'sinks', id: 'search' } },
  });
  await pool.query(
    `INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
     VALUES (0, 'search', 0, $1, 1, now(), now(), 9, 'no')`,
    [Buffer.alloc(32)],
  );
  expect(await trouble('sink_dead_letters:search')).toMatchObject({
    sentence: 'The sink search has refused 1 delivery for good.',
    action: { kind: 'retry_dead_letters', target: { screen: 'sinks', id: 'search' } },
  });
  expect((await look()).counts.deadLetters).toEqual({ count: 1, exact: true });
});

test('the list ends at twenty, with what fails before what warns', async () => {
  await start();
  const { pool } = lab.database;
  await pool.query(
    `INSERT INTO sinks (name, kind, enabled) SELECT 's' || n, 'webhook', false FROM generate_series(1, 30) n`,
  );
  await saveSwitch(pool, 'fetching', false, 'anna');
  const { attention } = await look();
  expect(attention).toHaveLength(20);
  expect(attention[0]!.id).toBe('switch:fetching');
  expect(new Set(attention.slice(1).map((one) => one.severity))).toEqual(new Set(['warn']));
});

test('within a second everybody gets the same answer', async () => {
  await start();
  expect((await look()).counts.pendingUrls).toBe(0);
  await submitMany('a.test', 2);
  const ask = async (): Promise<number> =>
    ((await lab.ask('GET', '/api/v1/overview')).body as Overview).counts.pendingUrls;
  expect(await ask()).toBe(0);
  monotonicMs += 1000;
  expect(await Promise.all([ask(), ask()])).toEqual([2, 2]);
});

test('charts and finds are served, and what is asked wrongly is refused', async () => {
  await start();
  await submitMany('a.test', 2);
  await foldCounters(lab.database.pool);
  for (const [query, points] of [
    ['', 61],
    ['?span=1h', 61],
    ['?span=24h', 289],
    ['?span=7d', 169],
  ] as const) {
    const { status, body } = await lab.ask('GET', `/api/v1/overview/series${query}`, undefined, 'read');
    expect(status).toBe(200);
    expect(body.points).toHaveLength(points);
    expect(body.points.reduce((sum: number, one: { discovered: number }) => sum + one.discovered, 0)).toBe(2);
  }
  expect((await lab.ask('GET', '/api/v1/overview/series?span=1y')).status).toBe(400);
  const { body } = await lab.ask('GET', '/api/v1/overview/find?q=a.test', undefined, 'read');
  expect(body.items.map((one: { kind: string }) => one.kind)).toEqual(['domain', 'search']);
  for (const q of ['', '%00', '%ED%A0%80', 'x'.repeat(2049)]) {
    const { status } = await lab.ask('GET', `/api/v1/overview/find?q=${q}`);
    expect(status, q.slice(0, 10)).toBeGreaterThanOrEqual(200);
    expect(status, q.slice(0, 10)).toBeLessThan(500);
  }
  expect((await lab.ask('GET', '/api/v1/overview/find')).status).toBe(400);
});
