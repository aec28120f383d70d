import { MultiplierReader } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import {
  countDueDomains,
  createMarks,
  Leaser,
  loadIdleMs,
  type Marks,
  renderPool,
  tendRendering,
  WakeListener,
} from '../frontier/index.ts';
import { ResponseReader } from '../outbox/index.ts';
import { type LoopHealth, type LoopVoice, runLoop, type TurnResult } from '../resilience/index.ts';
import { SiteCache } from '../sites/index.ts';
import { decideBudget, type Switches, SwitchReader } from '../switches/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { ArticlePages } from './article-pages.ts';
import { BacklogWatch } from './backlog-watch.ts';
import { type HttpClient, RecordingRoom } from './client/index.ts';
import { clientOf } from './client-of.ts';
import { ExecutionWatch } from './executions.ts';
import { HeldRuns } from './held-runs.ts';
import { ImageStore } from './image-store.ts';
import { LoadGate } from './load-gate.ts';
import { OutageWatch } from './outage.ts';
import { OutageGate } from './outage-gate.ts';
import { recordingRoomBytes } from './recordings.ts';
import type { PageRenderer } from './rendering.ts';
import { RobotsGate } from './robots-gate.ts';
import type { RunDeps } from './run-deps.ts';
import { runOptionsOf } from './run-options.ts';
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

const tendEveryMs = 5000;
const countEveryMs = 10_000;
// A page may take fifteen seconds: small batches keep a domain from being held for minutes.
const renderBatch = 4;

/** Where domains are leased from: those with pages to fetch, or those with pages for a browser. */
type Queue = { pool: string; batch: number; leaser: Leaser; marks: Marks; deps: RunDeps };

