import { setMaxListeners } from 'node:events';
import { type BlobStore, openBlobStore } from '../blobs/index.ts';
import { sharePolls, startAgain } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { ArchiveEntrance, discoverChannels, discoverDueArchives } from '../discover/index.ts';
import { indexBatch, removeArchivedPages } from '../documents/index.ts';
import { countDomains, loadLeases, rescoreDomains, reviveAllowed } from '../domains/index.ts';
import { foldCounters, rekeyDomains } from '../frontier/index.ts';
import { housekeep, JobRunner } from '../job-runs/index.ts';
import { countJobsByStatus, loadDistribution } from '../jobs/index.ts';
import { listSinks, runReplays, type SinkTakes, saveSink } from '../outbox/index.ts';
import { type LoopHealth, type LoopVoice, runLoop, type TurnResult } from '../resilience/index.ts';
import { configuredSinks, Deliverer } from '../sinks/index.ts';
import { sweepDisabled } from '../sources/index.ts';
import { SwitchReader } from '../switches/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { Subscriber } from '../websub/index.ts';

export type SchedulerOptions = {
  database: Database;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  register: (health: LoopHealth) => void;
  userAgent: string;
  /** Who this process is to the others. */
  owner: string;
  /** Contents of the hosts file. */
  hosts: string | null;
};

const mostIndexed = 200;
const mostSearches = 500;
const replayPortion = 1000;
// A sink has forty seconds for a batch, and some to be opened.
const deliveryMs = 60_000;
// One statement that reads or empties much of a large table; nothing can be heard of it while it runs.
const longTurnMs = 3_600_000;

