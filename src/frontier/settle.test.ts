import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { identifyUrl } from '../url/index.ts';
import {
  type Lease,
  lease,
  type SettleItem,
  type SettleOptions,
  type SubmitItem,
  settle,
  submit,
} from './index.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, documents, channel_state, probe_results, counter_deltas, crawl_log',
  );
});

const page = (path: string, more: Partial<SubmitItem> = {}): SubmitItem => ({
  url: `https://a.example/${path}`,
  kind: 'article',
  origin: 'feed',
  sourceId: 1,
  priority: 5,
  own: true,
  ...more,
});
const hashOf = (path: string): Buffer => {
  const identified = identifyUrl(`https://a.example/${path}`);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  return identified.identity.hash;
};
const take = async (batch: number, skewMs = 0): Promise<Lease> => {
  const [one] = await lease(test.pool, {
    owner: 'w',
    pool: 'default',
    slots: 5,
    leaseMs: 60_000,
    defaultDelayMs: 1000,
    batch,
    skewMs,
  });
  if (one === undefined) throw new Error('nothing was due');
  return one;
};
const done = (hash: Buffer, more: Partial<SettleItem> = {}): SettleItem => ({
  hash,
  status: 'fetched',
  kind: 'article',
  dueInMs: null,
  fetched: true,
  ...more,
});
const end = (one: Lease, items: SettleItem[], more: Partial<SettleOptions> = {}) =>
  settle(test.pool, one, {
    owner: 'w',
    final: true,
    items,
    documents: [],
    requests: [],
    monotonicMs: 0,
    lastAnswerAt: 0,
    defaultDelayMs: 1000,
    ...more,
  });
const slot = async () => {
  const { rows } = await test.pool.query<{
    queued: number;
    top: number | null;
    ready: number;
    in_flight: Buffer[] | null;
  }>(
    `SELECT queued, top, in_flight, (SELECT count(*)::integer FROM url_frontier WHERE ready) AS ready FROM domain_slots`,
  );
  return rows[0]!;
};
const statusOf = async (path: string): Promise<string | undefined> => {
  const { rows } = await test.pool.query<{ status: string }>(
    'SELECT status::text FROM url_frontier WHERE url_hash = $1',
    [hashOf(path)],
  );
  return rows[0]?.status;
};

