import type { Config } from '../config/index.ts';
import { type Database, isConnectionLost } from '../db/index.ts';
import { createMarks, lease, type Marks, promote, renew } from '../frontier/index.ts';
import { type LoopHealth, runLoop, type TurnResult } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { createHttpClient, type HttpClient, parseHostsFile } from './client/index.ts';
import { DomainRun, type RunDeps } from './domain-run.ts';
import { RobotsGate } from './robots-gate.ts';
import { SettingsCache } from './settings-cache.ts';

export type FetcherOptions = {
  database: Database;
  config: Config;
  /** Unique name of this process in leases. */
  owner: string;
  userAgent: string;
  /** Contents of the hosts file. */
  hosts: string | null;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  register: (health: LoopHealth) => void;
};

/** Leases domains, runs them, and keeps the leases alive. One per process. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #client: HttpClient;
  readonly #deps: RunDeps;
  readonly #marks: Marks;
  readonly #runs = new Map<DomainRun, Promise<void>>();
  readonly #leasing = new AbortController();
  readonly #renewing = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #wake: (() => void) | null = null;

  constructor(options: FetcherOptions) {
    this.#options = options;
    const { config, database, clock } = options;
    this.#client = createHttpClient({
      userAgent: options.userAgent,
      allowNetworks: config.fetch.allowNetworks,
      ...(options.hosts === null ? {} : { hosts: parseHostsFile(options.hosts) }),
      timeoutMs: config.fetch.timeoutMs,
      headersTimeoutMs: config.fetch.headersTimeoutMs,
      maxBodyBytes: config.fetch.maxBodyBytes,
      networkLimits: {
        maxPerDomain: config.fetch.networkConcurrency,
        maxPerNetwork: config.fetch.networkConcurrency,
        gapMs: config.fetch.networkGapMs,
      },
    });
    const monotonic = () => clock.monotonic();
    this.#marks = createMarks(monotonic);
    this.#deps = {
      db: database.pool,
      client: this.#client,
      robots: new RobotsGate({ db: database.pool, productToken: config.fetch.productToken, monotonic }),
      settings: new SettingsCache(database.pool, monotonic),
      owner: options.owner,
      clock,
      log: options.log,
      metrics: options.metrics,
      options: {
        defaultDelayMs: config.fetch.defaultDelayMs,
        maxTries: config.fetch.maxTries,
        minWords: config.documents.minWords,
        keepHtml: config.documents.keepHtml,
        sitemapMaxAgeMs: config.polling.sitemapMaxAgeHours * 3_600_000,
        maxBodyBytes: config.fetch.maxBodyBytes,
      },
    };
  }

  get activeDomains(): number {
    return this.#runs.size;
  }

  /** Starts the loops. */
  start(): void {
    const { clock, log, metrics, register, config } = this.#options;
    const common = { clock, log, metrics, register };
    const renewEveryMs = (config.fetch.leaseSeconds * 1000) / 3;
    this.#loops = Promise.all([
      runLoop({
        ...common,
        name: 'lease',
        intervalMs: 0,
        signal: this.#leasing.signal,
        turn: () => this.#leaseTurn(),
      }),
      runLoop({
        ...common,
        name: 'promote',
        intervalMs: 500,
        signal: this.#leasing.signal,
        turn: () => this.#promoteTurn(),
      }),
      runLoop({
        ...common,
        name: 'renew',
        intervalMs: renewEveryMs,
        signal: this.#renewing.signal,
        turn: () => this.#renewTurn(),
      }),
    ]);
  }

  /** Stops claiming, lets requests under way end within the grace period, hands back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#leasing.abort();
    this.#wake?.();
    for (const run of this.#runs.keys()) run.drain();
    const finished = Promise.all(this.#runs.values());
    const { clock } = this.#options;
    const timer = new AbortController();
    await Promise.race([finished, clock.wait(graceMs * 0.6, timer.signal)]);
    timer.abort();
    for (const run of this.#runs.keys()) run.abort();
    await finished;
    this.#renewing.abort();
    await this.#loops;
    await this.#client.close();
  }

  async #leaseTurn(): Promise<TurnResult> {
    const { config, database, owner, clock, metrics } = this.#options;
    const free = config.fetch.domainsAtOnce - this.#runs.size;
    if (free <= 0) {
      await this.#sleep(1000);
      return 'busy';
    }
    const askedAt = clock.monotonic();
    const leases = await lease(database.pool, {
      owner,
      pool: config.fetch.pool,
      slots: free,
      leaseMs: config.fetch.leaseSeconds * 1000,
      defaultDelayMs: config.fetch.defaultDelayMs,
      batch: config.fetch.batch,
      marks: this.#marks,
    });
    for (const one of leases) this.#begin(new DomainRun(this.#deps, one, askedAt + this.#selfStopMs()));
    metrics.leasedDomains.set(this.#runs.size);
    if (leases.length === 0) await this.#sleep(250 + Math.random() * 250);
    return 'busy';
  }

  // The worker stops itself at three quarters of the lease, by its own monotonic clock, whatever the database says.
  #selfStopMs(): number {
    return this.#options.config.fetch.leaseSeconds * 750;
  }

  #begin(run: DomainRun): void {
    const { log } = this.#options;
    const done = run
      .run()
      .catch((error: unknown) => {
        // The lease expires and the work is leased again; nothing is lost, but somebody should know.
        const level = isConnectionLost(error) ? 'warn' : 'error';
        log[level](
          { error, domainKey: run.lease.domainKey.toString() },
          'a domain run failed; its lease will expire and be taken over',
        );
      })
      .then(() => {
        this.#runs.delete(run);
        this.#wake?.();
      });
    this.#runs.set(run, done);
  }

  async #promoteTurn(): Promise<TurnResult> {
    const woken = await promote(this.#options.database.pool, { slots: 200 });
    if (woken > 0) this.#wake?.();
    return woken === 200 ? 'busy' : 'idle';
  }

  async #renewTurn(): Promise<TurnResult> {
    const { config, database, owner, clock } = this.#options;
    const runs = [...this.#runs.keys()];
    if (runs.length === 0) return 'idle';
    const askedAt = clock.monotonic();
    const held = await renew(
      database.pool,
      runs.map((run) => run.lease),
      { owner, leaseMs: config.fetch.leaseSeconds * 1000, defaultDelayMs: config.fetch.defaultDelayMs },
    );
    for (const run of runs) {
      if (held.has(run.lease.domainKey)) run.extend(askedAt + this.#selfStopMs());
      // A run that settled its last URLs meanwhile is gone from the map and lost nothing.
      else if (this.#runs.has(run)) run.lose();
    }
    return 'idle';
  }

  /** Sleeps until something may have changed: a run ended, a domain was woken, or the time is up. */
  #sleep(ms: number): Promise<void> {
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    this.#wake = stop;
    this.#leasing.signal.addEventListener('abort', stop, { once: true });
    return this.#options.clock.wait(ms, controller.signal).finally(() => {
      this.#leasing.signal.removeEventListener('abort', stop);
      this.#wake = null;
    });
  }
}
