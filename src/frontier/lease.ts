import type { Queryable } from '../db/index.ts';
import type { Marks } from './marks.ts';
import type { UrlKind, UrlOrigin } from './rows.ts';

/** A URL handed out with its domain. */
export type LeasedUrl = {
  hash: Buffer;
  url: string;
  kind: UrlKind;
  origin: UrlOrigin;
  sourceId: number | null;
  level: number;
  priority: number;
  depth: number;
  hops: number;
  tries: number;
  fetchCount: number;
  etag: string | null;
  lastModified: string | null;
  contentHash: Buffer | null;
  dueAt: Date;
  executionId: bigint | null;
  refreshSeconds: number | null;
};

/** Where a domain stands between a refusal and a block; ages, because the worker has no clock of the database's. */
export type Ladder = {
  /** Reasons of the refusals in a row. */
  refusals: string[];
  /** null: the circuit is closed; otherwise successes since it opened. */
  circuitGood: number | null;
  /** The last openings. */
  opens: { ageMs: number; reason: string }[];
  networkFailures: number;
  networkForMs: number | null;
};

/** A domain held by one worker; the epoch is the fence every later write is checked against. */
export type Lease = {
  bucket: number;
  domainKey: bigint;
  epoch: bigint;
  delayMs: number;
  penaltyMs: number;
  goodRun: number;
  /** Why a resting domain was handed out: one channel to try, or robots.txt to read again. null: it does not rest. */
  trial: 'channel' | 'robots' | null;
  /** null: in good standing. */
  ladder: Ladder | null;
  /** Time since the domain last answered well; null: it never has. */
  goodAgeMs: number | null;
  /** Since when the slot was due: the fairness order. */
  dueSince: Date;
  urls: LeasedUrl[];
};

export type LeaseOptions = {
  owner: string;
  pool: string;
  slots: number;
  leaseMs: number;
  defaultDelayMs: number;
  batch: number;
  /** The worker's low-water marks, from `createMarks`; every lease of one worker and pool passes the same. */
  marks?: Marks;
  /** Bucket mode: only domains of this bucket. */
  bucket?: number;
  /** Pages of a domain's run; 0: no limit but its own, null: budgets are off. */
  budget?: number | null;
  skewMs?: number;
};

// When marks were passed, the last row answers them and holds nothing else.
type Row = UrlRow | { marks: (Date | null)[] };
type UrlRow = {
  marks: null;
  bucket: number;
  domain_key: bigint;
  epoch: bigint;
  delay_ms: number;
  penalty_ms: number;
  good_run: number;
  trial: 'channel' | 'robots' | null;
  ladder: Ladder | null;
  good_age_ms: number | null;
  due_since: Date;
  url_hash: Buffer;
  url: string;
  kind: UrlKind;
  origin: UrlOrigin;
  source_id: number | null;
  level: number;
  priority: number;
  depth: number;
  hops: number;
  tries: number;
  fetch_count: number;
  etag: string | null;
  last_modified: string | null;
  content_hash: Buffer | null;
  due_at: Date;
  execution_id: bigint | null;
  refresh_seconds: number | null;
};

/** Leases up to `slots` due domains, best level first, longest waiting first within a level. */
export async function lease(db: Queryable, options: LeaseOptions): Promise<Lease[]> {
  const result = await db.query<Row>(
    `SELECT * FROM frontier_lease($1, $2, $3, $4, $5, $6, $7::timestamptz[], $8 * interval '1 millisecond', $9, $10)`,
    [
      options.owner,
      options.pool,
      options.slots,
      options.leaseMs,
      options.defaultDelayMs,
      options.batch,
      options.marks?.current() ?? null,
      options.skewMs ?? 0,
      options.bucket ?? null,
      options.budget ?? null,
    ],
  );
  const leases: Lease[] = [];
  for (const row of result.rows) {
    if (row.marks !== null) {
      options.marks?.save(row.marks);
      continue;
    }
    let current = leases.at(-1);
    if (current === undefined || current.domainKey !== row.domain_key) {
      current = {
        bucket: row.bucket,
        domainKey: row.domain_key,
        epoch: row.epoch,
        delayMs: row.delay_ms,
        penaltyMs: row.penalty_ms,
        goodRun: row.good_run,
        trial: row.trial,
        ladder: row.ladder,
        goodAgeMs: row.good_age_ms,
        dueSince: row.due_since,
        urls: [],
      };
      leases.push(current);
    }
    current.urls.push({
      hash: row.url_hash,
      url: row.url,
      kind: row.kind,
      origin: row.origin,
      sourceId: row.source_id,
      level: row.level,
      priority: row.priority,
      depth: row.depth,
      hops: row.hops,
      tries: row.tries,
      fetchCount: row.fetch_count,
      etag: row.etag,
      lastModified: row.last_modified,
      contentHash: row.content_hash,
      dueAt: row.due_at,
      executionId: row.execution_id,
      refreshSeconds: row.refresh_seconds,
    });
  }
  return leases;
}

/** Renews leases; answers the keys of those still held. */
export async function renew(
  db: Queryable,
  leases: readonly Pick<Lease, 'bucket' | 'domainKey' | 'epoch'>[],
  options: { owner: string; leaseMs: number; defaultDelayMs: number; skewMs?: number },
): Promise<Set<bigint>> {
  const result = await db.query<{ domain_key: bigint }>(
    `SELECT domain_key FROM frontier_renew($1, $2::smallint[], $3::bigint[], $4::bigint[], $5, $6, $7 * interval '1 millisecond')`,
    [
      options.owner,
      leases.map((one) => one.bucket),
      leases.map((one) => one.domainKey.toString()),
      leases.map((one) => one.epoch.toString()),
      options.leaseMs,
      options.defaultDelayMs,
      options.skewMs ?? 0,
    ],
  );
  return new Set(result.rows.map((row) => row.domain_key));
}

export type PromoteOptions = {
  slots: number;
  bucket?: number;
  /** Pages of a domain's run; 0: no limit but its own, null: budgets are off. */
  budget?: number | null;
  /** Whether known pages are looked at again. */
  refresh?: boolean;
  skewMs?: number;
};

/** Readies rows that have become due; answers how many domains were woken. */
export async function promote(db: Queryable, options: PromoteOptions): Promise<number> {
  const result = await db.query<{ woken: number }>(
    `SELECT frontier_promote($1, 1000, $2 * interval '1 millisecond', $3, $4, $5) AS woken`,
    [
      options.slots,
      options.skewMs ?? 0,
      options.bucket ?? null,
      options.budget ?? null,
      options.refresh ?? true,
    ],
  );
  return result.rows[0]?.woken ?? 0;
}
