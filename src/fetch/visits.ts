import { isArchiveRead, submitPoll } from '../channels/index.ts';
import { messageOf } from '../errors/index.ts';
import type { Lease, LeasedUrl, SubmitItem, SubmitResult } from '../frontier/index.ts';
import { sightSubmitted } from '../images/index.ts';
import { saveFound } from '../jobs/index.ts';
import type { Switches } from '../switches/index.ts';
import type { RulesOf } from '../url/index.ts';
import { furtherPageOf } from './article-pages.ts';
import {
  concludeOrphan,
  concludeRow,
  concludeUnfetchedImage,
  concludeUnpolled,
  concludeUnrendered,
  concludeUnstored,
  type FurtherPages,
  type RowContext,
  type RowEnd,
} from './conclude/index.ts';
import { type Arrival, type ExchangeDeps, fetchRow, letGo, requestRobots } from './exchange.ts';
import { crawlOf, sourceOfRun } from './executions.ts';
import { articlesOf, asOfRun, type FoundTotals, noteFound, nothingFound, submitFound } from './found.ts';
import type { DomainLessons } from './lessons.ts';
import type { Pacer } from './pacer.ts';
import { endPoll, sitemapReader } from './poll-end.ts';
import { requestFor } from './row-request.ts';
import type { RunDeps } from './run-deps.ts';
import type { Spider } from './spider.ts';
import type { Unsettled } from './unsettled.ts';
/** Where a row's fetch led, what it came to, and what was submitted on its account while it was read. */
export type Reached = { arrival: Exclude<Arrival, { end: 'handed_back' }>; end: RowEnd; totals: FoundTotals };

/** What the visits of one lease share with its run. */
export type VisitPlace = {
  lease: Lease;
  pacer: Pacer;
  lessons: DomainLessons;
  spider: Spider;
  unsettled: Unsettled;
  switches: Switches;
  /** The rules of all domains that have some, as they were when the lease began. */
  rules: RulesOf;
  signal: AbortSignal;
  mayStart(): boolean;
  /** Waits database trouble out as long as the lease lasts. */
  retried<T>(call: () => Promise<T>): Promise<T>;
};

/** Asks for the rows of a lease one by one, and keeps what they came to until it is settled. */
export class Visits {
  readonly #deps: RunDeps;
  readonly #at: VisitPlace;
  #records = false;
  #isHandedBack = false;

  constructor(deps: RunDeps, at: VisitPlace) {
    this.#deps = deps;
    this.#at = at;
  }

  /** The end of a row that is not asked for; null: it is. */
  async endUnasked(row: LeasedUrl): Promise<RowEnd | 'handed_back' | null> {
    const { settings, renderer, images } = this.#deps;
    const { spider, retried } = this.#at;
    const source = settings.sourceOf(row);
    const unrendered = concludeUnrendered(row, source, renderer !== null);
    if (unrendered !== null) return unrendered;
    // Handed back as it is; the sweep of disabled sources holds it.
    if (row.kind !== 'channel' && source?.enabled === false) return 'handed_back';
    if (row.sourceId !== null && source === null) return concludeOrphan(row);
    if (row.kind === 'channel') return this.endUnpolled(row);
    const context = this.#context(row).settings;
    const rules = await retried(() => spider.open(row, context.source));
    return spider.endUnasked(row, rules) ?? concludeUnfetchedImage(row, context, images.restMs);
  }

  /** The end of a channel's row that is not polled now; null: it is. */
  async endUnpolled(row: LeasedUrl): Promise<RowEnd | null> {
    const { settings, db } = this.#deps;
    const moved = settings.movedFrom(row);
    // Who moved it may have died before its new row was there.
    if (moved !== null) await this.#at.retried(() => submitPoll(db, moved));
    return concludeUnpolled(row, {
      polling: this.#at.switches.polling,
      archives: this.#at.switches.archives,
      channel: settings.channelOf(row),
      moved,
      source: settings.sourceOf(row),
    });
  }

