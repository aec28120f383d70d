import type { Queryable } from '../../src/db/index.ts';
import { delayMs, leaseMs, type Stage } from './stage.ts';

type Slot = {
  key: string;
  owner: string | null;
  epoch: bigint;
  /** Milliseconds by which the lease is over; negative while it lasts. */
  overMs: number | null;
  delayMs: number;
};

/** A lease whose holder died. */
type Orphan = { key: string; epoch: bigint; life: string; diedAt: number; delayMs: number };

/** How long a dead process's domain was nobody's, and how long it might have been. */
export type Recovery = { life: string; key: string; tookMs: number; mostMs: number };

const everyMs = 400;
const slackMs = 5000;

/** Looks at the leases while the storm goes on, over a connection that no fault meets. */
export class Watcher {
  readonly problems: string[] = [];
  readonly recoveries: Recovery[] = [];
  readonly #stage: Stage;
  readonly #epochs = new Map<string, { epoch: bigint; owner: string | null }>();
  readonly #told = new Set<string>();
  /** The last heartbeat of who was cut off. */
  readonly #silenced = new Map<number, string>();
  #orphans: Orphan[] = [];
  #stop = false;
  #done: Promise<void> = Promise.resolve();
  /** Times at which nobody could have taken a lease over: no database, or no fetcher that reaches it. */
  readonly #unable: { fromMs: number; toMs: number }[] = [];
  #lastLookMs = performance.now();
  readonly #startedMs = performance.now();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop = true;
    await this.#done;
  }

  /** A fetcher was killed: what it held must be taken over in time. Call it before the process is gone. */
  async noteDeath(pid: number, life: string): Promise<void> {
    const slots = await this.#look().catch(() => []);
    const diedAt = performance.now();
    for (const { key, epoch, owner, delayMs: gapMs } of slots)
      if (owner?.includes(`-${pid}-`)) this.#orphans.push({ key, epoch, life, diedAt, delayMs: gapMs });
  }

  async #run(): Promise<void> {
    while (!this.#stop) {
      const startedAt = performance.now();
      try {
        const slots = await this.#look();
        const able = await this.#ableFetchers();
        // Who finds the web silent pauses, and says so at his next heartbeat.
        if (able === 0 || this.#stage.ledger.isSilent(startedAt)) this.#noteUnable(startedAt);
        // Whoever was kept from looking cannot blame others for being late.
        if (startedAt - this.#lastLookMs > 2 * everyMs)
          this.#unable.push({ fromMs: this.#lastLookMs, toMs: startedAt });
        this.#judge(slots);
      } catch {
        // The database is away, which is one of the faults.
        this.#noteUnable(startedAt);
      }
      this.#lastLookMs = performance.now();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  #noteUnable(fromMs: number): void {
    // Until the next look, which says whether it goes on; and a process that is back needs a moment to connect.
    this.#unable.push({ fromMs: Math.min(fromMs, this.#lastLookMs), toMs: performance.now() + everyMs });
  }

  /** Share of the time since the start in which somebody could have taken a lease over. */
  get ableShare(): number {
    return this.#ableSince(this.#startedMs) / (performance.now() - this.#startedMs);
  }

  /** Milliseconds since a moment in which somebody could have done something. */
  #ableSince(sinceMs: number): number {
    const now = performance.now();
    let lost = 0;
    let reached = sinceMs;
    for (const { fromMs, toMs } of [...this.#unable].sort((a, b) => a.fromMs - b.fromMs)) {
      const from = Math.max(fromMs, reached);
      const to = Math.min(toMs, now);
      if (to <= from) continue;
      lost += to - from;
      reached = to;
    }
    return now - sinceMs - lost;
  }

  async #look(): Promise<Slot[]> {
    const { rows } = await this.#stage.database.pool.query<Slot>(
      `SELECT s.domain_key::text AS key, s.lease_owner AS owner, s.lease_epoch AS epoch,
              (extract(epoch FROM now() - s.lease_until) * 1000)::float8 AS "overMs",
              slot_delay_ms(s, $1) AS "delayMs" FROM domain_slots s`,
      [delayMs],
    );
    return rows;
  }

  async #ableFetchers(): Promise<number> {
    const { rows } = await this.#stage.database.pool.query<{ pid: number; beat: string }>(
      `SELECT pid, heartbeat_at::text AS beat FROM workers
        WHERE role = 'fetch' AND heartbeat_at > now() - interval '15 seconds' AND (state->>'outage') IS DISTINCT FROM 'true'`,
    );
    const beats = new Map(rows.map((row) => [row.pid, row.beat]));
    return this.#stage.members.filter(({ role, pid, isFrozen, isCut }) => {
      const beat = role === 'fetch' && pid !== null ? beats.get(pid) : undefined;
      if (pid === null || beat === undefined) return false;
      // Who was cut off is back when its heart is heard again.
      if (isFrozen || isCut) this.#silenced.set(pid, beat);
      return this.#silenced.get(pid) !== beat;
    }).length;
  }

  #judge(slots: readonly Slot[]): void {
    for (const slot of slots) {
      const { key, owner, epoch, overMs } = slot;
      const before = this.#epochs.get(key);
      if (before !== undefined && epoch < before.epoch)
        this.#tell(`(2) the epoch of ${key} fell from ${before.epoch} to ${epoch}`);
      if (
        before !== undefined &&
        owner !== null &&
        before.owner !== null &&
        owner !== before.owner &&
        epoch === before.epoch
      )
        this.#tell(`(2) ${key} went from ${before.owner} to ${owner} within epoch ${epoch}`);
      this.#epochs.set(key, { epoch, owner });
      if (owner !== null && overMs !== null && overMs > slot.delayMs + slackMs) {
        const ableMs = this.#ableSince(performance.now() - overMs);
        if (ableMs > slot.delayMs + slackMs)
          this.#tell(
            `(6) ${key} is leased by ${owner} and should have ended`,
            ` ${Math.round(ableMs)} ms ago`,
            `${key} ${epoch}`,
          );
      }
    }
    this.#settleOrphans(new Map(slots.map((slot) => [slot.key, slot])));
  }

  #settleOrphans(slots: ReadonlyMap<string, Slot>): void {
    this.#orphans = this.#orphans.filter(({ key, epoch, life, diedAt, delayMs: gapMs }) => {
      const slot = slots.get(key);
      if (slot !== undefined && slot.owner !== null && slot.epoch === epoch) return true;
      const recovery = {
        life,
        key,
        tookMs: Math.round(this.#ableSince(diedAt)),
        mostMs: leaseMs + gapMs + slackMs,
      };
      this.recoveries.push(recovery);
      if (recovery.tookMs > recovery.mostMs)
        this.#tell(
          `(6) ${key} of ${life} was taken over after ${recovery.tookMs} ms of at most ${recovery.mostMs}`,
        );
      return false;
    });
  }

  /** Once for each: the same trouble is seen at every look. */
  #tell(problem: string, detail = '', about = problem): void {
    if (this.#told.has(about)) return;
    this.#told.add(about);
    this.problems.push(problem + detail);
  }
}

/** Asks the database until it answers. */
export async function patient<T>(ask: () => Promise<T>, ensure: () => Promise<unknown>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === 60) throw error;
      await ensure().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/**
 * Whether all that is due is done: true, or what is left. A domain that only keeps its delay has work left; one that rests
 * longer, and what waits for its time, does not count.
 */
export async function isCalm(db: Queryable): Promise<true | string> {
  const { rows } = await db.query<Record<'ready' | 'due' | 'leased' | 'outbox', number>>(
    `SELECT (SELECT count(*)::integer FROM domain_slots WHERE top IS NOT NULL AND next_at <= now() + interval '30 seconds') AS ready,
            (SELECT count(*)::integer FROM domain_slots WHERE wake_at <= now()) AS due,
            (SELECT count(*)::integer FROM domain_slots WHERE lease_owner IS NOT NULL) AS leased,
            (SELECT count(*)::integer FROM outbox) AS outbox`,
  );
  return Object.values(rows[0]!).every((count) => count === 0) || JSON.stringify(rows[0]);
}
