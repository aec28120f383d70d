import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import {
  blockDomain,
  configureDomain,
  goodStanding,
  keyOfDomain,
  resetDomain,
  saveBudget,
  saveRobots,
} from '../../src/domains/index.ts';
import { describeDomain, describeUrl, loadDomainFacts, loadUrlFacts } from '../../src/explain/index.ts';
import { promote, removeWorker, saveWorker } from '../../src/frontier/index.ts';
import { parseRobots } from '../../src/robots/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { channelHash, identifyUrl } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, take } from './fixtures.ts';

// explain on every state a domain can be in, through the real functions, read as a person would.
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  const worker = { id: 'f1', role: 'fetch', pool: 'default', version: '0', host: 'h', pid: 1, state: {} };
  await saveWorker(test.pool, worker);
});
afterAll(() => test.drop());

const dayMs = 86_400_000;

async function explain(name: string) {
  const facts = await loadDomainFacts(test.pool, name, { defaultDelayMs: 1000, productToken: 'Outrider' });
  const { state, sentences, expectedAt, advice } = describeDomain(facts!);
  return {
    state,
    text: sentences.join(' '),
    advice: advice.join('; '),
    inMs: expectedAt === null ? null : expectedAt.getTime() - facts!.now.getTime(),
  };
}

async function explainUrl(url: string, isChannel = false) {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  const facts = await loadUrlFacts(test.pool, identified.identity, {
    defaultDelayMs: 1000,
    productToken: 'Outrider',
    ...(isChannel ? { hash: channelHash(url) } : {}),
  });
  const { state, sentences, expectedAt } = describeUrl(facts);
  return {
    state,
    text: sentences.join(' '),
    inMs: expectedAt === null ? null : expectedAt.getTime() - facts.now.getTime(),
  };
}

/** Leases the domains that are due and ends the lease of this one with a lesson; the others are handed back. */
async function learn(name: string, change: Parameters<typeof finish>[2] = {}): Promise<void> {
  for (const held of await take(test.db, { slots: 100, owner: 'w1', budget: 2 }))
    await finish(
      test.db,
      held,
      held.domainKey === keyOfDomain(name)!.domainKey ? { ...change, budget: 2 } : {},
    );
}

it('an unknown domain has no facts', async () => {
  expect(
    await loadDomainFacts(test.pool, 'nowhere.test', { defaultDelayMs: 1000, productToken: 'Outrider' }),
  ).toBeNull();
});

it('a pending domain, a leased one, an exhausted one', async () => {
  await answers(test.db, [item('life.test', 'a')]);
  const pending = await explain('life.test');
  expect(pending.state).toBe('pending');
  expect(pending.text).toContain('It was first seen 0 s ago and was never crawled.');
  expect(pending.text).toContain('It is due and waits for a free fetcher.');
  expect(pending.text).toContain('1 URL is ready. 1 page known, 0 crawled, 0 documents, 0 errors.');
  expect(pending.text).toContain('It gets one request every 1 s.');
  expect(pending.text).toMatch(
    /Its score is -?\d+ \(now: rank -600, yield 0, remaining \+2, errors 0, waiting 0\)/,
  );
  expect(pending.inMs).toBe(0);

  const [held] = await take(test.db, { owner: 'worker-7' });
  const leased = await explain('life.test');
  expect(leased.state).toBe('active');
  expect(leased.text).toMatch(
    /worker-7 works on it, with 1 URL in hand; its lease ends in \d+ s unless it is renewed\./,
  );
  expect(leased.advice).toContain('outrider domain release life.test');

  await finish(test.db, held!, { owner: 'worker-7', items: [done(held!.urls[0]!.hash)] });
  const ended = await explain('life.test');
  expect(ended.state).toBe('exhausted');
  expect(ended.text).toContain('It was exhausted 0 s ago: no page of it waits.');
  expect(ended.advice).toContain('outrider domain reset life.test --reason "…" --all');
});

