import type { Queryable } from '../../src/db/index.ts';
import {
  createMarks,
  type Lease,
  type LoggedRequest,
  lease,
  type Marks,
  type SettleItem,
  type SubmitAnswer,
  settle,
  submit,
} from '../../src/frontier/index.ts';
import { type BenchDomain, urlOf } from './load.ts';

const owner = 'bench';
const defaultDelayMs = 1000;
const slotsPerLease = 25;
const submitBatch = 500;
const urlsPerParent = 50;

/** How the lease loop is run. */
export type LoopOptions = {
  /** Stop after so many URLs, or after so long. */
  urls?: number;
  forMs?: number;
  /** With the crawl-log rows a fetcher writes; the queues beside it keep no such log. */
  log?: boolean;
  /** URLs per settle; all of a lease at once unless said. */
  settleEvery?: number;
  marks?: Marks | null;
  slots?: number;
  batch?: number;
};

/** Leases and settles; answers the URLs and the leases they came in. */
export async function leaseAndSettle(
  db: Queryable,
  options: LoopOptions,
): Promise<{ urls: number; calls: number }> {
  const marks = options.marks === undefined ? createMarks(() => performance.now()) : options.marks;
  const endAt = performance.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
  let urls = 0;
  let calls = 0;
  while (urls < (options.urls ?? Number.POSITIVE_INFINITY) && performance.now() < endAt) {
    const leases = await lease(db, {
      owner,
      pool: 'default',
      slots: options.slots ?? slotsPerLease,
      leaseMs: 60_000,
      defaultDelayMs,
      batch: options.batch ?? 20,
      ...(marks === null ? {} : { marks }),
    });
    if (leases.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const one of leases) {
      urls += await settleLease(db, one, options);
      calls += 1;
    }
  }
  return { urls, calls };
}

async function settleLease(db: Queryable, one: Lease, options: LoopOptions): Promise<number> {
  const every = options.settleEvery ?? one.urls.length;
  let settled = 0;
  for (let start = 0; start < one.urls.length; start += every) {
    const now = performance.now();
    const urls = one.urls.slice(start, start + every);
    const result = await settle(db, one, {
      owner,
      final: start + every >= one.urls.length,
      items: urls.map(
        (url): SettleItem => ({
          hash: url.hash,
          status: 'fetched',
          kind: url.kind,
          dueInMs: null,
          tries: 0,
          httpStatus: 200,
          fetched: true,
          validationStatus: 'valid',
        }),
      ),
      documents: [],
      requests:
        options.log === true ? urls.map((url) => requestOf(url.hash, url.url, url.sourceId, now)) : [],
      monotonicMs: now,
      lastAnswerAt: now,
      defaultDelayMs,
      learnt: { penaltyMs: 0, goodRun: 1, robotsDelayMs: 0 },
    });
    settled += result.settled;
  }
  if (settled !== one.urls.length) throw new Error(`settled ${settled} of ${one.urls.length} URLs`);
  return settled;
}

function requestOf(hash: Buffer, url: string, sourceId: number | null, endedAt: number): LoggedRequest {
  return {
    endedAt,
    status: 200,
    kind: 'article',
    outcome: 'ok',
    hash,
    url,
    sourceId,
    executionId: null,
    waitMs: 1000,
    headersMs: 80,
    totalMs: 120,
    bytes: 40_000,
  };
}

/** Submits URLs as feeds bring them, 50 of a domain at a time, `knownShare` of them known; answers what was said. */
export async function submitMany(
  db: Queryable,
  domains: readonly BenchDomain[],
  options: { urls: number; knownShare: number; serial: number },
): Promise<{ urls: number; calls: number; answers: Map<SubmitAnswer, number> }> {
  const answers = new Map<SubmitAnswer, number>();
  let sent = 0;
  let calls = 0;
  // Domains that can bring 50 known URLs, in an order that has nothing to do with their keys.
  const wide = domains.filter((domain) => domain.urls >= urlsPerParent);
  let at = options.serial * 7919;
  while (sent < options.urls) {
    const items = [];
    while (items.length < submitBatch) {
      const domain = wide[at % wide.length]!;
      at += 104_729;
      for (let n = 0; n < urlsPerParent; n += 1) {
        const known = n < options.knownShare * urlsPerParent;
        items.push({
          url: known ? urlOf(domain.name, n) : urlOf(domain.name, 1_000_000 * options.serial + at + n),
          kind: 'article' as const,
          origin: 'feed' as const,
          sourceId: domain.sourceId,
          parentUrl: `https://${domain.name}/feed.xml`,
          // Two below the domain's level: what waits is never raised, so a known URL has nothing to write.
          priority: domain.level - 2,
          own: true,
        });
      }
    }
    for (const { answer } of await submit(db, items)) answers.set(answer, (answers.get(answer) ?? 0) + 1);
    sent += items.length;
    calls += 1;
  }
  return { urls: sent, calls, answers };
}

/** Leases domains for one URL each, evenly over a time; answers the marks as a worker would have them then. */
export async function churn(
  db: Queryable,
  options: { leases: number; overMs: number },
): Promise<{ marks: Marks; leases: number }> {
  const marks = createMarks(() => performance.now());
  const startedAt = performance.now();
  let leases = 0;
  while (leases < options.leases && performance.now() < startedAt + options.overMs) {
    leases += (await leaseAndSettle(db, { urls: slotsPerLease, batch: 1, marks })).calls;
    const aheadMs = (leases / options.leases) * options.overMs - (performance.now() - startedAt);
    if (aheadMs > 5) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }
  return { marks, leases };
}
