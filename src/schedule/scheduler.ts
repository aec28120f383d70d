import { setMaxListeners } from 'node:events';
import { type BlobStore, openBlobStore } from '../blobs/index.ts';
import { pruneStates, sharePolls } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { discoverChannels } from '../discover/index.ts';
import { indexDocuments, pruneChanges, removeArchivedPages } from '../documents/index.ts';
import { countDomains, loadLeases, rescoreDomains, reviveAllowed } from '../domains/index.ts';
import {
  dropOldPartitions,
  ensurePartitions,
  foldCounters,
  pruneProbes,
  pruneRollups,
  pruneSourceDays,
} from '../frontier/index.ts';
import { sweepImages } from '../images/index.ts';
import { loadDistribution } from '../jobs/index.ts';
import { listSinks, runReplays, type SinkTakes, saveSink, tidyOutbox } from '../outbox/index.ts';
import { type LoopHealth, runLoop, type TurnResult } from '../resilience/index.ts';
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

const indexBatch = 200;
const replayPortion = 1000;
// A year and a month: a row per source and day, so that this year can be held against the last.
const sourceDays = 400;

/** Everything that happens by time and not by lease. Several may run: each turn takes only what nobody else holds. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #stop = new AbortController();
  readonly #switches: SwitchReader;
  readonly #subscriber: Subscriber | null;
  readonly #deliverers: { name: string; kind: string; takes: SinkTakes; deliverer: Deliverer }[];
  readonly #blobs: BlobStore;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    // Every loop listens while it waits.
    setMaxListeners(0, this.#stop.signal);
    this.#switches = new SwitchReader(options.database.pool, () => options.clock.monotonic());
    this.#blobs = openBlobStore(options.config);
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
    const loop = (
      name: string,
      intervalMs: number,
      turn: (signal: AbortSignal) => Promise<TurnResult>,
    ): Promise<void> => runLoop({ ...this.#options, name, intervalMs, turn, signal: this.#stop.signal });
    this.#loops = Promise.all([
      loop('discover', 500, () => this.#discover()),
      loop('index', 500, () => this.#index()),
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
      loop('scores', 3_600_000, async () => {
        await rescoreDomains(this.#options.database.pool);
        return 'idle';
      }),
      loop('gauges', 30_000, () => this.#measure()),
      loop('housekeeping', 3_600_000, () => this.#housekeep()),
      ...this.#deliverers.map(({ name, deliverer }) =>
        loop(`sink ${name}`, 500, (signal) => deliverer.turn(signal)),
      ),
      ...(this.#options.config.documents.keepHtml === 'archive'
        ? [
            loop('archived', 300_000, async () => {
              await removeArchivedPages(this.#options.database.pool);
              return 'idle';
            }),
          ]
        : []),
      ...(this.#subscriber === null ? [] : [loop('websub', 2000, () => this.#subscribe(this.#subscriber!))]),
    ]);
  }

  /** Ends after the turns under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#subscriber?.close();
    await this.#loops;
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

  async #revive(): Promise<TurnResult> {
    const { database, log } = this.#options;
    const { domains, revived } = await reviveAllowed(database.pool);
    if (revived > 0) log.info({ revived }, 'URLs that robots.txt forbade are judged by its new rules');
    return domains > 0 ? 'busy' : 'idle';
  }

  async #measure(): Promise<TurnResult> {
    const { database, metrics } = this.#options;
    for (const [status, count] of Object.entries(await countDomains(database.pool)))
      metrics.domains.set({ status }, count);
    metrics.leasesExpired.set((await loadLeases(database.pool)).expired);
    for (const { name, waiting, waitingSince, deadLetters } of await listSinks(database.pool)) {
      const waitedMs = waitingSince === null ? 0 : this.#options.clock.now() - waitingSince.getTime();
      metrics.sinkWaiting.set({ sink: name }, waiting);
      metrics.sinkLag.set({ sink: name }, Math.max(0, waitedMs) / 1000);
      metrics.sinkDeadLetters.set({ sink: name }, deadLetters);
    }
    metrics.jobDistribution.set((await loadDistribution(database.pool)).distributionScore);
    return 'idle';
  }

  async #index(): Promise<TurnResult> {
    const indexed = await this.#options.database.withTransaction((tx) => indexDocuments(tx, indexBatch));
    return indexed === indexBatch ? 'busy' : 'idle';
  }

  async #housekeep(): Promise<TurnResult> {
    const { pool } = this.#options.database;
    const { retention } = this.#options.config;
    for (const [table, days] of [
      ['crawl_log', retention.crawlLogDays],
      ['raw_pages', retention.rawPageDays],
    ] as const) {
      await ensurePartitions(pool, table);
      const dropped = await dropOldPartitions(pool, table, days);
      if (dropped.length > 0)
        this.#options.log.info({ table, dropped }, 'dropped day partitions past their retention');
    }
    await pruneProbes(pool);
    await pruneRollups(pool);
    await pruneSourceDays(pool, sourceDays);
    await pruneStates(pool);
    await pruneChanges(pool, retention.changesDays);
    await tidyOutbox(pool);
    await this.#sweep();
    return 'idle';
  }

  /** Images that nobody shows any more, with their bytes. */
  async #sweep(): Promise<void> {
    const { database, config, log } = this.#options;
    let all = 0;
    while (!this.#stop.signal.aborted) {
      const { swept, failed } = await sweepImages(database, this.#blobs, {
        graceDays: config.images.sweepDays,
      });
      all += swept;
      if (failed !== null) log.warn({ detail: failed }, 'images that nobody shows could not be deleted');
      if (swept === 0 || failed !== null) break;
    }
    if (all > 0) log.info({ images: all }, 'deleted images that no page shows any more');
  }
}