/** Leases domains as far as there is room for them, and has them run. One per process. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #client: HttpClient;
  readonly #deps: RunDeps;
  readonly #switches: SwitchReader;
  readonly #images: ImageStore;
  readonly #executions: ExecutionWatch;
  readonly #outage: OutageWatch;
  readonly #gate: OutageGate;
  readonly #held: HeldRuns;
  readonly #backlog: BacklogWatch;
  readonly #load: LoadGate;
  readonly #queue: Queue;
  readonly #listener: WakeListener;
  readonly #leasing = new AbortController();
  readonly #renewing = new AbortController();
  #leaseLoops: Promise<unknown> = Promise.resolve();
  #renewLoop: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;
  #tendAt = 0;
  #countAt = 0;

  constructor(options: FetcherOptions) {
    this.#options = options;
    const { config, database, clock, log, metrics } = options;
    this.#backlog = new BacklogWatch({
      db: database.pool,
      bounds: {
        most: config.documents.maxUndelivered,
        mostResponseBytes: config.warc.maxUndeliveredMegabytes * 1024 * 1024,
      },
      clock,
      log,
      metrics,
    });
    this.#client = clientOf(options);
    const monotonic = () => clock.monotonic();
    this.#load = new LoadGate(monotonic);
    this.#outage = new OutageWatch(monotonic);
    this.#held = new HeldRuns({ ...options, onEnd: () => this.#wake?.() });
    this.#gate = new OutageGate({
      watch: this.#outage,
      client: this.#client,
      checkUrl: config.watchdog.networkCheckUrl,
      signal: this.#leasing.signal,
      clock,
      log,
      metrics,
    });
    this.#listener = new WakeListener(database.directConnectionString, () => this.#wake?.());
    this.#switches = new SwitchReader(database.pool, monotonic);
    this.#executions = new ExecutionWatch(database.pool, monotonic);
    this.#images = new ImageStore({ db: database.pool, config, clock, log: options.log });
    this.#deps = {
      db: database.pool,
      client: this.#client,
      renderer: null,
      robots: new RobotsGate({
        db: database.pool,
        productToken: config.fetch.productToken,
        monotonic,
        defaultDelayMs: config.fetch.defaultDelayMs,
      }),
      settings: new SettingsCache(database.pool, monotonic),
      sites: new SiteCache(database.pool),
      articlePages: new ArticlePages(),
      switches: this.#switches,
      multipliers: new MultiplierReader(database.pool, monotonic),
      outage: this.#outage,
      images: this.#images,
      executions: this.#executions,
      responses: new ResponseReader(database.pool, monotonic),
      recordingRoom: new RecordingRoom(recordingRoomBytes),
      owner: options.owner,
      clock,
      log: options.log,
      metrics: options.metrics,
      options: runOptionsOf(config),
    };
    this.#queue = this.#queueOf(config.fetch.pool, config.fetch.batch, this.#deps);
  }

  get activeDomains(): number {
    return this.#held.count;
  }

  /** Whether our own network seems to be down; fetching pauses then. */
  get isAway(): boolean {
    return this.#gate.isAway;
  }

  /** Starts the loops. */
  start(): void {
    const { clock, log, metrics, register } = this.#options;
    this.#listener.start();
    const common = { clock, log, metrics, register };
    register(this.#held.health);
    this.#leaseLoops = Promise.all([
      runLoop({
        ...common,
        name: 'lease',
        intervalMs: 0,
        signal: this.#leasing.signal,
        turn: (_signal, voice) => this.#leaseTurn(voice),
      }),
      runLoop({
        ...common,
        name: 'promote',
        intervalMs: 500,
        signal: this.#leasing.signal,
        turn: (_signal, voice) => this.#promoteTurn(voice),
      }),
      runLoop({
        ...common,
        name: 'usage',
        intervalMs: 3000,
        signal: this.#leasing.signal,
        turn: async () => {
          await this.#executions.report();
          return 'idle';
        },
      }),
    ]);
    this.#renewLoop = runLoop({
      ...common,
      name: 'renew',
      intervalMs: this.#held.renewEveryMs,
      signal: this.#renewing.signal,
      turn: () => this.#held.renew(),
    });
  }

  /** How a connection is made under the guard of this fetcher: the browser's way out. */
  get connect(): HttpClient['connect'] {
    return (to, options) => this.#client.connect(to, options);
  }

  /** Also leases rows that need a browser, from now on. */
  renderWith(renderer: PageRenderer): void {
    const { config, clock, log, metrics, register } = this.#options;
    const queue = this.#queueOf(renderPool(config.fetch.pool), Math.min(renderBatch, config.fetch.batch), {
      ...this.#deps,
      renderer,
    });
    const loop = runLoop({
      name: 'render',
      intervalMs: 0,
      signal: this.#leasing.signal,
      turn: (_signal, voice) => this.#renderTurn(renderer, queue, voice),
      clock,
      log,
      metrics,
      register,
    });
    this.#leaseLoops = Promise.all([this.#leaseLoops, loop]);
  }

  /** Stops claiming, lets requests under way end within the grace period, hands back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#leasing.abort();
    this.#wake?.();
    this.#held.drain();
    const finished = this.#finish();
    const timer = new AbortController();
    await Promise.race([finished, this.#options.clock.wait(graceMs * 0.6, timer.signal)]);
    timer.abort();
    this.#held.abort();
    await finished;
    this.#renewing.abort();
    await this.#renewLoop;
    await this.#executions.report().catch((error: unknown) => {
      this.#options.log.warn({ error }, 'what jobs cost could not be written down');
    });
    await this.#listener.stop();
    await this.#client.close();
    await this.#images.close();
  }

  /** A lease asked for before the end may be got after it: no run is the last one until the loops are over. */
  async #finish(): Promise<void> {
    await this.#leaseLoops;
    await this.#held.ended();
  }

  async #leaseTurn(voice: LoopVoice): Promise<TurnResult> {
    const { config, metrics } = this.#options;
    const running = this.#held.count - this.#held.rendering;
    let free = this.#load.allow(config.fetch.domainsAtOnce - running, running);
    const switches = await this.#switches.current();
    if (free <= 0 || !switches.fetching) {
      await this.#sleep(1000);
      return 'busy';
    }
    free = await this.#gate.allow(free, this.#held.count, voice);
    if (free > 0) free = await this.#backlog.allow(free, this.#held.count, this.#leasing.signal);
    if (free === 0) return 'busy';
    const taken = await this.#take(this.#queue, free, switches);
    metrics.leasedDomains.set(this.#held.count);
    await this.#countDue(voice, taken === free);
    if (taken === 0) await this.#sleep(await this.#idleMs(this.#queue));
    return 'busy';
  }

  async #renderTurn(renderer: PageRenderer, queue: Queue, voice: LoopVoice): Promise<TurnResult> {
    const { config, clock } = this.#options;
    const { signal } = this.#leasing;
    const switches = await this.#switches.current();
    const isWilling =
      switches.fetching && switches.rendering && renderer.isReady && !this.#outage.isSuspected;
    let free = isWilling ? config.render.concurrency - this.#held.rendering : 0;
    if (free > 0) free = await this.#backlog.allow(free, this.#held.count, signal);
    if (free <= 0) {
      await clock.wait(200, signal);
      return 'busy';
    }
    const taken = await this.#take(queue, free, switches);
    voice.backlog(taken === free ? taken : 0);
    if (taken === 0) await clock.wait(await this.#idleMs(queue), signal);
    return 'busy';
  }

  #queueOf(pool: string, batch: number, deps: RunDeps): Queue {
    const { clock, database } = this.#options;
    const monotonic = () => clock.monotonic();
    return {
      pool,
      batch,
      leaser: new Leaser({ db: database.pool, monotonic }),
      marks: createMarks(monotonic),
      deps,
    };
  }

  /** Leases as many domains as there is room for and begins their runs; answers how many there were. */
  async #take(
    { pool, batch, leaser, marks, deps }: Queue,
    free: number,
    switches: Switches,
  ): Promise<number> {
    const { config, owner, clock } = this.#options;
    const askedAt = clock.monotonic();
    const leases = await leaser.lease({
      owner,
      pool,
      slots: free,
      leaseMs: config.fetch.leaseSeconds * 1000,
      defaultDelayMs: config.fetch.defaultDelayMs,
      batch,
      marks,
      budget: decideBudget(switches, config.domains.maxPagesPerRun),
    });
    for (const one of leases) this.#held.begin(deps, one, askedAt);
    return leases.length;
  }

  // A little jitter: many idle workers must not all ask in the moment a domain becomes due.
  async #idleMs({ pool }: Queue): Promise<number> {
    return (await loadIdleMs(this.#options.database.pool, pool)) + 5 + Math.random() * 45;
  }

  /** How many domains wait to be leased: asked now and then, and not while there is room for all. */
  async #countDue(voice: LoopVoice, isMore: boolean): Promise<void> {
    const { clock, database, config } = this.#options;
    if (!isMore) return voice.backlog(0);
    if (clock.monotonic() < this.#countAt) return;
    this.#countAt = clock.monotonic() + countEveryMs;
    voice.backlog(await countDueDomains(database.pool, config.fetch.pool));
  }

  async #promoteTurn(voice: LoopVoice): Promise<TurnResult> {
    const { clock, database } = this.#options;
    const switches = await this.#switches.current();
    if (clock.monotonic() >= this.#tendAt) {
      await tendRendering(database.pool);
      this.#tendAt = clock.monotonic() + tendEveryMs;
    }
    const woken = await this.#queue.leaser.promote({
      slots: 200,
      budget: decideBudget(switches, this.#options.config.domains.maxPagesPerRun),
      refresh: switches.refresh,
    });
    if (woken > 0) this.#wake?.();
    voice.backlog(woken === 200 ? woken : 0);
    return woken === 200 ? 'busy' : 'idle';
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
