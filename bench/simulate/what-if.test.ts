import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createChannel,
  decideWeight,
  learnRhythm,
  packRhythm,
  sharePolls,
} from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { lease, settle, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { runCommand } from './command.ts';
import { readModel } from './from-database.ts';
import { manner } from './web.ts';

const hourMs = 3_600_000;
const owner = 'w1';
const channels = 12;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await fill();
});
afterAll(() => test.drop());

/** Twelve channels that were polled once, the n-th with 2n items a day in the mornings; the last domain refuses us. */
async function fill(): Promise<void> {
  const { pool } = test;
  const ids = new Map<string, { id: number; nth: number }>();
  for (let nth = 0; nth < channels; nth += 1) {
    const { source } = await createSource(pool, { url: `https://paper${nth}.test/`, name: `Paper ${nth}` });
    const { channel } = await createChannel(pool, {
      sourceId: source.id,
      kind: 'feed',
      url: `https://paper${nth}.test/feed`,
      intervalSeconds: 900,
      foundBy: 'manual',
    });
    ids.set(channel.url, { id: channel.id, nth });
  }
  const page = { kind: 'article', origin: 'archive', sourceId: null, priority: 1, own: true } as const;
  await submit(
    pool,
    [1, 2, 3].map((n) => ({ ...page, url: `https://paper3.test/old/${n}` })),
  );
  const leases = await lease(pool, {
    owner,
    pool: 'default',
    slots: channels,
    leaseMs: 60_000,
    defaultDelayMs: 1000,
    batch: 50,
  });
  for (const held of leases) {
    const [row] = held.urls;
    const { id, nth } = ids.get(row!.url)!;
    await settlePoll(held, { id, nth, row: row! });
  }
  await sharePolls(pool);
}

async function settlePoll(
  held: Awaited<ReturnType<typeof lease>>[number],
  { id, nth, row }: { id: number; nth: number; row: (typeof held.urls)[number] },
): Promise<void> {
  const nowMs = Date.now();
  const morning = Math.floor(nowMs / (24 * hourMs)) * 24 * hourMs + 8 * hourMs;
  const dates = Array.from(
    { length: 14 * 2 * (nth + 1) },
    (_, n) => morning - Math.floor(n / (2 * (nth + 1))) * 24 * hourMs - (n % 7) * 60_000,
  );
  const rhythm = learnRhythm(null, { nowMs, dates, undated: 0 })!;
  const weight = decideWeight({ nowMs, intervalSeconds: 900, multiplier: null }, rhythm);
  await settle(test.pool, held, {
    owner,
    final: true,
    items: [
      {
        hash: row.hash,
        status: 'pending',
        kind: 'channel',
        dueInMs: 900_000,
        tries: 0,
        fetched: true,
        found: { seen: 20, duplicate: 0, rejected: 0 },
        channel: {
          id,
          error: null,
          newItems: 20,
          format: 'rss',
          hub: null,
          lastItemAt: new Date(nowMs),
          rhythm: packRhythm(rhythm),
          weight,
        },
      },
    ],
    documents: [],
    requests: Array.from({ length: 12 }, (_, n) => ({
      endedAt: 1000,
      status: n === 0 ? 500 : 200,
      kind: 'channel',
      outcome: 'response',
      hash: row.hash,
      url: row.url,
      sourceId: row.sourceId,
      executionId: null,
      waitMs: 0,
      headersMs: 100 * (nth + 1),
      totalMs: 2000,
      bytes: 1000,
    })),
    monotonicMs: 1000,
    lastAnswerAt: 1000,
    defaultDelayMs: 1000,
    learnt: {
      robotsDelayMs: nth === 1 ? 7000 : 0,
      sourceDelayMs: 0,
      ...(nth === channels - 1
        ? { move: { to: 'blocked' as const, reason: 'forbidden', restMs: [14 * 24 * hourMs] } }
        : {}),
    },
  });
}

describe('a model of a real database', () => {
  it('knows what its channels publish, how they answer and what waits', async () => {
    const { publishers, facts, changes } = await readModel(test.pool, loadConfig({ env: {} }).config);
    expect(facts).toEqual({ channels, domains: channels, learnt: channels });
    expect(changes).toContainEqual(['switch.refresh', 'on']);
    const rates = publishers.map(({ ratePerDay }) => ratePerDay);
    expect(rates).toEqual(rates.toSorted((a, b) => a - b));
    expect(rates[5]).toBeGreaterThan(6);
    expect(rates[5]).toBeLessThan(18);
    const { hours } = publishers[5]!.weights!;
    expect(hours[7]! + hours[8]!).toBeGreaterThan(6);
    expect(publishers.map(({ latencyMs }) => Math.round(latencyMs))).toEqual(
      publishers.map((_, nth) => 100 * (nth + 1)),
    );
    expect(publishers[4]!.errorRate).toBeCloseTo(1 / 12, 6);
    expect(publishers[1]!.crawlDelayMs).toBe(7000);
    expect(publishers[3]!.archivePages).toBe(3);
    expect(publishers[3]!.feedItems).toBe(20);
    expect(publishers.map((one) => one.manner)).toEqual(
      publishers.map((_, nth) => (nth === channels - 1 ? manner.refuses : manner.well)),
    );
  });

  it('answers what a change would do, both ways beside each other', async () => {
    await saveSwitch(test.pool, 'refresh', false, 'test');
    const said: string[] = [];
    const ask = (...more: string[]): Promise<number> =>
      runCommand(['--from', test.url, '--days', '4', ...more], {
        out: (text) => said.push(text),
        err: () => undefined,
        env: {},
      });
    expect(
      await ask(
        '--set',
        'polling.feed_interval_minutes=60',
        '--set',
        'fetch.default_delay_ms=3000',
        '--json',
      ),
    ).toBe(0);
    type Run = {
      requests: { byKind: { channel: number } };
      discovery: { p50: number };
      politeness: { leastGapMs: number };
    };
    const { runs, changes } = JSON.parse(said.pop()!) as {
      runs: Record<'as it is' | 'changed', Run>;
      changes: object;
    };
    expect(changes).toEqual({ 'polling.feed_interval_minutes': '60', 'fetch.default_delay_ms': '3000' });
    expect(runs.changed.requests.byKind.channel).toBeLessThan(runs['as it is'].requests.byKind.channel / 2);
    // Not the mean: of the 500 items one that meets a run of errors comes hours late.
    expect(runs.changed.discovery.p50).toBeGreaterThan(runs['as it is'].discovery.p50);
    expect(runs['as it is'].politeness.leastGapMs).toBeGreaterThanOrEqual(1000);
    expect(runs.changed.politeness.leastGapMs).toBeGreaterThanOrEqual(3000);
    expect(await ask('--set', 'fetchers=2')).toBe(0);
    expect(said.at(-1)).toMatch(/as it is\s+changed\s+change/);
  });
});
