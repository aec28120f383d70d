import type { Queryable } from '../db/index.ts';
import { mendCounts } from '../frontier/index.ts';
import { rescoreBucket } from './maintenance.ts';

/** What a recalculation looked at and put right. */
export type RecalculateReport = {
  scored: number;
  domains: number;
  /** Domains that said something else than their rows. */
  repaired: number;
  /** Wrong or not, these are being worked on: the settle that ends the lease reads their rows anew. */
  leased: number;
  /** How often each field was wrong. */
  fields: Record<string, number>;
  /** Sources whose kept counts were wrong. */
  counts: number;
};

const slotsAtOnce = 200;
const smallest = -(2n ** 63n);

/**
 * Makes scores, counts and slots true again, from the rows: from a bucket on, for a while. Looks without locks; locks only
 * what looks wrong. `next` is the bucket to go on with, null at the end.
 */
export async function recalculatePart(
  db: Queryable,
  options: { from: number; forMs: number },
): Promise<{ report: RecalculateReport; next: number | null }> {
  const report: RecalculateReport = { scored: 0, domains: 0, repaired: 0, leased: 0, fields: {}, counts: 0 };
  const until = performance.now() + options.forMs;
  for (let bucket = options.from; bucket < 256; bucket += 1) {
    if (performance.now() > until) return { report, next: bucket };
    await recalculateBucket(db, bucket, report);
  }
  report.counts = await mendCounts(db);
  return { report, next: null };
}

async function recalculateBucket(db: Queryable, bucket: number, report: RecalculateReport): Promise<void> {
  for (let after = smallest; ; ) {
    const slots = await lookAtSlots(db, bucket, after);
    report.domains += slots.length;
    for (const slot of slots) {
      if (slot.isLeased) report.leased += 1;
      else if (slot.isSuspect) await repairSlot(db, bucket, slot.domainKey, report);
    }
    const last = slots.at(-1);
    if (last === undefined || slots.length < slotsAtOnce) break;
    after = last.domainKey;
  }
  report.scored += await rescoreBucket(db, bucket);
}

type Look = { domainKey: bigint; isLeased: boolean; isSuspect: boolean };

async function lookAtSlots(db: Queryable, bucket: number, after: bigint): Promise<Look[]> {
  const result = await db.query<Look>(
    `SELECT s.domain_key AS "domainKey", s.lease_owner IS NOT NULL AS "isLeased",
            coalesce(s.queued <> x.queued OR s.budgeted <> x.budgeted OR d.pages_known <> x.pages
              OR x.parked < coalesce(s.wake_at, 'infinity') OR s.asleep <> (d.status <> 'active')
              OR s.top IS DISTINCT FROM slot_top(s, now()), false) AS "isSuspect"
       FROM (SELECT * FROM domain_slots WHERE bucket = $1 AND domain_key > $2 ORDER BY domain_key LIMIT ${slotsAtOnce}) s
       LEFT JOIN domains d ON d.bucket = s.bucket AND d.domain_key = s.domain_key
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE f.ready) AS queued, count(*) FILTER (WHERE f.ready AND f.budgeted) AS budgeted,
               min(f.due_at) FILTER (WHERE NOT f.ready AND f.status <> 'fetched') AS parked,
               count(*) FILTER (WHERE f.kind IN ('article', 'listing')) AS pages
          FROM url_frontier f WHERE f.bucket = s.bucket AND f.domain_key = s.domain_key) x
      ORDER BY s.domain_key`,
    [bucket, after.toString()],
  );
  return result.rows;
}

async function repairSlot(
  db: Queryable,
  bucket: number,
  domainKey: bigint,
  report: RecalculateReport,
): Promise<void> {
  const result = await db.query<{ wrong: string[] | null }>('SELECT slot_repair($1::smallint, $2) AS wrong', [
    bucket,
    domainKey.toString(),
  ]);
  const wrong = result.rows[0]?.wrong ?? null;
  // Leased, or put right by a settle, since the look.
  if (wrong === null) report.leased += 1;
  else if (wrong.length > 0) report.repaired += 1;
  for (const field of wrong ?? []) report.fields[field] = (report.fields[field] ?? 0) + 1;
}