  /** Keeps what a row came to, to be settled: first what it found, then what a poll means beyond its row. */
  async keep(row: LeasedUrl, { arrival, end, totals }: Reached): Promise<void> {
    const { metrics, settings } = this.#deps;
    await this.#submitFound(row, end.found, totals);
    await this.#sightFound(row, arrival, end.found);
    const { spider, pagination: pagers } = this.#at.switches;
    if (spider)
      await this.#at.spider.follow(row, this.#context(row).settings.source, end, {
        pagers,
        submit: (items, guesses) => this.#submitFound(row, items, totals, guesses),
      });
    noteFound(end.items[0]!, totals);
    let { items } = end;
    const channel = settings.channelOf(row);
    for (const [reason, links] of Object.entries(end.poll?.refused ?? {}))
      metrics.refusedLinks.inc({ reason }, links);
    if (end.poll !== undefined && channel !== null) {
      const adaptive =
        this.#at.switches.adaptive_intervals && settings.sourceOf(row)?.settings.fixedInterval !== true;
      // A whole archive says nothing about how often there is news.
      const newUndated = isArchiveRead(channel) ? 0 : totals.newUndated;
      const facts = { items, newUndated, newItems: totals.inserted, adaptive };
      items = await this.#at.retried(() => endPoll(this.#deps, channel, end.poll!, facts));
    }
    this.#at.unsettled.keep(items, end.document);
    for (const item of items) metrics.settled.inc({ status: item.status });
  }

  /** Fetches a row and says what it came to. null: the row goes back because the lease or the process ends. */
  async reach(row: LeasedUrl): Promise<Reached | null> {
    const { settings, options } = this.#deps;
    const channel = settings.channelOf(row);
    this.#records = await this.#at.retried(() => this.#deps.responses.areWanted());
    this.#at.lessons.noteSourceDelay(settings.sourceOf(row)?.rateLimitMs ?? null);
    this.#at.pacer.setDelay(this.#at.lessons.delayMs);
    const request = requestFor(row, channel?.kind ?? null, options);
    const totals = nothingFound();
    const reader =
      channel?.kind === 'sitemap'
        ? sitemapReader(
            this.#deps,
            { lease: this.#at.lease, row, channel, settings: this.#context(row).settings },
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
    this.#isHandedBack = false;
    const concluded = await this.#conclude(row, arrival);
    letGo(arrival);
    // In the middle of an article: whoever has the row next reads it whole.
    if (this.#isHandedBack) return null;
    const end = await this.#storeImage(row, concluded);
    // The log says how it ended, not only that something was answered.
    const rejection = end.items.at(-1)?.validationStatus === 'rejected' ? end.items.at(-1) : undefined;
    if (rejection?.rejectionReason != null)
      this.#at.unsettled.requests.at(-1)!.outcome = rejection.rejectionReason;
    return { arrival, end, totals };
  }

  /** Reads robots.txt of a domain that rests for its sake; answers whether it lets us in again. */
  async mayReturn(row: LeasedUrl): Promise<boolean> {
    this.#records = await this.#deps.responses.areWanted();
    const exchange = this.#exchange(row);
    const gate = await this.#deps.robots.recheck(this.#at.lease, row.url, (...asked) =>
      requestRobots(exchange, ...asked),
    );
    return gate.answer === 'allowed' || (gate.answer === 'blocked' && !gate.everywhere);
  }

  #context(row: LeasedUrl): RowContext {
    const { settings, options, clock } = this.#deps;
    const channel = settings.channelOf(row);
    const { learned } = this.#at.spider;
    return {
      settings: {
        source: sourceOfRun(settings.sourceOf(row), this.#deps.executions.known(row)),
        channel,
        isArchive: channel !== null && isArchiveRead(channel),
        minWords: options.minWords,
        minBodyBytes: options.minBodyBytes,
        keepHtml: options.keepHtml,
        sitemapMaxAgeMs: options.sitemapMaxAgeMs,
        nowMs: clock.now(),
        images: options.images,
        ...(learned === undefined ? {} : { learned }),
      },
      maxTries: options.maxTries,
      probing: this.#at.lessons.isProbing,
      rendering:
        this.#deps.renderer !== null
          ? 'tried'
          : settings.sourceOf(row)?.settings.render === 'never'
            ? 'never'
            : 'possible',
      further: this.#further(row),
      // Also while refreshes are off: promotion leaves them alone then, and what has no time is never looked at again.
      refresh: {
        firstSeconds: options.refresh.firstSeconds,
        minSeconds: options.refresh.minSeconds,
        maxSeconds: options.refresh.maxSeconds,
        adaptive: this.#at.switches.adaptive_intervals,
      },
    };
  }

  #further(row: LeasedUrl): FurtherPages | null {
    const { articlePages, options } = this.#deps;
    const { domainKey } = this.#at.lease;
    if (!articlePages.mayAsk(domainKey)) return null;
    return {
      note: (isPage) => articlePages.note(domainKey, isPage),
      ask: async (url, articlePage) => {
        const page = { ...row, url, etag: null, lastModified: null };
        const arrival = await fetchRow(this.#exchange(row), page, requestFor(page, null, options));
        if (arrival.end === 'handed_back') this.#isHandedBack = true;
        return furtherPageOf(row, arrival, articlePage);
      },
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
    const put = await this.#at.retried(() => images.put(image));
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
      pacer: this.#at.pacer,
      lease: this.#at.lease,
      signal: this.#at.signal,
      mayStart: () => this.#at.mayStart(),
      onRequest: (request) => this.#at.unsettled.note(request),
      onReach: (reach) => this.#deps.outage.note(this.#at.lease.domainKey, reach),
      onCrawlDelay: (delayMs: number | null) => {
        this.#at.lessons.noteCrawlDelay(delayMs);
        this.#at.pacer.setDelay(this.#at.lessons.delayMs);
      },
      rules: this.#at.rules,
      proxies: settings.sourceOf(row)?.settings.proxies,
      ignoresDisallow: settings.sourceOf(row)?.settings.respectRobots === false,
      record: (url, sent) => (this.#records ? this.#at.unsettled.recordings.begin(url, sent) : undefined),
    };
  }

  /** Found URLs first, the settle second: a crash in between only submits them again. Answers which were new. */
  async #submitFound(
    row: LeasedUrl,
    links: readonly SubmitItem[],
    totals: FoundTotals,
    guesses?: ReadonlySet<string>,
  ): Promise<SubmitResult[]> {
    const { settings, db } = this.#deps;
    const { spider, archives } = this.#at.switches;
    const run = crawlOf(this.#deps.executions.known(row));
    const isWanted = ({ origin }: SubmitItem): boolean =>
      origin === 'spider' ? spider : origin !== 'archive' || archives;
    const wanted = links.filter((link) => link.kind !== 'image' && isWanted(link));
    const found = run === null ? wanted : wanted.map((link) => asOfRun(link, run));
    const images = links.filter((link) => link.kind === 'image');
    const lastPoll = settings.channelOf(row)?.lastSuccessAt ?? null;
    const results = await this.#at.retried(() =>
      submitFound(this.#deps, found, totals, lastPoll?.getTime() ?? null),
    );
    // What articles link to is seen only when they are new: the set would change by itself.
    if (run !== null && row.kind === 'listing')
      await this.#at.retried(() => saveFound(db, run.id, articlesOf(found, results, guesses)));
    if (row.kind === 'channel')
      await this.#at.retried(() => this.#at.spider.learnNamed(settings.sourceOf(row), results));
    if (images.length === 0) return results;
    // Not counted as items: those are articles.
    await this.#at.retried(() => submitFound(this.#deps, images, nothingFound(), null));
    return results;
  }

  /** The images a page shows, or where an image's address leads: noted for what the page or the address is known by. */
  async #sightFound(
    row: LeasedUrl,
    arrival: Reached['arrival'],
    found: readonly SubmitItem[],
  ): Promise<void> {
    if (!found.some(({ kind }) => kind === 'image')) return;
    const { bucket, domainKey } = this.#at.lease;
    const parent = arrival.end === 'answered' ? arrival.identity : { bucket, domainKey, hash: row.hash };
    const { executionId } = row;
    await this.#at.retried(() => sightSubmitted(this.#deps.db, found, executionId, parent));
  }
}