/** Everything that happens by time and not by lease. Several may run: each turn takes only what nobody else holds. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #stop = new AbortController();
  readonly #switches: SwitchReader;
  readonly #subscriber: Subscriber | null;
  readonly #deliverers: { name: string; kind: string; takes: SinkTakes; deliverer: Deliverer }[];
  readonly #blobs: BlobStore;
  readonly #archiveEntrance: ArchiveEntrance;
  readonly #jobs: JobRunner;
  readonly #healths = new Map<string, LoopHealth>();
  #loops: Promise<unknown> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    // Every loop listens while it waits.
    setMaxListeners(0, this.#stop.signal);
    this.#switches = new SwitchReader(options.database.pool, () => options.clock.monotonic());
    this.#blobs = openBlobStore(options.config);
    this.#archiveEntrance = new ArchiveEntrance(options.database.pool, () => options.clock.monotonic());
    this.#jobs = new JobRunner(options);
    const callback = options.config.websub.callbackUrl;
    this.#subscriber = callback === null ? null : new Subscriber({ ...options, callback });
    this.#deliverers = configuredSinks(options.config, options).map((sink) => ({
      name: sink.name,
      kind: sink.kind,
      takes: sink.takes ?? 'documents',
      deliverer: new Deliverer({ ...options, sink }),
    }));
  }

  /** Starts the loops. */
  async start(): Promise<void> {
    for (const sink of this.#deliverers) await saveSink(this.#options.database.pool, sink);
    const register = (health: LoopHealth): void => {
      this.#healths.set(health.name, health);
      this.#options.register(health);
    };
    const loop = (
      name: string,
      intervalMs: number,
      turn: (signal: AbortSignal, voice: LoopVoice) => Promise<TurnResult>,
      patienceMs = 0,
    ): Promise<void> =>
      runLoop({ ...this.#options, register, name, intervalMs, turn, patienceMs, signal: this.#stop.signal });
    this.#jobs.start();
    this.#loops = Promise.all([
      loop('discover', 500, () => this.#discover()),
      loop('searches', 300_000, () => this.#searchAgain()),
      loop('archives', 5000, () => this.#discoverArchives()),
      loop('index', 500, (_signal, voice) => this.#index(voice)),
      loop('counters', 10_000, async () => {
        await foldCounters(this.#options.database.pool);
        return 'idle';
      }),
      loop('polls', 300_000, async () => {
        await sharePolls(this.#options.database.pool);
        return 'idle';
      }),
      loop('holds', 2000, async () => {
        await sweepDisabled(this.#options.database.pool);
        return 'idle';
      }),
      loop('replays', 2000, async () =>
        (await runReplays(this.#options.database, replayPortion)) > 0 ? 'busy' : 'idle',
      ),
      loop('revive', 5000, () => this.#revive()),
      loop('rekey', 2000, () => this.#rekey()),
      loop(
        'scores',
        3_600_000,
        async () => {
          await rescoreDomains(this.#options.database.pool);
          return 'idle';
        },
        longTurnMs,
      ),
      loop('gauges', 30_000, () => this.#measure()),
      loop('housekeeping', 3_600_000, (_signal, voice) => this.#housekeep(voice), longTurnMs),
      // It sleeps by itself: an operator's wish wakes it.
      loop('jobs', 10_000, (_signal, voice) => this.#jobs.turn(voice)),
      loop('job heartbeat', this.#options.config.jobs.lostSeconds * 150, () => this.#jobs.beat()),
      loop('job recovery', this.#options.config.jobs.lostSeconds * 250, () => this.#jobs.recover()),
      ...this.#deliverers.map(({ name, deliverer }) =>
        loop(`sink ${name}`, 500, (signal) => deliverer.turn(signal), deliveryMs),
      ),
      ...(this.#options.config.documents.keepHtml === 'archive'
        ? [
            loop(
              'archived',
              300_000,
              async () => {
                await removeArchivedPages(this.#options.database.pool);
                return 'idle';
              },
              longTurnMs,
            ),
          ]
        : []),
      ...(this.#subscriber === null ? [] : [loop('websub', 2000, () => this.#subscribe(this.#subscriber!))]),
    ]);
  }

  /** Ends after the turns under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#subscriber?.close();
    this.#jobs.drain();
    await this.#loops;
    await this.#jobs.stop();
    for (const { deliverer } of this.#deliverers) await deliverer.stop();
    await this.#blobs.close();
  }

  async #subscribe(subscriber: Subscriber): Promise<TurnResult> {
    if (!(await this.#switches.current()).polling) return 'idle';
    return (await subscriber.turn()) ? 'busy' : 'idle';
  }

  async #discover(): Promise<TurnResult> {
    const { database, log, config } = this.#options;
    if (!(await this.#switches.current()).discovery) return 'idle';
    const moved = await discoverChannels({
      database,
      log,
      sitemapIntervalSeconds: config.polling.sitemapIntervalMinutes * 60,
    });
    return moved > 0 ? 'busy' : 'idle';
  }

  async #searchAgain(): Promise<TurnResult> {
    const { database, log } = this.#options;
    if (!(await this.#switches.current()).discovery) return 'idle';
    const searches = await startAgain(database.pool, mostSearches);
    if (searches > 0) log.info({ searches }, 'sites that did not answer are searched for channels again');
    return searches === mostSearches ? 'busy' : 'idle';
  }

  async #discoverArchives(): Promise<TurnResult> {
    const { database, log, config } = this.#options;
    if (!(await this.#switches.current()).archives) return 'idle';
    const more = await this.#archiveEntrance.turn();
    const looked = await discoverDueArchives({
      db: database.pool,
      log,
      sitemapIntervalSeconds: config.polling.sitemapIntervalMinutes * 60,
    });
    return more || looked > 0 ? 'busy' : 'idle';
  }

  async #revive(): Promise<TurnResult> {
    const { database, log } = this.#options;
    const { domains, revived } = await reviveAllowed(database.pool);
    if (revived > 0) log.info({ revived }, 'URLs that robots.txt forbade are judged by its new rules');
    return domains > 0 ? 'busy' : 'idle';
  }

  async #rekey(): Promise<TurnResult> {
    const { database, log } = this.#options;
    const { portions, moved, merged } = await rekeyDomains(database.pool);
    if (moved + merged > 0) log.info({ moved, merged }, 'waiting URLs have their keys by new host rules');
    return portions > 0 ? 'busy' : 'idle';
  }

  async #measure(): Promise<TurnResult> {
    const { database, metrics } = this.#options;
    for (const [status, count] of Object.entries(await countDomains(database.pool)))
      metrics.domains.set({ status }, count);
    const jobs = await countJobsByStatus(database.pool);
    for (const [status, counted] of Object.entries(jobs)) metrics.jobs.set({ status }, counted.count);
    this.#noteBacklog('jobs', jobs.pending.count);
    metrics.leasesExpired.set((await loadLeases(database.pool)).expired);
    for (const { name, waiting, waitingSince, deadLetters } of await listSinks(database.pool)) {
      const waitedMs = waitingSince === null ? 0 : this.#options.clock.now() - waitingSince.getTime();
      metrics.sinkWaiting.set({ sink: name }, waiting);
      metrics.sinkLag.set({ sink: name }, Math.max(0, waitedMs) / 1000);
      metrics.sinkDeadLetters.set({ sink: name }, deadLetters);
      this.#noteBacklog(`sink ${name}`, waiting);
    }
    metrics.jobDistribution.set((await loadDistribution(database.pool)).distributionScore);
    return 'idle';
  }

  /** What waits for a loop is counted with the gauges, where it would be too dear for each of its turns. */
  #noteBacklog(loop: string, count: number): void {
    const health = this.#healths.get(loop);
    if (health !== undefined) health.backlog = count;
  }

  async #index(voice: LoopVoice): Promise<TurnResult> {
    const { database, log } = this.#options;
    const { indexed, refused } = await indexBatch(database, mostIndexed);
    if (refused.length > 0)
      log.warn(
        { sink: 'index', rejected: refused.length, reason: refused[0] },
        'documents cannot be indexed; outrider sinks dead index lists them',
      );
    voice.backlog(indexed === mostIndexed ? indexed : 0);
    return indexed === mostIndexed ? 'busy' : 'idle';
  }

  async #housekeep(voice: LoopVoice): Promise<TurnResult> {
    const { database, config, log } = this.#options;
    await housekeep({
      database,
      config,
      log,
      blobs: this.#blobs,
      signal: this.#stop.signal,
      onProgress: () => voice.progress(),
    });
    return 'idle';
  }
}
