import { isArchiveRead, type MultiplierReader, submitPoll } from '../channels/index.ts';
import { isConnectionLost, type Queryable } from '../db/index.ts';
import type { RefreshOptions } from '../domains/index.ts';
import { messageOf } from '../errors/index.ts';
import type { Lease, LeasedUrl, SubmitItem, SubmitResult } from '../frontier/index.ts';
import { sightSubmitted } from '../images/index.ts';
import type { ImageSettings } from '../ingest/index.ts';
import { saveFound } from '../jobs/index.ts';
import type { ResponseReader } from '../outbox/index.ts';
import type { SiteCache } from '../sites/index.ts';
import { decideBudget, type Switches, type SwitchReader } from '../switches/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { HttpClient, RecordingRoom } from './client/index.ts';
import {
  concludeOrphan,
  concludeRow,
  concludeUnfetchedImage,
  concludeUnpolled,
  concludeUnrendered,
  concludeUnstored,
  type RowContext,
  type RowEnd,
} from './conclude/index.ts';
import { type Arrival, type ExchangeDeps, fetchRow, requestRobots } from './exchange.ts';
import { crawlOf, type ExecutionWatch, sourceOfRun } from './executions.ts';
import { articlesOf, asOfRun, type FoundTotals, noteFound, nothingFound, submitFound } from './found.ts';
import type { ImageStore } from './image-store.ts';
import { type Cooldowns, DomainLessons } from './lessons.ts';
import type { OutageWatch } from './outage.ts';
import { Pacer } from './pacer.ts';
import { endPoll, sitemapReader } from './poll-end.ts';
import type { PageRenderer } from './rendering.ts';
import type { RobotsGate } from './robots-gate.ts';
import { requestFor } from './row-request.ts';
import type { SettingsCache } from './settings-cache.ts';
import { Spider } from './spider.ts';
import { Unsettled } from './unsettled.ts';

/** What a run needs of its fetcher. */
export type RunDeps = {
  db: Queryable;
  client: HttpClient;
  /** For leases of rows that need a browser; null in all others. */
  renderer: PageRenderer | null;
  robots: RobotsGate;
  settings: SettingsCache;
  sites: SiteCache;
  switches: SwitchReader;
  multipliers: MultiplierReader;
  outage: OutageWatch;
  images: ImageStore;
  executions: ExecutionWatch;
  /** Whether a sink takes responses, and the room for those that are not settled yet. */
  responses: ResponseReader;
  recordingRoom: RecordingRoom;
  owner: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  options: RunOptions;
};

export type RunOptions = {
  defaultDelayMs: number;
  maxTries: number;
  minWords: number;
  keepHtml: 'none' | 'compressed' | 'archive';
  sitemapMaxAgeMs: number;
  maxBodyBytes: number;
  maxImageBytes: number;
  images: ImageSettings;
  /** 0: no limit. */
  maxPagesPerRun: number;
  refresh: Omit<RefreshOptions, 'adaptive'>;
  cooldowns: Cooldowns;
};

// Time for other domains to fail too, before a failure is held against this one.
const outageDoubtMs = 1500;
// A domain that answered well within this time does not refuse us when it refuses an image.
const imageDoubtMs = 86_400_000;

/** Where a row's fetch led, what it came to, and what was submitted on its account while it was read. */
type Reached = { arrival: Exclude<Arrival, { end: 'handed_back' }>; end: RowEnd; totals: FoundTotals };

/** Works through one leased domain: fetch, conclude, submit what was found, settle; alone and in order. */
export class DomainRun {
  readonly lease: Lease;
  readonly #deps: RunDeps;
  readonly #pacer: Pacer;
  readonly #stop = new AbortController();
  #stopsAt: number;
  #lost = false;
  #draining = false;
  readonly #unsettled: Unsettled;
  readonly #lessons: DomainLessons;
  readonly #spider: Spider;
  #records = false;
  #switches: Switches | null = null;