it('a domain of a disabled source promises nothing', async () => {
  const { source } = await createSource(test.pool, { url: 'https://asleep.test/' });
  const own = { sourceId: source.id };
  await answers(test.db, [item('asleep.test', 'a', own)]);
  const [lease] = await take(test.db);
  await finish(test.db, lease!, { items: [done(lease!.urls[0]!.hash)] });
  await answers(test.db, [item('asleep.test', 'b', { ...own, dueAt: new Date(Date.now() + 3_600_000) })]);
  expect((await explain('asleep.test')).text).toContain('the next becomes due in 60 min');
  await setSourceEnabled(test.pool, source.slug, false, { actor: 'cli:me', reason: 'later' });
  await promote(test.pool, { slots: 100 });
  const held = await explain('asleep.test');
  expect(held.state).toBe('exhausted');
  expect(held.text).toContain('It goes on when new URLs arrive or its source is followed again.');
  expect(held.text).toContain('what else waits is held while its source is disabled or not polled');
  expect(held.text).not.toMatch(/\d{4,} days/);
  expect(held.inMs).toBeNull();
  expect(held.advice).not.toContain('--all');
});

it('a blocked domain: why, until when, what is tried, and its URLs', async () => {
  await answers(test.db, [item('refuses.test', 'a')]);
  const { source } = await createSource(test.pool, { url: 'https://refuses.test/' });
  await createChannel(test.pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://refuses.test/feed',
    intervalSeconds: 900,
    foundBy: 'manual',
  });
  await learn('refuses.test', {
    learnt: { move: { to: 'blocked', reason: 'forbidden', restMs: [14 * dayMs] } },
  });
  const blocked = await explain('refuses.test');
  expect(blocked.state).toBe('blocked');
  expect(blocked.text).toContain('It was blocked 0 s ago, by w1: it refuses us (403).');
  expect(blocked.text).toContain('This is block 1; the third is for good.');
  expect(blocked.text).toContain('The rest ends in 14 days; it is active again when it is leased then.');
  expect(blocked.text).toContain(
    'One channel is tried once a day, next in 24 h; if it answers, the rest ends.',
  );
  expect(blocked.inMs).toBeGreaterThan(dayMs - 60_000);
  expect(blocked.inMs).toBeLessThanOrEqual(dayMs);
  expect(blocked.advice).toBe('outrider domain reset refuses.test --reason "…"');

  const url = await explainUrl('https://refuses.test/a');
  expect(url.text).toContain('Its domain is blocked: it refuses us (403). The rest ends in 14 days.');
  expect(url.text).toContain('Before that one channel is tried once a day, next in 24 h.');
  expect(url.inMs).toBeGreaterThan(13 * dayMs);
  const channel = await explainUrl('https://refuses.test/feed', true);
  expect(channel.inMs).toBeLessThanOrEqual(dayMs + 60_000);
});

it('a blocked domain without a feed: nothing is tried before its rest ends', async () => {
  await answers(test.db, [item('spidered.test', 'a')]);
  const restMs = [14 * dayMs];
  await learn('spidered.test', { learnt: { move: { to: 'blocked', reason: 'forbidden', restMs } } });
  const blocked = await explain('spidered.test');
  expect(blocked.text).toContain('It has no feed or sitemap that could be tried before.');
  expect(blocked.inMs).toBeGreaterThan(13 * dayMs);
  const url = await explainUrl('https://spidered.test/a');
  expect(url.text).toContain('The rest ends in 14 days.');
  expect(url.text).not.toContain('is tried');
});

it('an unreachable domain, and one whose robots.txt forbids everything', async () => {
  await answers(test.db, [item('gone.test', 'a')]);
  await learn('gone.test', { learnt: { move: { to: 'unreachable', reason: 'dns', restMs: [3_600_000] } } });
  const gone = await explain('gone.test');
  expect(gone.text).toMatch(
    /became unreachable 0 s ago, by w1: its name cannot be resolved\. The rest ends in 60 min/,
  );
  expect(gone.text).not.toContain('once a day');

  await answers(test.db, [item('closed.test', 'a')]);
  await learn('closed.test', {
    learnt: { move: { to: 'blocked', reason: 'robots_denied', restMs: [90 * dayMs] } },
  });
  expect((await explain('closed.test')).text).toContain(
    'Its robots.txt is read again once a day, next in 24 h',
  );
  const url = await explainUrl('https://closed.test/a');
  expect(url.text).toContain('Before that its robots.txt is read once a day, next in 24 h.');
  expect(url.text).not.toContain('channel');
});

