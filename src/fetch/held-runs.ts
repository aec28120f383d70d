import type { Config } from '../config/index.ts';
import { type Database, isConnectionLost } from '../db/index.ts';
import { type Lease, renew } from '../frontier/index.ts';
import type { LoopHealth, TurnResult } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { DomainRun } from './domain-run.ts';
import type { RunDeps } from './run-deps.ts';
import { RunWatch, stallMsOf } from './run-watch.ts';

export type HeldRunsOptions = {
  database: Database;
  config: Config;
  /** Unique name of this process in leases. */
  owner: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** A run has ended: there is room for another. */
  onEnd: () => void;
};

/** The domains this process holds: begins their runs, keeps their leases alive, and stops those whose lease is lost. */
export class HeldRuns {
  readonly #options: HeldRunsOptions;
  readonly #watch: RunWatch;
  readonly #leaseMs: number;
  readonly #runs = new Map<DomainRun, Promise<void>>();
  readonly #rendering = new Set<DomainRun>();
  #isDraining = false;

  constructor(options: HeldRunsOptions) {
    this.#options = options;
    const { config, clock, log, metrics } = options;
    this.#leaseMs = config.fetch.leaseSeconds * 1000;
    this.#watch = new RunWatch({
      stallMs: stallMsOf(config),
      intervalMs: this.renewEveryMs,
      clock,
      log,
      metrics,
    });
  }

  get count(): number {
    return this.#runs.size;
  }

  /** Those whose pages run in a browser. */
  get rendering(): number {
    return this.#rendering.size;
  }

  get health(): LoopHealth {
    return this.#watch.health;
  }

  get renewEveryMs(): number {
    return this.#leaseMs / 3;
  }

  /** Works through a lease that was asked for at a moment. */
  begin(deps: RunDeps, lease: Lease, askedAt: number): void {
    const run = new DomainRun(deps, lease, this.#stopsAt(askedAt));
    if (this.#isDraining) run.drain();
    if (deps.renderer !== null) this.#rendering.add(run);
    const done = run
      .run()
      .catch((error: unknown) => {
        // The lease expires and the work is leased again; nothing is lost, but somebody should know.
        const level = isConnectionLost(error) ? 'warn' : 'error';
        this.#options.log[level](
          { error, domain: run.domain },
          'a domain run failed; its lease will expire and be taken over',
        );
      })
      .then(() => {
        this.#runs.delete(run);
        this.#rendering.delete(run);
        this.#options.onEnd();
      });
    this.#runs.set(run, done);
  }

  /** Renews every lease; whoever lost one stops. */
  async renew(): Promise<TurnResult> {
    const { config, database, owner, clock } = this.#options;
    const runs = [...this.#runs.keys()];
    this.#watch.look(runs);
    if (runs.length === 0) return 'idle';
    const askedAt = clock.monotonic();
    const held = await renew(
      database.pool,
      runs.map((run) => run.lease),
      { owner, leaseMs: this.#leaseMs, defaultDelayMs: config.fetch.defaultDelayMs },
    );
    for (const run of runs) {
      if (held.has(run.lease.domainKey)) run.extend(this.#stopsAt(askedAt));
      // A run that settled its last URLs meanwhile is gone from the map and lost nothing.
      else if (this.#runs.has(run)) run.lose();
    }
    return 'idle';
  }

  /** Lets requests under way end and hands back the rest, from now on. */
  drain(): void {
    this.#isDraining = true;
    for (const run of this.#runs.keys()) run.drain();
  }

  /** Gives up the requests under way too. */
  abort(): void {
    for (const run of this.#runs.keys()) run.abort();
  }

  /** Resolves when the runs that have begun are over. */
  async ended(): Promise<void> {
    await Promise.all(this.#runs.values());
  }

  // A worker stops itself at three quarters of the lease, by its own monotonic clock, whatever the database says.
  #stopsAt(askedAt: number): number {
    return askedAt + this.#leaseMs * 0.75;
  }
}
