import { isConnectionLost, type Queryable } from '../db/index.ts';
import type { RefreshOptions } from '../domains/index.ts';
import { messageOf } from '../errors/index.ts';
import {
  type Lease,
  type LeasedUrl,
  type LoggedRequest,
  type SettleDocument,
  type SettleItem,
  type SubmitItem,
  settle,
  submit,
} from '../frontier/index.ts';
import { decideBudget, type Switches, type SwitchReader } from '../switches/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { HttpClient } from './client/index.ts';
import { concludeRow, ended, type RowContext, type RowEnd } from './conclude/index.ts';
import { type Arrival, type ExchangeDeps, fetchRow, requestRobots } from './exchange.ts';
import { type Cooldowns, DomainLessons } from './lessons.ts';
import type { OutageWatch } from './outage.ts';
import { Pacer } from './pacer.ts';
import type { RobotsGate } from './robots-gate.ts';
import { requestFor } from './row-request.ts';
import type { SettingsCache } from './settings-cache.ts';

/** What a run needs of its fetcher. */
export type RunDeps = {
  db: Queryable;
  client: HttpClient;
  robots: RobotsGate;
  settings: SettingsCache;
  switches: SwitchReader;
  outage: OutageWatch;
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
  keepHtml: 'none' | 'compressed';
  sitemapMaxAgeMs: number;
  maxBodyBytes: number;
  /** 0: no limit. */
  maxPagesPerRun: number;
  refresh: Omit<RefreshOptions, 'adaptive'>;
  cooldowns: Cooldowns;
};

// Settled at least this often, so that a crash repeats little and screens stay live.
const settleEveryMs = 2000;
const settleEveryItems = 25;
const longAgoMs = 3_600_000;
// Time for other domains to fail too, before a failure is held against this one.
const outageDoubtMs = 1500;
const pollingOffMs = 300_000;

/** Works through one leased domain: fetch, conclude, submit what was found, settle; alone and in order. */
export class DomainRun {
  readonly lease: Lease;
  readonly #deps: RunDeps;
  readonly #pacer: Pacer;
  readonly #stop = new AbortController();
  #stopsAt: number;
  #lost = false;
  #draining = false;
  #items: SettleItem[] = [];
  #documents: SettleDocument[] = [];
  #requests: LoggedRequest[] = [];
  #lastSettleAt: number;
  readonly #lessons: DomainLessons;
  #switches: Switches | null = null;

