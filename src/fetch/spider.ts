import { createHash } from 'node:crypto';
import type { Queryable } from '../db/index.ts';
import type { Lease, LeasedUrl, SubmitItem, SubmitResult } from '../frontier/index.ts';
import { contentLinks, type SpiderRules, spiderRulesOf } from '../ingest/index.ts';
import { type Site, type SiteCache, saveSite } from '../sites/index.ts';
import type { Source } from '../sources/index.ts';
import type { Clock, Metrics } from '../telemetry/index.ts';
import { classifyUrl, type LearnedKinds, unknownShape } from '../url/index.ts';
import { ended, fine, type RowEnd } from './conclude/row-end.ts';
import type { Verdict } from './outcome.ts';
import { type Choice, chooseLinks, nextPageItem, type ReadPage } from './spider-choice.ts';

// Long enough for the others of its prefix to be read.
const waitMs = 600_000;
const mostWaited = 5000;
// Answers that say of an address that nothing is there.
const nothingThere: ReadonlySet<string> = new Set([
  'not_found',
  'gone',
  'soft_404',
  'led_to_listing',
  'too_short',
  'no_text',
  'empty',
]);

/** What the spider needs of the run. */
export type SpiderDeps = { db: Queryable; sites: SiteCache; clock: Clock; metrics: Metrics };

/** How it submits, and whether it walks through the pages of listings. */
export type Following = {
  pagers: boolean;
  /** `guesses`: addresses among them of which nobody knows yet what they lead to. */
  submit: (items: readonly SubmitItem[], guesses?: ReadonlySet<string>) => Promise<SubmitResult[]>;
};

/**
 * Follows links for one leased domain: chooses those of a page that are worth a request, learns from what the pages were,
 * and walks through the pages of listings. Rows that are not spidered never come here and cost nothing.
 */
export class Spider {
  readonly #deps: SpiderDeps;
  readonly #lease: Lease;
  #site: Site | null = null;
  readonly #waited = new Set<string>();

  constructor(deps: SpiderDeps, lease: Lease) {
    this.#deps = deps;
    this.#lease = lease;
  }

  /** How the links of a row are followed, with what is known of its domain at hand; null: they are not. */
  async open(row: LeasedUrl, source: Source | null): Promise<SpiderRules | null> {
    if (row.kind !== 'article' && row.kind !== 'listing') return null;
    const rules = spiderRulesOf(row, { source });
    if (rules !== null) await this.#load();
    return rules;
  }

