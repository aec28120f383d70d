import type { Queryable } from '../db/index.ts';
import { type Lease, type LeaseOptions, lease, type PromoteOptions, promote } from './lease.ts';

/**
 * How leases are taken. `single`: over all domains, order exact. `bucket`: one bucket at a time, order exact per bucket;
 * for a database whose hot tables are distributed by bucket, where no statement may lock across shards.
 */
export type LeaseMode = 'single' | 'bucket';

/** The mode in force. */
export async function loadLeaseMode(db: Queryable): Promise<LeaseMode> {
  const result = await db.query<{ value: LeaseMode }>(`SELECT value FROM settings WHERE name = 'lease_mode'`);
  return result.rows[0]?.value ?? 'single';
}

/** Changes the mode and its indexes; running workers follow within a minute, and both kinds may run meanwhile. */
export async function saveLeaseMode(db: Queryable, mode: LeaseMode, actor: string): Promise<void> {
  await db.query('SELECT frontier_set_lease_mode($1, $2)', [mode, actor]);
}

export type LeaserOptions = { db: Queryable; monotonic: () => number };

const modeLifeMs = 60_000;
const bucketsLifeMs = 1000;

/** Takes leases and promotes in whichever mode is in force; one per worker. */
export class Leaser {
  readonly #options: LeaserOptions;
  #mode: LeaseMode = 'single';
  #modeUntil = Number.NEGATIVE_INFINITY;
  #buckets: number[] = [];
  #bucketsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: LeaserOptions) {
    this.#options = options;
  }

  /** Up to `slots` domains, best first. */
  async lease(options: LeaseOptions): Promise<Lease[]> {
    const { db } = this.#options;
    if ((await this.#loadMode()) === 'single') return lease(db, options);
    const { marks: _marks, ...rest } = options;
    const leases: Lease[] = [];
    await this.#loadBuckets(options);
    while (leases.length < options.slots) {
      const bucket = this.#buckets.shift();
      if (bucket === undefined) break;
      leases.push(...(await lease(db, { ...rest, bucket, slots: options.slots - leases.length })));
    }
    return leases;
  }

  /** Readies what is due; answers how many domains were woken. */
  async promote(options: PromoteOptions): Promise<number> {
    const { db } = this.#options;
    if ((await this.#loadMode()) === 'single') return promote(db, options);
    const due = await db.query<{ bucket: number }>(
      `SELECT bucket FROM frontier_waking_buckets($1 * interval '1 millisecond')`,
      [options.skewMs ?? 0],
    );
    let woken = 0;
    for (const { bucket } of due.rows) {
      woken += await promote(db, { ...options, bucket, slots: options.slots - woken });
      if (woken >= options.slots) break;
    }
    return woken;
  }

  async #loadMode(): Promise<LeaseMode> {
    const now = this.#options.monotonic();
    if (now >= this.#modeUntil) {
      this.#mode = await loadLeaseMode(this.#options.db);
      this.#modeUntil = now + modeLifeMs;
    }
    return this.#mode;
  }

  async #loadBuckets(options: LeaseOptions): Promise<void> {
    const now = this.#options.monotonic();
    if (this.#buckets.length > 0 && now < this.#bucketsUntil) return;
    const due = await this.#options.db.query<{ bucket: number }>(
      `SELECT bucket FROM frontier_due_buckets($1, $2 * interval '1 millisecond')`,
      [options.pool, options.skewMs ?? 0],
    );
    this.#buckets = due.rows.map((row) => row.bucket);
    this.#bucketsUntil = now + bucketsLifeMs;
  }
}