describe('settle', () => {
  it('ends the URLs of its lease and no others', async () => {
    await submit(test.pool, [page('1'), page('2'), page('3')]);
    const one = await take(2);
    const [first, second] = one.urls;
    const other = [hashOf('1'), hashOf('2'), hashOf('3')].find(
      (hash) => !one.urls.some((url) => url.hash.equals(hash)),
    )!;
    expect(await end(one, [done(first!.hash), done(other)], { final: false })).toMatchObject({ settled: 1 });
    expect(await slot()).toMatchObject({ queued: 2, ready: 2, in_flight: [second!.hash] });
    expect(await end(one, [done(other)], { final: false })).toMatchObject({ settled: 0 });
    expect(await slot()).toMatchObject({ queued: 2, in_flight: [second!.hash] });
    expect(await end(one, [done(second!.hash)])).toMatchObject({ outcome: 'settled', settled: 1 });
    expect(await slot()).toMatchObject({ queued: 1, ready: 1, top: 5, in_flight: null });
    expect(await end(one, [done(other)])).toMatchObject({ outcome: 'stale', settled: 0 });
    expect(await slot()).toMatchObject({ queued: 1, ready: 1 });
  });

  it('makes an unknown redirect target and settles a known one, whether it waits or is in the lease', async () => {
    await submit(test.pool, [page('from'), page('waits', { priority: 3 })]);
    const one = await take(10);
    const target = {
      origin: 'redirect',
      sourceId: 1,
      priority: 5,
      level: 5,
      depth: 0,
      hops: 1,
      parentUrl: null,
      executionId: null,
    } as const;
    const result = await end(one, [
      done(hashOf('from'), { status: 'redirected', redirectedTo: 'https://a.example/waits' }),
      done(hashOf('waits'), { target: { ...target, url: 'https://a.example/waits' } }),
      done(hashOf('made'), { target: { ...target, url: 'https://a.example/made' } }),
    ]);
    expect(result).toMatchObject({ settled: 3 });
    expect(await statusOf('from')).toBe('redirected');
    expect(await statusOf('waits')).toBe('fetched');
    expect(await statusOf('made')).toBe('fetched');
    expect(await slot()).toMatchObject({ queued: 0, ready: 0, top: null });
  });

  it('stores documents, marks twins, and moves last_seen_at of what is unchanged', async () => {
    await submit(test.pool, [page('1'), page('2')]);
    const one = await take(10);
    const document = (path: string) => ({
      hash: hashOf(path),
      url: `https://a.example/${path}`,
      sourceId: 1,
      wordCount: 3,
      confidence: 1,
      publishedAt: null,
      modifiedAt: null,
      contentHash: Buffer.alloc(32, 7),
      pageType: 'article' as const,
      language: null,
      canonicalUrl: null,
      title: 'T',
      section: null,
      description: null,
      leadImage: null,
      authors: [],
      keywords: [],
      meta: {},
      text: 'one two three',
      raw: null,
    });
    const both = [done(hashOf('1')), done(hashOf('2'))];
    expect(await end(one, both, { documents: [document('1'), document('2')] })).toEqual({
      outcome: 'settled',
      settled: 2,
      documents: 1,
      versions: 0,
      duplicates: 1,
    });
    expect(await statusOf('2')).toBe('duplicate');
    const later = 86_400_000;
    await submit(test.pool, [page('1', { modifiedAt: new Date(Date.now() + later) })], { skewMs: later });
    await end(await take(10, later), [done(hashOf('1'), { unchanged: true })], { skewMs: later });
    const { rows } = await test.pool.query<{ moved: boolean }>(
      `SELECT last_seen_at > first_seen_at + interval '23 hours' AS moved FROM documents`,
    );
    expect(rows).toEqual([{ moved: true }]);
  });

  it('writes the state of a channel and the answer of a probe', async () => {
    await submit(test.pool, [
      page('feed', { kind: 'channel' }),
      page('asked', { kind: 'probe', probeId: 'x' }),
    ]);
    const probe = await take(10);
    await end(probe, [done(probe.urls[0]!.hash, { kind: 'probe', result: { found: null } })]);
    const poll = await take(10, 2000);
    const channel = { id: 9, error: null, newItems: 2, format: 'rss', hub: null, lastItemAt: null };
    const item = done(poll.urls[0]!.hash, { kind: 'channel', status: 'pending', dueInMs: 60_000, channel });
    await end(poll, [{ ...item, found: { seen: 3, duplicate: 1, rejected: 0 } }], { skewMs: 2000 });
    const state = await test.pool.query(
      'SELECT channel_id, polls, items_seen, items_new, format FROM channel_state',
    );
    expect(state.rows).toEqual([{ channel_id: 9, polls: 1n, items_seen: 3n, items_new: 2n, format: 'rss' }]);
    const answers = await test.pool.query('SELECT result FROM probe_results');
    expect(answers.rows).toEqual([{ result: { found: null } }]);
  });
});

describe('submit', () => {
  it('refreshes a fetched page for a newer date only, never for none', async () => {
    await submit(test.pool, [page('1')]);
    await end(await take(10), [done(hashOf('1'))]);
    const later = { skewMs: 86_400_000 };
    const again = async (modifiedAt: Date | null): Promise<string> =>
      (await submit(test.pool, [page('1', { modifiedAt })], later))[0]!.answer;
    expect(await again(null)).toBe('duplicate');
    expect(await again(new Date(Date.now() - 3_600_000))).toBe('duplicate');
    expect(await again(new Date(Date.now() + 3_600_000))).toBe('refreshed');
  });
});

describe('leases that run out', () => {
  it('keep the count of waiting URLs right, until a URL is given up', async () => {
    await submit(test.pool, [page('1'), page('2')]);
    for (let run = 1; run <= 6; run += 1) {
      const one = await take(10, run * 120_000);
      // From the second expiry on a batch is one URL; three of those blame it.
      expect(one.urls).toHaveLength(run <= 2 ? 2 : 1);
      const { queued, ready } = await slot();
      expect(queued).toBe(ready);
      expect(queued).toBe(run <= 5 ? 2 : 1);
    }
    const { rows } = await test.pool.query(`SELECT error_code FROM url_frontier WHERE status = 'dead'`);
    expect(rows).toEqual([{ error_code: 'crash_loop' }]);
  });
});
