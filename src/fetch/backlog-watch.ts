import type { Queryable } from '../db/index.ts';
import { type Backlog, type BacklogBounds, measureBacklog } from '../outbox/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';

const lifeMs = 5000;
const pauseMs = 5000;

const words: Record<Backlog, string> = {
  light: 'sinks have caught up: fetching goes on as before',
  heavy: 'sinks are far behind: fetching slows until they have caught up',
  full: 'sinks are so far behind that nothing may be added: fetching waits for them',
};

export type BacklogWatchOptions = {
  db: Queryable;
  bounds: BacklogBounds;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

/**
 * Keeps what waits for sinks bounded. Beyond the bound one domain is fetched at a time with pauses, so that a sink that
 * is a little slow costs little; at twice the bound none is, or a sink that is down for days would fill the disk.
 */
export class BacklogWatch {
  readonly #options: BacklogWatchOptions;
  #backlog: Backlog = 'light';
  #until = Number.NEGATIVE_INFINITY;

  constructor(options: BacklogWatchOptions) {
    this.#options = options;
  }

  /** How many domains may be leased; waits where it is to be done slowly. */
  async allow(free: number, running: number, signal: AbortSignal): Promise<number> {
    const backlog = await this.#measure();
    if (backlog === 'light') return free;
    const { clock } = this.#options;
    if (running > 0) {
      await clock.wait(1000, signal);
      return 0;
    }
    await clock.wait(pauseMs, signal);
    return backlog === 'full' ? 0 : 1;
  }

  /** Asked every few seconds only: it may have to count far. */
  async #measure(): Promise<Backlog> {
    const { db, bounds, clock, log, metrics } = this.#options;
    const now = clock.monotonic();
    if (now < this.#until) return this.#backlog;
    const before = this.#backlog;
    this.#backlog = await measureBacklog(db, bounds);
    this.#until = clock.monotonic() + lifeMs;
    metrics.crowded.set(this.#backlog === 'light' ? 0 : 1);
    if (this.#backlog !== before) {
      const level = this.#backlog === 'light' ? 'info' : 'warn';
      log[level]({ backlog: this.#backlog }, words[this.#backlog]);
    }
    return this.#backlog;
  }
}