it('a block for good, and its reset', async () => {
  await answers(test.db, [item('spam.test', 'a')]);
  await blockDomain(test.pool, keyOfDomain('spam.test')!, { reason: 'nothing but spam', actor: 'cli:me' });
  const blocked = await explain('spam.test');
  expect(blocked.text).toContain('It was blocked 0 s ago, by cli:me: nothing but spam.');
  expect(blocked.text).toContain('It stays so until somebody resets it; nothing is tried.');
  expect(blocked.inMs).toBeNull();
  const url = await explainUrl('https://spam.test/a');
  expect(url.text).toContain(
    'It stays so until somebody resets it: "outrider domain reset spam.test --reason …".',
  );
  expect(url.inMs).toBeNull();
  await resetDomain(test.pool, keyOfDomain('spam.test')!, { reason: 'a mistake', actor: 'cli:me' });
  expect((await explain('spam.test')).state).toBe('pending');
});

it('a crawl delay that was cut is told with both numbers', async () => {
  await answers(test.db, [item('slow.test', 'a')]);
  const rules = parseRobots(Buffer.from('User-agent: *\nCrawl-delay: 600\n'));
  const read = { outcome: 'rules', httpStatus: 200, errorCode: null, rules, ttlMs: 86_400_000 } as const;
  await saveRobots(test.pool, { ...keyOfDomain('slow.test')!, origin: 'https://slow.test' }, read);
  await learn('slow.test', { learnt: { robotsDelayMs: 60_000, sourceDelayMs: 0 } });
  expect((await explain('slow.test')).text).toContain(
    'It gets one request every 60 s (robots.txt asks for 600 s, which is cut to 60 s',
  );
});

it('delays that nobody asked for are not told, and openings of the circuit only while they count', async () => {
  await answers(test.db, [item('plain.test', 'a')]);
  const opens = [
    { ageMs: 30 * 3_600_000, reason: 'rate_limited' },
    { ageMs: 3_600_000, reason: 'server_error' },
  ];
  await learn('plain.test', {
    learnt: { robotsDelayMs: 0, sourceDelayMs: 0, penaltyMs: 2000, ladder: { ...goodStanding, opens } },
  });
  const { text } = await explain('plain.test');
  expect(text).toContain(
    'It gets one request every 3 s (answers that asked us to wait have added 2 s). The circuit opened 1 time within a day; the third time blocks it.',
  );
});

it('what waits while our own network is down', async () => {
  await answers(test.db, [item('away.test', 'a')]);
  const worker = { id: 'f1', role: 'fetch', pool: 'default', version: '0', host: 'h', pid: 1 } as const;
  await saveWorker(test.pool, { ...worker, state: { outage: true } });
  const words = 'Our own network seems to be down: fetching pauses, is tried every 30 s and blames nobody.';
  for (const told of [await explain('away.test'), await explainUrl('https://away.test/a')]) {
    expect(told.text).toContain(words);
    expect(told.text).not.toContain('free fetcher');
    expect(told.text).not.toContain('Expected');
    expect(told.inMs).toBeNull();
  }
  // One that reaches the web is enough.
  await saveWorker(test.pool, { ...worker, id: 'f2', state: { outage: false } });
  expect((await explainUrl('https://away.test/a')).text).toContain('Expected about now');
  await removeWorker(test.pool, 'f2');
  await saveWorker(test.pool, { ...worker, state: {} });
  expect((await explain('away.test')).text).not.toContain(words);
});

it('a budget that nobody has told yet, and none at all', async () => {
  await answers(test.db, [item('free.test', 'a')]);
  const { rows } = await test.pool.query(
    `DELETE FROM settings WHERE name = 'max_pages_per_run' RETURNING value`,
  );
  expect((await explain('free.test')).text).toContain(
    'Its next run has a budget of the configured number of pages.',
  );
  await saveBudget(test.pool, 0, 'test');
  expect((await explain('free.test')).text).toContain('Its runs have no limit of pages.');
  await saveBudget(test.pool, Number(rows[0]?.value ?? 1000), 'test');
});

