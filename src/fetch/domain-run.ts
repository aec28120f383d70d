import { isConnectionLost, type Queryable } from '../db/index.ts';
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
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { HttpClient } from './client/index.ts';
import { concludeRow, type RowContext, type RowEnd } from './conclude/index.ts';
import { fetchRow } from './exchange.ts';
import { type DomainSignal, decidePenalty } from './outcome.ts';
import { Pacer } from './pacer.ts';
import type { RobotsGate } from './robots-gate.ts';
import type { SettingsCache } from './settings-cache.ts';

/** What a run needs of its fetcher. */
export type RunDeps = {
  db: Queryable;
  client: HttpClient;
  robots: RobotsGate;
  settings: SettingsCache;
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
};

// Settled at least this often, so that a crash repeats little and screens stay live.
const settleEveryMs = 2000;
const settleEveryItems = 25;
const feedBodyBytes = 16_000_000;
const sitemapBodyBytes = 50_000_000;
// After so many network failures in a row the rest of the batch would only wait for the same time-outs.
const networkFailuresToStop = 3;
const longAgoMs = 3_600_000;

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
  #penalty: { penaltyMs: number; goodRun: number };
  #crawlDelayMs: number | null = null;
  #hold: { ms: number; reason: 'retry_after'; from: number } | null = null;
  #networkFailures = 0;

  constructor(deps: RunDeps, lease: Lease, stopsAt: number) {
    this.#deps = deps;
    this.lease = lease;
    this.#stopsAt = stopsAt;
    this.#pacer = new Pacer(deps.clock, lease.delayMs);
    this.#penalty = { penaltyMs: lease.penaltyMs, goodRun: lease.goodRun };
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
      await this.#deps.settings.prepare(this.lease.urls);
      for (const row of this.lease.urls) {
        if (!this.#mayStart()) break;
        if (!(await this.#runRow(row))) break;
        if (this.#dueForSettle()) await this.#settle(false);
      }
    } catch (error) {
      // Something nobody foresaw. What is done is settled, the lease is left to expire: from the second time on the
      // batch is one URL, and the one that does it three times is given up as crash_loop.
      if (!this.#lost) await this.#settle(false);
      throw error;
    }
    if (!this.#lost || this.#requests.length > 0) await this.#settle(true);
  }

  #mayStart(): boolean {
    return (
      !this.#lost &&
      !this.#draining &&
      !this.#stop.signal.aborted &&
      this.#deps.clock.monotonic() < this.#stopsAt
    );
  }

  /** Answers whether the batch goes on. */
  async #runRow(row: LeasedUrl): Promise<boolean> {
    const { metrics } = this.#deps;
    if (row.kind === 'channel') {
      metrics.pollLateness.observe(Math.max(0, (Date.now() - row.dueAt.getTime()) / 1000));
    }
    const end = await this.#fetchAndConclude(row);
    if (end === null) return false;
    await this.#submitFound(end.found, end.items[0]!);
    for (const child of end.children) {
      // A file of a sitemap index is part of this poll: same lease, same pace, no validators of its own.
      const part = await this.#fetchAndConclude({
        ...row,
        url: child,
        fetchCount: 0,
        etag: null,
        lastModified: null,
      });
      if (part === null) return false;
      await this.#submitFound(part.found, end.items[0]!);
    }
    this.#items.push(...end.items);
    if (end.document !== null) this.#documents.push(end.document);
    for (const item of end.items) metrics.settled.inc({ status: item.status });
    return this.#learn(end.domain);
  }

  /** null: the row goes back because the lease or the process ends. */
  async #fetchAndConclude(row: LeasedUrl): Promise<RowEnd | null> {
    const { settings, options, clock, log } = this.#deps;
    const channel = settings.channelOf(row);
    const arrival = await fetchRow(this.#exchange(), row, requestFor(row, channel?.kind ?? null, options));
    if (arrival.end === 'handed_back') return null;
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

  #exchange() {
    const { client, robots } = this.#deps;
    return {
      client,
      robots,
      pacer: this.#pacer,
      lease: this.lease,
      signal: this.#stop.signal,
      mayStart: () => this.#mayStart(),
      onRequest: (request: LoggedRequest) => this.#noteRequest(request),
      onCrawlDelay: (delayMs: number | null) => this.#noteCrawlDelay(delayMs),
    };
  }

  #noteRequest(request: LoggedRequest): void {
    const { metrics } = this.#deps;
    this.#requests.push(request);
    metrics.requests.inc({ outcome: request.outcome });
    metrics.responseBytes.inc(request.bytes);
    if (request.headersMs !== null) metrics.requestSeconds.observe(request.headersMs / 1000);
  }

  #noteCrawlDelay(delayMs: number | null): void {
    this.#crawlDelayMs = delayMs;
    const base = this.lease.delayMs - this.lease.penaltyMs;
    this.#pacer.setDelay(Math.max(base, delayMs ?? 0) + this.#penalty.penaltyMs);
  }

  /** Found URLs first, the settle second: a crash in between only submits them again. */
  async #submitFound(found: readonly SubmitItem[], item: SettleItem): Promise<void> {
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

  /** Takes the answer's meaning for the domain to heart; answers whether the batch goes on. */
  #learn(domain: DomainSignal): boolean {
    this.#penalty = decidePenalty(
      { ...this.#penalty, delayMs: this.lease.delayMs - this.lease.penaltyMs },
      domain.signal,
    );
    this.#noteCrawlDelay(this.#crawlDelayMs);
    this.#networkFailures = domain.signal === 'network' ? this.#networkFailures + 1 : 0;
    if (domain.signal === 'slow_down') {
      this.#hold = { ms: domain.holdMs, reason: 'retry_after', from: this.#deps.clock.monotonic() };
      return false;
    }
    return this.#networkFailures < networkFailuresToStop;
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
        hold:
          this.#hold === null
            ? null
            : { ms: Math.max(0, this.#hold.ms - (now - this.#hold.from)), reason: this.#hold.reason },
        penaltyMs: this.#penalty.penaltyMs,
        goodRun: this.#penalty.goodRun,
        robotsDelayMs: this.#crawlDelayMs ?? (this.#pacer.lastAnswerAt === null ? null : 0),
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

function requestFor(row: LeasedUrl, channelKind: string | null, options: RunOptions) {
  const conditional = row.fetchCount > 0;
  if (row.kind === 'channel') {
    return channelKind === 'sitemap'
      ? { conditional, maxBodyBytes: sitemapBodyBytes, exemptFromRatio: true, unwrapGzip: true }
      : { conditional, maxBodyBytes: feedBodyBytes };
  }
  if (row.kind === 'probe') return { conditional: false, maxBodyBytes: options.maxBodyBytes };
  return { conditional, accept: acceptsPages, maxBodyBytes: options.maxBodyBytes };
}

/** The content-type gate of pages: HTML and XHTML, or nothing said. Errors keep their type out of the decision. */
function acceptsPages(contentType: string | null, status: number): boolean {
  if (status < 200 || status >= 300 || contentType === null || contentType.trim() === '') return true;
  return /^\s*(text\/html|application\/xhtml\+xml|text\/xml|application\/xml|text\/plain)\b/i.test(
    contentType,
  );
}
