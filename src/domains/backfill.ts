import type { Config } from '../config/index.ts';
import type { Queryable } from '../db/index.ts';
import { mendCounts } from '../frontier/index.ts';
import type { UrlIdentity } from '../url/index.ts';
import {
  addSums,
  type DomainSums,
  decideBackfillBlock,
  type KeyedSums,
  loadStoredKeys,
  loadSums,
} from './backfill-sums.ts';
import type { BlockReason } from './lifecycle.ts';

/** What a backfill did. */
export type BackfillReport = {
  /** Domains made, by the status they entered with. */
  made: Record<'active' | 'exhausted' | 'blocked', number>;
  /** Domains that only lacked their slot. */
  slots: number;
  /** Rows stored under another key than their address has now; they are left as they are, and nothing fetches them. */
  misfiledRows: number;
  /** Domains whose sums came from more than one stored key. */
  merged: number;
  /** Stored addresses that cannot be read. */
  unreadableRows: number;
  /** false: the time was up; running it again goes on. */
  finished: boolean;
};

export type BackfillOptions = {
  actor: string;
  /** How long a domain that counts as blocked rests, by reason. */
  cooldownsMs: Partial<Record<BlockReason, number>>;
  /** How long domains may be made; without limit unless said. Looking comes before and takes its time. */
  forMs?: number;
};

const keysAtOnce = 2000;
const summedAtOnce = 100;
const madeAtOnce = 100;
// Rows under a wrong key are rare (an older rule of what a domain is); beyond this many domains of them only the first
// are merged, and what is left out is the history of the others, never a row.
const mostMisfiled = 100_000;
const dayMs = 86_400_000;
const smallest = -(2n ** 63n);

type Misfiled = Map<bigint, { identity: UrlIdentity; sums: DomainSums }>;

/**
 * Makes the domains and slots that rows and logs without them need, after an import for instance. Live ones are never
 * changed, so running it again changes nothing. Reads in small chunks; two passes, because what is stored under a
 * wrong key must be known before its domain is made.
 */
export async function backfillDomains(db: Queryable, options: BackfillOptions): Promise<BackfillReport> {
  const report: BackfillReport = {
    made: { active: 0, exhausted: 0, blocked: 0 },
    slots: 0,
    misfiledRows: 0,
    merged: 0,
    unreadableRows: 0,
    finished: true,
  };
  const misfiled: Misfiled = new Map();
  for (let bucket = 0; bucket < 256; bucket += 1) {
    for await (const one of orphansOf(db, bucket)) noteMisfiled(one, misfiled, report);
  }
  const maker = new DomainMaker(db, options, report);
  const until = performance.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
  for (let bucket = 0; bucket < 256; bucket += 1) {
    for await (const { storedKey, identity, sums } of orphansOf(db, bucket)) {
      if (identity?.domainKey !== storedKey) continue;
      if (performance.now() > until) {
        await maker.flush();
        return { ...report, finished: false };
      }
      const more = misfiled.get(storedKey);
      misfiled.delete(storedKey);
      if (more !== undefined) report.merged += 1;
      await maker.add(identity, more === undefined ? sums : addSums(sums, more.sums));
    }
  }
  for (const { identity, sums } of misfiled.values()) await maker.add(identity, sums);
  await maker.flush();
  // Rows that came by another way than submit were not counted.
  await mendCounts(db);
  return report;
}

/** What is stored under keys without a domain or slot, a few keys at a time. */
async function* orphansOf(db: Queryable, bucket: number): AsyncGenerator<KeyedSums> {
  for (let after = smallest; ; ) {
    const keys = await loadStoredKeys(db, bucket, after, keysAtOnce);
    const orphans = keys.filter((one) => !one.isWhole).map((one) => one.key);
    for (let start = 0; start < orphans.length; start += summedAtOnce)
      yield* await loadSums(db, bucket, orphans.slice(start, start + summedAtOnce));
    const last = keys.at(-1);
    if (last === undefined || keys.length < keysAtOnce) return;
    after = last.key;
  }
}

function noteMisfiled(one: KeyedSums, misfiled: Misfiled, report: BackfillReport): void {
  const { identity, sums } = one;
  if (identity === null) report.unreadableRows += sums.rows;
  else if (identity.domainKey !== one.storedKey) {
    report.misfiledRows += sums.rows;
    const known = misfiled.get(identity.domainKey);
    if (known !== undefined) known.sums = addSums(known.sums, sums);
    else if (misfiled.size < mostMisfiled) misfiled.set(identity.domainKey, { identity, sums });
  }
}

/** Gathers domains and makes them a hundred at a time. */
class DomainMaker {
  readonly #db: Queryable;
  readonly #options: BackfillOptions;
  readonly #report: BackfillReport;
  #items: object[] = [];

  constructor(db: Queryable, options: BackfillOptions, report: BackfillReport) {
    this.#db = db;
    this.#options = options;
    this.#report = report;
  }

  async add(identity: UrlIdentity, sums: DomainSums): Promise<void> {
    this.#items.push(itemOf(identity, sums, this.#options));
    if (this.#items.length >= madeAtOnce) await this.flush();
  }

  async flush(): Promise<void> {
    const result = await this.#db.query<{ made: string | null }>(
      'SELECT made FROM domain_backfill_all($1, $2)',
      [JSON.stringify(this.#items), this.#options.actor],
    );
    this.#items = [];
    for (const { made } of result.rows) {
      if (made === 'slot') this.#report.slots += 1;
      else if (made !== null) this.#report.made[made as keyof BackfillReport['made']] += 1;
    }
  }
}

function itemOf(identity: UrlIdentity, sums: DomainSums, options: BackfillOptions): object {
  const reason = decideBackfillBlock(sums);
  return {
    bucket: identity.bucket,
    domain_key: identity.domainKey.toString(),
    domain: identity.domain,
    parent_domain: identity.registrableDomain,
    first_seen_at: sums.firstSeen ?? new Date(),
    last_crawled_at: sums.lastCrawled,
    pages_known: sums.pagesKnown,
    // A log is kept for a month, rows are kept for ever.
    pages_crawled: Math.max(sums.pagesLogged, sums.pagesFetched),
    documents: sums.documents,
    errors_total: sums.errors,
    block_reason: reason,
    rest_ms: reason === null ? null : (options.cooldownsMs[reason] ?? dayMs),
  };
}

/** How long domains rest that count as blocked, as it is configured. */
export function backfillCooldowns(domains: Config['domains']): Partial<Record<BlockReason, number>> {
  return {
    login_required: domains.loginCooldownDays * dayMs,
    rate_limited: domains.rateLimitCooldownDays * dayMs,
    forbidden: domains.forbiddenCooldownDays * dayMs,
    server_error: domains.serverErrorCooldownDays * dayMs,
  };
}