  constructor(deps: RunDeps, lease: Lease, stopsAt: number) {
    this.#deps = deps;
    this.lease = lease;
    this.#stopsAt = stopsAt;
    this.#pacer = new Pacer(deps.clock, lease.delayMs);
    this.#unsettled = new Unsettled(deps, lease, this.#pacer);
    this.#spider = new Spider(deps, lease);
    this.#lessons = new DomainLessons(lease, {
      clock: deps.clock,
      log: deps.log,
      cooldowns: deps.options.cooldowns,
    });
  }

  /** A renewal moved the time at which this worker must stop by itself. */
  extend(stopsAt: number): void {
    this.#stopsAt = stopsAt;
  }

  /** Somebody else has the domain now: stop at once, change nothing. */
  lose(): void {
    this.#lost = true;
    this.#spider.lose();
    this.#stop.abort();
  }

  /** Finish the request under way, hand back the rest. */
  drain(): void {
    this.#draining = true;
  }

  /** Give up the request under way too. */
  abort(): void {
    this.#draining = true;
    this.#stop.abort();
  }

  /** Runs the whole batch and ends the lease. */
  async run(): Promise<void> {
    try {
      await this.#run();
    } finally {
      this.#unsettled.recordings.release();
    }
  }

  async #run(): Promise<void> {
    try {
      this.#switches = await this.#deps.switches.current();
      await this.#deps.settings.prepare(this.lease.urls);
      if (this.lease.trial === null) await this.#runBatch();
      else await this.#runTrial(this.lease.urls[0]!, this.lease.trial);
    } catch (error) {
      // Something nobody foresaw. What is done is settled, the lease is left to expire: from the second time on the
      // batch is one URL, and the one that does it three times is given up as crash_loop.
      if (!this.#lost) await this.#settle(false);
      throw error;
    }
    if (!this.#lost || this.#unsettled.requests.length > 0) await this.#settle(true);
  }

  async #runBatch(): Promise<void> {
    let waiting = 0;
    let retryMs = 0;
    for (const row of this.lease.urls) {
      if (!this.#mayStart()) return;
      const { goesOn, robotsRetryMs } = await this.#runRow(row);
      if (robotsRetryMs !== null) {
        waiting += 1;
        retryMs = Math.max(retryMs, robotsRetryMs);
      }
      if (!goesOn) return;
      // The last row's end is settled with the lease's.
      if (row !== this.lease.urls.at(-1) && this.#unsettled.isDue()) await this.#settle(false);
    }
    // Every row waits for a robots.txt that cannot be read: the others of the domain would only be handed round.
    if (waiting === this.lease.urls.length) this.#lessons.holdForRobots(retryMs);
  }

  /** One look at a domain that rests. Only success counts; anything else leaves row, channel and domain as they are. */
  async #runTrial(row: LeasedUrl, trial: 'channel' | 'robots'): Promise<void> {
    if (trial === 'robots') {
      this.#records = await this.#deps.responses.areWanted();
      const exchange = this.#exchange(row);
      const gate = await this.#deps.robots.recheck(this.lease, row.url, (url) =>
        requestRobots(exchange, url),
      );
      if (gate.answer === 'allowed' || (gate.answer === 'blocked' && !gate.everywhere))
        this.#lessons.passTrial();
      return;
    }
    if ((await this.#endUnpolled(row)) !== null) return;
    const reached = await this.#reach(row);
    if (reached === null || reached.end.domain.signal !== 'good') return;
    this.#lessons.passTrial();
    this.#lessons.learn(reached.end.domain);
    await this.#keep(row, reached);
  }

  #mayStart(): boolean {
    return (
      !this.#lost &&
      !this.#draining &&
      !this.#stop.signal.aborted &&
      this.#deps.clock.monotonic() < this.#stopsAt
    );
  }

  /** Answers whether the batch goes on, and when robots.txt may be asked again if that is what the row waits for. */
  async #runRow(leased: LeasedUrl): Promise<{ goesOn: boolean; robotsRetryMs: number | null }> {
    const stop = { goesOn: false, robotsRetryMs: null };
    const { metrics, settings, executions } = this.#deps;
    // A batch may take longer than a change of its source may wait.
    await this.#retried(() => settings.prepare([leased]));
    const execution =
      leased.executionId === null ? null : await this.#retried(() => executions.current(leased));
    // Handed back as it is: what a run leaves behind is swept by its scheduler within a moment.
    if (execution !== null && (execution.stands === 'stopped' || executions.isUsed(execution)))
      return { goesOn: true, robotsRetryMs: null };
    // A run that is over has let go of it.
    const row = execution?.stands === 'over' ? { ...leased, executionId: null } : leased;
    const source = settings.sourceOf(row);
    const unrendered = concludeUnrendered(row, source, this.#deps.renderer !== null);
    if (unrendered !== null) {
      this.#unsettled.keep(unrendered.items);
      return { goesOn: true, robotsRetryMs: null };
    }
    // Handed back as it is; the sweep of disabled sources holds it.
    if (row.kind !== 'channel' && source?.enabled === false) return { goesOn: true, robotsRetryMs: null };
    if (row.sourceId !== null && source === null) {
      this.#unsettled.keep(concludeOrphan(row).items);
      return { goesOn: true, robotsRetryMs: null };
    }
    const rules = await this.#retried(() => this.#spider.open(row, sourceOfRun(source, execution)));
    const unfetched =
      this.#spider.endUnasked(row, rules) ??
      concludeUnfetchedImage(row, this.#context(row).settings, this.#deps.images.restMs);
    if (unfetched !== null) {
      this.#unsettled.keep(unfetched.items);
      return { goesOn: true, robotsRetryMs: null };
    }
    let lateSeconds: number | null = null;
    if (row.kind === 'channel') {
      const unpolled = await this.#endUnpolled(row);
      if (unpolled !== null) {
        this.#unsettled.keep(unpolled.items);
        return { goesOn: true, robotsRetryMs: null };
      }
      lateSeconds = Math.max(0, (this.#deps.clock.now() - row.dueAt.getTime()) / 1000);
      metrics.pollLateness.observe(lateSeconds);
    }
    const reached = await this.#reach(row);
    if (reached === null) return stop;
    const { arrival, end } = reached;
    executions.note(row, arrival.end === 'answered' && arrival.result.outcome !== 'failed');
    const facts = end.items[0]?.channel;
    if (facts !== undefined && lateSeconds !== null) facts.lateSeconds = lateSeconds;
    if (
      arrival.end === 'gate' &&
      arrival.gate.answer === 'blocked' &&
      arrival.gate.everywhere &&
      row.kind !== 'probe'
    ) {
      // The rows wait for the day robots.txt changes; given up one by one they would have to be found again.
      this.#lessons.deny();
      return stop;
    }
    if (end.domain.signal === 'network' && (await this.#isOutage(row))) return stop;
    await this.#keep(row, reached);
    const goesOn = this.#lessons.learn(this.#tellsOfDomain(row, end) ? end.domain : { signal: 'neutral' });
    this.#pacer.setDelay(this.#lessons.delayMs);
    const gate = arrival.end === 'gate' && arrival.gate.answer === 'unavailable' ? arrival.gate : null;
    return { goesOn, robotsRetryMs: gate === null || gate.unreached ? null : gate.retryMs };
  }

  /** A feed's own 401 or 403 says nothing about a domain that has answered well since the feed began to fail. */
  #tellsOfDomain(row: LeasedUrl, end: RowEnd): boolean {
    if (end.domain.signal !== 'refused') return true;
    // Many sites refuse images to all but their own pages; that is no reason to leave the pages alone.
    if (row.kind === 'image') return this.lease.goodAgeMs === null || this.lease.goodAgeMs > imageDoubtMs;
    if (row.kind !== 'channel') return true;
    const failingForMs = this.#deps.settings.channelOf(row)?.failingForMs ?? null;
    const { goodAgeMs } = this.lease;
    return failingForMs === null || goodAgeMs === null || goodAgeMs > failingForMs;
  }

  /** Whether the failure is our own network's: then it counts against no URL and no domain. */
  async #isOutage(row: LeasedUrl): Promise<boolean> {
    const { clock, outage } = this.#deps;
    if (outage.isSilent && !outage.isSuspected) await clock.wait(outageDoubtMs, this.#stop.signal);
    if (!outage.isSuspected) return false;
    for (const request of this.#unsettled.requests)
      if (request.status === null && (request.hash === null || request.hash.equals(row.hash)))
        request.outcome = 'outage';
    return true;
  }

  /** The end of a channel's row that is not polled now; null: it is. */
  async #endUnpolled(row: LeasedUrl): Promise<RowEnd | null> {
    const { settings, db } = this.#deps;
    const moved = settings.movedFrom(row);
    // Who moved it may have died before its new row was there.
    if (moved !== null) await this.#retried(() => submitPoll(db, moved));
    return concludeUnpolled(row, {
      polling: this.#switches!.polling,
      archives: this.#switches!.archives,
      channel: settings.channelOf(row),
      moved,
      source: settings.sourceOf(row),
    });
  }

  /** Keeps what a row came to, to be settled: first what it found, then what a poll means beyond its row. */
  async #keep(row: LeasedUrl, { end, totals }: Reached): Promise<void> {
    const { metrics, settings } = this.#deps;
    await this.#submitFound(row, end.found, totals);
    const { spider, pagination: pagers } = this.#switches!;
    if (spider)
      await this.#spider.follow(row, this.#context(row).settings.source, end, {
        pagers,
        submit: (items) => this.#submitFound(row, items, totals),
      });
    noteFound(end.items[0]!, totals);
    let { items } = end;
    const channel = settings.channelOf(row);
    if (end.poll !== undefined && channel !== null) {
      const adaptive =
        this.#switches!.adaptive_intervals && settings.sourceOf(row)?.settings.fixedInterval !== true;
      // A whole archive says nothing about how often there is news.
      const newUndated = isArchiveRead(channel) ? 0 : totals.newUndated;
      const facts = { items, newUndated, adaptive };
      items = await this.#retried(() => endPoll(this.#deps, channel, end.poll!, facts));
    }
    this.#unsettled.keep(items, end.document);
    for (const item of items) metrics.settled.inc({ status: item.status });
  }

  /** Fetches a row and says what it came to. null: the row goes back because the lease or the process ends. */
  async #reach(row: LeasedUrl): Promise<Reached | null> {
    const { settings, options } = this.#deps;
    const channel = settings.channelOf(row);
    this.#records = await this.#retried(() => this.#deps.responses.areWanted());
    this.#lessons.noteSourceDelay(settings.sourceOf(row)?.rateLimitMs ?? null);
    this.#pacer.setDelay(this.#lessons.delayMs);
    const request = requestFor(row, channel?.kind ?? null, options);
    const totals = nothingFound();
    const reader =
      channel?.kind === 'sitemap'
        ? sitemapReader(
            this.#deps,
            { lease: this.lease, row, channel, settings: this.#context(row).settings },
            async (links) => {
              await this.#submitFound(row, links, totals);
            },
          )
        : undefined;
    const arrival = await fetchRow(this.#exchange(row), row, {
      ...request,
      ...(reader === undefined ? {} : { read: reader }),
    });
    if (arrival.end === 'handed_back') return null;
    const end = await this.#storeImage(row, await this.#conclude(row, arrival));
    // The log says how it ended, not only that something was answered.
    const rejection = end.items.at(-1)?.validationStatus === 'rejected' ? end.items.at(-1) : undefined;
    if (rejection?.rejectionReason != null)
      this.#unsettled.requests.at(-1)!.outcome = rejection.rejectionReason;
    return { arrival, end, totals };
  }

  #context(row: LeasedUrl): RowContext {
    const { settings, options, clock } = this.#deps;
    const channel = settings.channelOf(row);
    const { learned } = this.#spider;
    return {
      settings: {
        source: sourceOfRun(settings.sourceOf(row), this.#deps.executions.known(row)),
        channel,
        isArchive: channel !== null && isArchiveRead(channel),
        minWords: options.minWords,
        keepHtml: options.keepHtml,
        sitemapMaxAgeMs: options.sitemapMaxAgeMs,
        nowMs: clock.now(),
        images: options.images,
        ...(learned === undefined ? {} : { learned }),
      },
      maxTries: options.maxTries,
      probing: this.#lessons.isProbing,
      rendering:
        this.#deps.renderer !== null
          ? 'tried'
          : settings.sourceOf(row)?.settings.render === 'never'
            ? 'never'
            : 'possible',
      refresh: this.#switches!.refresh
        ? { ...options.refresh, adaptive: this.#switches!.adaptive_intervals }
        : null,
    };
  }

  async #conclude(row: LeasedUrl, arrival: Exclude<Arrival, { end: 'handed_back' }>): Promise<RowEnd> {
    const { log } = this.#deps;
    const context = this.#context(row);
    try {
      return await concludeRow(row, arrival, context);
    } catch (error) {
      if (arrival.end !== 'answered') throw error;
      // A reader of ours met something nobody foresaw. The URL loses a try like after any bad answer; left as it is it
      // would be leased again at once, and for ever.
      log.error({ error, url: row.url, kind: row.kind }, 'a response could not be read');
      const { timings } = arrival.result;
      const result = {
        outcome: 'failed',
        kind: 'bad_response',
        detail: `cannot be read: ${messageOf(error)}`,
        timings,
      } as const;
      return concludeRow(row, { ...arrival, result }, context);
    }
  }

  /** Stored first, settled second: a crash in between only stores the same again. */
  async #storeImage(row: LeasedUrl, end: RowEnd): Promise<RowEnd> {
    const { images, metrics } = this.#deps;
    const { image } = end;
    if (image === undefined) return end;
    const put = await this.#retried(() => images.put(image));
    metrics.images.inc({ outcome: put.outcome });
    return put.outcome === 'stored'
      ? end
      : { ...concludeUnstored(row, put.detail, images.restMs), domain: end.domain };
  }

  #exchange(row: LeasedUrl): ExchangeDeps {
    const { client, renderer, robots, settings } = this.#deps;
    return {
      client,
      renderer,
      robots,
      pacer: this.#pacer,
      lease: this.lease,
      signal: this.#stop.signal,
      mayStart: () => this.#mayStart(),
      onRequest: (request) => this.#unsettled.note(request),
      onReach: (reach) => this.#deps.outage.note(this.lease.domainKey, reach),
      onCrawlDelay: (delayMs: number | null) => {
        this.#lessons.noteCrawlDelay(delayMs);
        this.#pacer.setDelay(this.#lessons.delayMs);
      },
      proxies: settings.sourceOf(row)?.settings.proxies,
      ignoresDisallow: settings.sourceOf(row)?.settings.respectRobots === false,
      record: (url, sent) => (this.#records ? this.#unsettled.recordings.begin(url, sent) : undefined),
    };
  }

  /** Found URLs first, the settle second: a crash in between only submits them again. Answers which were new. */
  async #submitFound(
    row: LeasedUrl,
    links: readonly SubmitItem[],
    totals: FoundTotals,
  ): Promise<SubmitResult[]> {
    const { settings, db } = this.#deps;
    const { spider, archives } = this.#switches!;
    const run = crawlOf(this.#deps.executions.known(row));
    const isWanted = ({ origin }: SubmitItem): boolean =>
      origin === 'spider' ? spider : origin !== 'archive' || archives;
    const wanted = links.filter((link) => link.kind !== 'image' && isWanted(link));
    const found = run === null ? wanted : wanted.map((link) => asOfRun(link, run));
    const images = links.filter((link) => link.kind === 'image');
    const lastPoll = settings.channelOf(row)?.lastSuccessAt ?? null;
    const results = await this.#retried(() =>
      submitFound(this.#deps, found, totals, lastPoll?.getTime() ?? null),
    );
    // What articles link to is seen only when they are new: the set would change by itself.
    if (run !== null && row.kind === 'listing')
      await this.#retried(() => saveFound(db, run.id, articlesOf(found, results)));
    if (row.kind === 'channel')
      await this.#retried(() => this.#spider.learnNamed(settings.sourceOf(row), results));
    if (images.length === 0) return results;
    // Not counted as items: those are articles.
    await this.#retried(() => submitFound(this.#deps, images, nothingFound(), null));
    await this.#retried(() => sightSubmitted(db, images, row.executionId));
    return results;
  }

  async #settle(final: boolean): Promise<void> {
    await this.#retried(() => this.#spider.save());
    const { outcome, items } = await this.#unsettled.settle({
      final,
      learnt: this.#lessons.summary(this.#pacer.lastAnswerAt !== null),
      budget:
        this.#switches === null ? null : decideBudget(this.#switches, this.#deps.options.maxPagesPerRun),
      retried: (call) => this.#retried(call),
    });
    if (outcome === 'stale') this.lose();
    for (const item of items) if (item.kind === 'channel') this.#deps.settings.forget(item);
  }

  /** Database trouble is waited out until the lease runs out; the fence makes repeating safe. */
  async #retried<T>(call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const patient = isConnectionLost(error) && this.#deps.clock.monotonic() < this.#stopsAt + 10_000;
        if (!patient) throw error;
        await this.#deps.clock.wait(Math.min(5000, 200 * 2 ** attempt));
      }
    }
  }
}