  async #load(): Promise<Site> {
    this.#site ??= await this.#deps.sites.open(this.#lease, this.#deps.clock.now());
    return this.#site;
  }

  /** What is known of the domain's shapes by now. */
  get learned(): LearnedKinds | undefined {
    return this.#site?.shapes.kinds;
  }

  /** The end of a row that is not worth its request; null: it is. */
  endUnasked(row: LeasedUrl, rules: SpiderRules | null): RowEnd | null {
    const site = this.#site;
    if (site === null || rules === null || row.tries > 0) return null;
    if (row.origin !== 'spider' && row.origin !== 'archive') return null;
    const cap = site.traps.capOf(row.url);
    if (cap !== null && site.pagination.placeOf(row.url) === null)
      return ended(row, givenUp('trap', `${cap.prefix} is a trap: ${cap.reason}`));
    if (row.kind === 'listing' && row.fetchCount > 0 && site.pagination.isUnwanted(row.url))
      return ended(row, fine());
    if (row.fetchCount > 0) return null;
    const shape = row.kind === 'article' ? shapeAgainst(site, row, rules) : null;
    if (shape !== null) return ended(row, givenUp('not_content', shape));
    return this.#endWaiting(site, row);
  }

  /** Once at most: what it waits for may never be read. */
  #endWaiting(site: Site, row: LeasedUrl): RowEnd | null {
    const name = row.hash.toString('hex');
    if (this.#waited.has(name) || !site.traps.shouldWait(row.url)) return null;
    if (this.#waited.size >= mostWaited) this.#waited.clear();
    this.#waited.add(name);
    return ended(row, { ...fine(), status: 'pending', dueInMs: waitMs });
  }

  /** Submits what a page leads to and learns from it; then the next page of its listing. */
  async follow(row: LeasedUrl, source: Source | null, end: RowEnd, following: Following): Promise<void> {
    const rules = await this.open(row, source);
    if (rules === null) return;
    const site = await this.#load();
    const { pagers } = following;
    if (end.page == null) {
      const next = this.#learnFailure(site, { row, rules }, end.items.at(-1)?.errorCode ?? null, pagers);
      if (next !== null) await following.submit([next]);
      return;
    }
    if (row.kind === 'listing' && row.depth === 0 && row.fetchCount > 0) site.shapes.beginRound();
    const read = { row, rules, page: end.page, pagers };
    const choice = chooseLinks(site, read);
    for (const [reason, links] of choice.refused) {
      site.refuse(reason, links);
      this.#deps.metrics.refusedLinks.inc({ reason }, links);
    }
    const next = this.#learnPage(site, read, choice, await following.submit(choice.items, choice.samples));
    if (next !== null) await following.submit([next]);
  }

  #learnPage(
    site: Site,
    read: ReadPage,
    choice: Choice,
    results: readonly SubmitResult[],
  ): SubmitItem | null {
    const { row, rules, page, pagers } = read;
    let news = 0;
    for (const [at, { answer }] of results.entries()) {
      const item = choice.items[at]!;
      if (answer === 'inserted' && item.kind === 'article') news += 1;
      if (answer !== 'inserted' && choice.samples.has(item.url)) site.shapes.unsample(item.url);
    }
    const nowMs = this.#deps.clock.now();
    const isPage = pagers && site.pagination.placeOf(row.url) !== null;
    if (row.fetchCount === 0 && !isPage && isTaught(row)) {
      const isArticle = page.kind === 'article';
      site.shapes.learn(row.url, page.kind);
      site.traps.learn(row.url, { content: page.kind !== 'other', news: isArticle || news > 0 }, nowMs);
    }
    if (!pagers || page.kind === 'article' || (row.kind !== 'listing' && page.pagers.length === 0))
      return null;
    // A further page that leads elsewhere is none.
    const hasMoved = isPage && site.pagination.placeOf(page.url) === null;
    const shown = {
      url: page.url,
      pagers: page.pagers,
      entries: contentLinks(page).map((link) => shortName(link.url)),
      news,
      isAgain: row.fetchCount > 0,
      mayGuess: !hasPatterns(rules),
    };
    const next = hasMoved ? site.pagination.fail(row.url, nowMs) : site.pagination.follow(shown, nowMs);
    return next === null ? null : nextPageItem(read, next, { parentUrl: page.url, nowMs });
  }

  /** A page that was not there or had nothing; answers what may be tried instead. */
  #learnFailure(
    site: Site,
    of: Pick<ReadPage, 'row' | 'rules'>,
    errorCode: string | null,
    pagers: boolean,
  ): SubmitItem | null {
    if (errorCode === null || !nothingThere.has(errorCode)) return null;
    const { row } = of;
    const nowMs = this.#deps.clock.now();
    if (pagers && site.pagination.placeOf(row.url) !== null) {
      const next = site.pagination.fail(row.url, nowMs);
      return next === null ? null : nextPageItem(of, next, { parentUrl: row.url, nowMs });
    }
    if (row.fetchCount === 0 && isTaught(row))
      site.traps.learn(row.url, { content: false, news: false }, nowMs);
    return null;
  }

  /** What feeds and sitemaps name are articles: their shape is known before the first is fetched. */
  async learnNamed(source: Source | null, results: readonly SubmitResult[]): Promise<void> {
    if (source === null || source.ingestionMode === 'feed') return;
    const { domainKey } = this.#lease;
    for (const { answer, identity } of results)
      if (answer === 'inserted' && identity?.domainKey === domainKey)
        (await this.#load()).shapes.learn(identity.fetchUrl, 'article');
  }

  /** Saves what was learned; called with each settle. */
  async save(): Promise<void> {
    const site = this.#site;
    const changes = site?.takeChanges() ?? null;
    if (site === null || changes === null) return;
    try {
      await saveSite(this.#deps.db, this.#lease, changes, this.#deps.clock.now());
    } catch (error) {
      site.putBack(changes);
      throw error;
    }
  }

  /** The domain is another's now. */
  lose(): void {
    this.#deps.sites.forget(this.#lease);
  }
}

/** Why an address that was submitted to find out is not asked for: by now others of its shape have told. */
function shapeAgainst({ shapes }: Site, row: LeasedUrl, { settings }: SpiderRules): string | null {
  // What somebody typed in is matched on the other thread only.
  if ((settings.articleUrlPatterns ?? []).length > 0) return null;
  const { kind, reason } = classifyUrl(row.url, { learned: shapes.kinds });
  if (kind !== 'other') return null;
  if (reason !== unknownShape) return `pages like it are neither articles nor listings (${reason})`;
  return shapes.isUnclear(row.url) ? 'pages like it are of no one kind' : null;
}

// A guess is no link that the source's patterns were asked about, and they are matched on the other thread only.
const hasPatterns = ({ settings: { include = [], exclude = [] } }: SpiderRules): boolean =>
  include.length + exclude.length > 0;

const givenUp = (errorCode: string, errorText: string): Verdict => ({
  status: 'dead',
  dueInMs: null,
  tries: 0,
  errorCode,
  errorText,
});

// What a feed or a sitemap brought was learned when it was named, and a person may name anything.
const isTaught = ({ origin }: LeasedUrl): boolean =>
  origin === 'spider' || origin === 'archive' || origin === 'redirect';

const shortName = (url: string): string => createHash('sha1').update(url).digest('hex').slice(0, 12);
