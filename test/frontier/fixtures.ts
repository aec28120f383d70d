import type { Database } from '../../src/db/index.ts';
import {
  type Lease,
  type LeaseOptions,
  Leaser,
  type SettleItem,
  type SettleOptions,
  type SubmitItem,
  settle,
  submit,
} from '../../src/frontier/index.ts';

/** A URL to submit; the domain's number and the path say the rest. */
export function item(domain: number | string, path: string, change: Partial<SubmitItem> = {}): SubmitItem {
  const host = typeof domain === 'number' ? `d${domain}.test` : domain;
  return {
    url: `https://${host}/${path}`,
    kind: 'article',
    origin: 'feed',
    sourceId: 1,
    priority: 5,
    own: true,
    ...change,
  };
}

/** Answers of a submit, in order. */
export async function answers(db: Database, items: SubmitItem[], skewMs = 0): Promise<string[]> {
  return (await submit(db.pool, items, { skewMs })).map((result) => result.answer);
}

/** Leases in the mode in force, with the usual options of a test. */
export function take(db: Database, change: Partial<LeaseOptions> = {}): Promise<Lease[]> {
  return new Leaser({ db: db.pool, monotonic: () => performance.now() }).lease({
    owner: 'w1',
    pool: 'default',
    slots: 10,
    leaseMs: 60_000,
    defaultDelayMs: 1000,
    batch: 50,
    ...change,
  });
}

/** One settled URL, fetched unless said otherwise. */
export function done(hash: Buffer, change: Partial<SettleItem> = {}): SettleItem {
  return { hash, status: 'fetched', kind: 'article', dueInMs: null, fetched: true, tries: 0, ...change };
}

/** Settles with the usual options of a test: the last answer came just now. */
export function finish(
  db: Database,
  held: Pick<Lease, 'bucket' | 'domainKey' | 'epoch'>,
  change: Partial<SettleOptions> = {},
) {
  const now = performance.now();
  return settle(db.pool, held, {
    owner: 'w1',
    final: true,
    items: [],
    documents: [],
    requests: [],
    monotonicMs: now,
    lastAnswerAt: now,
    defaultDelayMs: 1000,
    ...change,
  });
}

/** The row of a URL, as the table has it. */
export async function rowOf(db: Database, path: string): Promise<Record<string, unknown>> {
  const result = await db.pool.query(`SELECT * FROM url_frontier WHERE url LIKE '%/' || $1`, [path]);
  if (result.rows.length !== 1) throw new Error(`${result.rows.length} rows for ${path}`);
  return result.rows[0] as Record<string, unknown>;
}
