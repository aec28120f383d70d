import type { Config } from '../config/index.ts';
import { type LoopHealth, newLoop } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';

/** What the watch needs of a run of a domain. */
export type WatchedRun = {
  /** Name of its domain. */
  readonly domain: string;
  /** How long nothing has been heard of it, beyond the gap it keeps. */
  readonly silentMs: number;
  abort(): void;
};

export type RunWatchOptions = {
  /** Silence after which a run has stalled. */
  stallMs: number;
  intervalMs: number;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

// A sitemap alone may take two minutes.
const leastStallMs = 300_000;
// Beside the time a request may take: to wait for a name, for room, and for what came to be read.
const besideMs = 60_000;

/** Silence after which a run has stalled: never before the time is over that one request of it may take. */
export const stallMsOf = ({ fetch, watchdog }: Pick<Config, 'fetch' | 'watchdog'>): number =>
  Math.max(leastStallMs, watchdog.stallSeconds * 1000, fetch.timeoutMs + besideMs);

// Whoever looks may have to wait for the database first.
const backoffMs = 30_000;

/**
 * Watches the runs of domains, which are no loops and would hold their lease for ever if one hung in spite of all time
 * limits. A run that is silent is given up; one that does not even end then makes the `fetch` loop fall silent, by which
 * the role is replaced.
 */
export class RunWatch {
  readonly health: LoopHealth;
  readonly #options: RunWatchOptions;
  readonly #told = new WeakSet<WatchedRun>();

  constructor(options: RunWatchOptions) {
    this.#options = options;
    this.health = newLoop('fetch', options.intervalMs);
  }

  /** Looks at every run. */
  look(runs: readonly WatchedRun[]): void {
    const { stallMs, clock, log, metrics } = this.#options;
    const { health } = this;
    for (const run of runs) {
      if (run.silentMs < stallMs || this.#told.has(run)) continue;
      this.#told.add(run);
      metrics.stalls.inc();
      log.error(
        { domain: run.domain, silentSeconds: Math.round(run.silentMs / 1000) },
        'stall detected: the run of a domain gives no sign of life and is given up',
      );
      run.abort();
    }
    health.turns += 1;
    health.lastTurnAt = clock.now();
    health.backlog = runs.length;
    if (runs.some((run) => run.silentMs >= 2 * stallMs)) return;
    health.signs += 1;
    health.lastSignAt = health.lastTurnAt;
    health.patienceMs = this.#options.intervalMs + backoffMs;
  }
}