it('a used budget, its renewal, and an open circuit', async () => {
  await answers(
    test.db,
    Array.from({ length: 5 }, (_, n) => item('big.test', `p${n}`, { origin: 'spider' })),
  );
  await configureDomain(test.pool, keyOfDomain('big.test')!, { delayMs: 2500, budget: 2, pool: null }, 1000);
  for (const held of await take(test.db, { slots: 100, budget: 1000 }))
    await finish(test.db, held, { items: held.urls.map((url) => done(url.hash)), budget: 1000 });
  const used = await explain('big.test');
  expect(used.text).toContain('Its budget of 2 pages is used up; it renews in 24 h.');
  expect(used.text).toContain('3 URLs are ready, 3 of them under its budget');
  expect(used.text).toContain('It gets one request every 2.5 s (an operator set 2.5 s).');
  expect(used.advice).toContain('outrider domain set big.test --budget N');
  // A tenth of a second is too coarse for it: that would be "0.0 s".
  await configureDomain(test.pool, keyOfDomain('big.test')!, { delayMs: 5, budget: 2, pool: null }, 1000);
  expect((await explain('big.test')).text).toContain('(an operator set 5 ms');
  const rows = await test.pool.query<{ url: string }>(
    `SELECT url FROM url_frontier WHERE url LIKE '%big.test%' AND ready ORDER BY url LIMIT 1`,
  );
  const url = await explainUrl(rows.rows[0]!.url);
  expect(url.text).toContain('The budget of its domain is used up; it renews in 24 h.');
  expect(url.inMs).toBeGreaterThan(dayMs - 60_000);

  await answers(test.db, [item('circuit.test', 'a')]);
  const opens = [{ ageMs: 0, reason: 'forbidden' }];
  await learn('circuit.test', {
    learnt: {
      hold: { ms: 300_000, reason: 'circuit' },
      ladder: { refusals: [], circuitGood: 0, opens, networkFailures: 0, networkForMs: null },
    },
  });
  const open = await explain('circuit.test');
  expect(open.text).toContain('It may be asked again in 5 min (it refused us repeatedly).');
  expect(open.text).toContain('Its circuit opened 0 s ago: one URL is let through at a time');
  expect((await explainUrl('https://circuit.test/a')).text).toContain('its circuit is open');
});

it('what is switched off', async () => {
  await answers(test.db, [item('off.test', 'a'), item('off.test', 'feed', { kind: 'channel' })]);
  await saveSwitch(test.pool, 'polling', false, 'test');
  expect((await explainUrl('https://off.test/feed', true)).text).toContain('Polling is switched off');
  expect((await explainUrl('https://off.test/a')).text).not.toContain('switched off');
  await saveSwitch(test.pool, 'fetching', false, 'test');
  expect(await explainUrl('https://off.test/a')).toMatchObject({
    text: expect.stringContaining('Fetching is switched off for everything'),
    inMs: null,
  });
  expect(await explain('off.test')).toMatchObject({
    text: expect.stringContaining('Fetching is switched off'),
    inMs: null,
  });
  for (const name of ['polling', 'fetching'] as const) await saveSwitch(test.pool, name, true, 'test');
});

it('a page that is due for another look', async () => {
  await answers(test.db, [item('known.test', 'a')]);
  for (const held of await take(test.db, { slots: 100 }))
    await finish(test.db, held, { items: held.urls.map((url) => done(url.hash, { dueInMs: dayMs * 14 })) });
  expect((await explainUrl('https://known.test/a')).text).toContain('It is looked at again in 14 days.');
  await test.pool.query(`UPDATE url_frontier SET due_at = now() WHERE url = 'https://known.test/a'`);
  expect((await explainUrl('https://known.test/a')).text).toContain(
    'It is due for another look and is readied',
  );
  await saveSwitch(test.pool, 'refresh', false, 'test');
  expect((await explainUrl('https://known.test/a')).text).toContain('Refreshes are switched off');
});