  constructor(deps: RunDeps, lease: Lease, stopsAt: number) {
    this.#deps = deps;
    this.lease = lease;
    this.#stopsAt = stopsAt;
    this.#pacer = new Pacer(deps.clock, lease.delayMs);
    this.#lessons = new DomainLessons(lease, {
      clock: deps.clock,
      log: deps.log,
      cooldowns: deps.options.cooldowns,
    });
    this.#lastSettleAt = deps.clock.monotonic();
  }

  /** A renewal moved the time at which this worker must stop by itself. */
  extend(stopsAt: number): void {
    this.#stopsAt = stopsAt;
  }

  /** Somebody else has the domain now: stop at once, change nothing. */
  lose(): void {
    this.#lost = true;
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
    if (!this.#lost || this.#requests.length > 0) await this.#settle(true);
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
      if (this.#dueForSettle()) await this.#settle(false);
    }
    // Every row waits for a robots.txt that cannot be read: the others of the domain would only be handed round.
    if (waiting === this.lease.urls.length) this.#lessons.holdForRobots(retryMs);
  }

  /** One look at a domain that rests. Only success counts; anything else leaves row, channel and domain as they are. */
  async #runTrial(row: LeasedUrl, trial: 'channel' | 'robots'): Promise<void> {
    if (trial === 'robots') {
      const exchange = this.#exchange(row);
      const gate = await this.#deps.robots.recheck(this.lease, row.url, (url) =>
        requestRobots(exchange, url),
      );
      if (gate.answer === 'allowed' || (gate.answer === 'blocked' && !gate.everywhere))
        this.#lessons.passTrial();
      return;
    }
    if (!this.#switches!.polling) return;
    const reached = await this.#reach(row);
    if (reached === null || reached.end.domain.signal !== 'good') return;
    this.#lessons.passTrial();
    this.#lessons.learn(reached.end.domain);
    await this.#keep(row, reached.end);
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
  async #runRow(row: LeasedUrl): Promise<{ goesOn: boolean; robotsRetryMs: number | null }> {
    const stop = { goesOn: false, robotsRetryMs: null };
    const { metrics } = this.#deps;
    if (row.kind === 'channel') {
      metrics.pollLateness.observe(Math.max(0, (Date.now() - row.dueAt.getTime()) / 1000));
    }
    if (row.kind === 'channel' && !this.#switches!.polling) {
      this.#items.push(...ended(row, pollingIsOff(row)).items);
      return { goesOn: true, robotsRetryMs: null };
    }
    const reached = await this.#reach(row);
    if (reached === null) return stop;
    const { arrival, end } = reached;
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
    if (!(await this.#keep(row, end))) return stop;
    const goesOn = this.#lessons.learn(this.#tellsOfDomain(row, end) ? end.domain : { signal: 'neutral' });
    this.#pacer.setDelay(this.#lessons.delayMs);
    const gate = arrival.end === 'gate' && arrival.gate.answer === 'unavailable' ? arrival.gate : null;
    return { goesOn, robotsRetryMs: gate === null || gate.unreached ? null : gate.retryMs };
  }

  /** A feed's own 401 or 403 says nothing about a domain that has answered well since the feed began to fail. */
  #tellsOfDomain(row: LeasedUrl, end: RowEnd): boolean {
    if (row.kind !== 'channel' || end.domain.signal !== 'refused') return true;
    const failingForMs = this.#deps.settings.channelOf(row)?.failingForMs ?? null;
    const { goodAgeMs } = this.lease;
    return failingForMs === null || goodAgeMs === null || goodAgeMs > failingForMs;
  }

  /** Whether the failure is our own network's: then it counts against no URL and no domain. */
  async #isOutage(row: LeasedUrl): Promise<boolean> {
    const { clock, outage } = this.#deps;
    if (outage.isSilent && !outage.isSuspected) await clock.wait(outageDoubtMs, this.#stop.signal);
    if (!outage.isSuspected) return false;
    for (const request of this.#requests)
      if (request.status === null && (request.hash === null || request.hash.equals(row.hash)))
        request.outcome = 'outage';
    return true;
  }

  /** Keeps what a row came to, to be settled; false when the lease or the process ends on the way. */
  async #keep(row: LeasedUrl, end: RowEnd): Promise<boolean> {
    const { metrics } = this.#deps;
    await this.#submitFound(end.found, end.items[0]!);
    for (const child of end.children) {
      // A file of a sitemap index is part of this poll: same lease, same pace, no validators of its own.
      const part = await this.#reach({ ...row, url: child, fetchCount: 0, etag: null, lastModified: null });
      if (part === null) return false;
      await this.#submitFound(part.end.found, end.items[0]!);
    }
    this.#items.push(...end.items);
    if (end.document !== null) this.#documents.push(end.document);
    for (const item of end.items) metrics.settled.inc({ status: item.status });
    return true;
  }

  /** Fetches a row and says what it came to. null: the row goes back because the lease or the process ends. */
  async #reach(row: LeasedUrl): Promise<{ arrival: Arrival; end: RowEnd } | null> {
    const { settings, options } = this.#deps;
    const channel = settings.channelOf(row);
    this.#lessons.noteSourceDelay(settings.sourceOf(row)?.rateLimitMs ?? null);
    this.#pacer.setDelay(this.#lessons.delayMs);
    const request = requestFor(row, channel?.kind ?? null, options);
    const arrival = await fetchRow(this.#exchange(row), row, request);
    if (arrival.end === 'handed_back') return null;
    const end = await this.#conclude(row, arrival);
    // The log says how it ended, not only that something was answered.
    const rejection = end.items.at(-1)?.validationStatus === 'rejected' ? end.items.at(-1) : undefined;
    if (rejection?.rejectionReason != null) this.#requests.at(-1)!.outcome = rejection.rejectionReason;
    return { arrival, end };
  }

  async #conclude(row: LeasedUrl, arrival: Exclude<Arrival, { end: 'handed_back' }>): Promise<RowEnd> {
    const { settings, options, clock, log } = this.#deps;
    const channel = settings.channelOf(row);
    const context: RowContext = {
      settings: {
        source: settings.sourceOf(row),
        channel,
        minWords: options.minWords,
        keepHtml: options.keepHtml,
        sitemapMaxAgeMs: options.sitemapMaxAgeMs,
        nowMs: clock.now(),
      },
      maxTries: options.maxTries,
      probing: this.#lessons.isProbing,
      refresh: this.#switches!.refresh
        ? { ...options.refresh, adaptive: this.#switches!.adaptive_intervals }
        : null,
    };
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

  #exchange(row: LeasedUrl): ExchangeDeps {
    const { client, robots, settings } = this.#deps;
    return {
      client,
      robots,
      pacer: this.#pacer,
      lease: this.lease,
      signal: this.#stop.signal,
      mayStart: () => this.#mayStart(),
      onRequest: (request: LoggedRequest) => this.#noteRequest(request),
      onReach: (reach) => this.#deps.outage.note(this.lease.domainKey, reach),
      onCrawlDelay: (delayMs: number | null) => {
        this.#lessons.noteCrawlDelay(delayMs);
        this.#pacer.setDelay(this.#lessons.delayMs);
      },
      proxies: settings.sourceOf(row)?.settings.proxies,
      ignoresDisallow: settings.sourceOf(row)?.settings.respectRobots === false,
    };
  }

  #noteRequest(request: LoggedRequest): void {
    const { metrics } = this.#deps;
    this.#requests.push(request);
    metrics.requests.inc({ outcome: request.outcome });
    metrics.responseBytes.inc(request.bytes);
    if (request.headersMs !== null) metrics.requestSeconds.observe(request.headersMs / 1000);
  }

  /** Found URLs first, the settle second: a crash in between only submits them again. */
  async #submitFound(links: readonly SubmitItem[], item: SettleItem): Promise<void> {
    const found = this.#switches!.spider ? links : links.filter((link) => link.origin !== 'spider');
    if (found.length === 0) return;
    const results = await this.#retried(() => submit(this.#deps.db, found));
    const counts = { inserted: 0, raised: 0, refreshed: 0, duplicate: 0, rejected: 0 };
    for (const { answer } of results) {
      const word = (answer.startsWith('rejected') ? 'rejected' : answer) as keyof typeof counts;
      this.#deps.metrics.submitted.inc({ answer: word });
      counts[word] += 1;
    }
    const before = item.found ?? { seen: 0, duplicate: 0, rejected: 0 };
    item.found = {
      seen: before.seen + results.length,
      duplicate: before.duplicate + counts.duplicate,
      rejected: before.rejected + counts.rejected,
    };
    if (item.channel !== undefined) item.channel.newItems += counts.inserted;
  }

  #dueForSettle(): boolean {
    return (
      this.#items.length >= settleEveryItems ||
      (this.#items.length > 0 && this.#deps.clock.monotonic() - this.#lastSettleAt >= settleEveryMs)
    );
  }

  async #settle(final: boolean): Promise<void> {
    const { db, owner, clock, metrics, log, options } = this.#deps;
    const now = clock.monotonic();
    const learnt = this.#lessons.summary(this.#pacer.lastAnswerAt !== null);
    const result = await this.#retried(() =>
      settle(db, this.lease, {
        owner,
        final,
        items: this.#items,
        documents: this.#documents,
        requests: this.#requests,
        monotonicMs: clock.monotonic(),
        // Nothing was requested: the gap before this lease has passed already.
        lastAnswerAt: this.#pacer.lastAnswerAt ?? now - longAgoMs,
        defaultDelayMs: options.defaultDelayMs,
        ...(learnt === undefined ? {} : { learnt }),
        budget: this.#switches === null ? null : decideBudget(this.#switches, options.maxPagesPerRun),
      }),
    );
    this.#items = [];
    this.#documents = [];
    this.#requests = [];
    this.#lastSettleAt = clock.monotonic();
    if (result.outcome === 'stale') {
      metrics.staleSettles.inc();
      this.#lost = true;
      this.#stop.abort();
      log.warn(
        { domainKey: this.lease.domainKey.toString(), epoch: this.lease.epoch.toString() },
        'lease was lost before its work was settled; nothing was changed',
      );
    } else {
      metrics.documents.inc({ change: 'new' }, result.documents);
      metrics.documents.inc({ change: 'changed' }, result.versions);
      metrics.documents.inc({ change: 'duplicate' }, result.duplicates);
    }
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

const pollingIsOff = (row: LeasedUrl) => ({
  status: 'pending' as const,
  dueInMs: pollingOffMs * (0.8 + Math.random() * 0.4),
  tries: row.tries,
  errorCode: 'polling_off',
  errorText: 'polling is switched off',
});
