import { createHash } from 'node:crypto';
import type { Queryable } from '../db/index.ts';
import {
  decidePriority,
  type Lease,
  type LeasedUrl,
  type SubmitItem,
  type SubmitResult,
} from '../frontier/index.ts';
import {
  contentLinks,
  type PageFacts,
  type SpiderLink,
  type SpiderRules,
  spiderRulesOf,
} from '../ingest/index.ts';
import { type NextPage, type Site, type SiteCache, saveSite } from '../sites/index.ts';
import type { Source } from '../sources/index.ts';
import type { Clock, Metrics } from '../telemetry/index.ts';
import { classifyUrl, type LearnedKinds, unknownShape } from '../url/index.ts';
import { ended, fine, type RowEnd } from './conclude/row-end.ts';
import type { Verdict } from './outcome.ts';

const defaultDepth = 3;
// What nobody knows goes last, and a listing that has proven nothing goes behind those that have.
const sampleFalls = 3;
const unprovenFalls = 1;
// Long enough for the others of its prefix to be read.
const waitMs = 600_000;
const mostWaited = 5000;
const deadPages: ReadonlySet<string> = new Set([
  'not_found',
  'gone',
  'soft_404',
  'too_short',
  'no_text',
  'empty',
]);

/** What the spider needs of the run. */
export type SpiderDeps = { db: Queryable; sites: SiteCache; clock: Clock; metrics: Metrics };

/** What a page's links came to: what to submit, and which of it were samples. */
export type Choice = { items: SubmitItem[]; samples: ReadonlySet<string> };

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
    if (rules === null) return null;
    this.#site ??= await this.#deps.sites.open(this.#lease, this.#deps.clock.now());
    return rules;
  }

  /** What is known of the domain's shapes by now. */
  get learned(): LearnedKinds | undefined {
    return this.#site?.shapes.kinds;
  }

  /** The end of a row that is not worth its request; null: it is. */
  endUnasked(row: LeasedUrl, rules: SpiderRules | null): RowEnd | null {
    const site = this.#site;
    if (
      site === null ||
      rules === null ||
      row.tries > 0 ||
      (row.origin !== 'spider' && row.origin !== 'archive')
    )
      return null;
    const cap = site.traps.capOf(row.url);
    if (cap !== null && site.pagination.placeOf(row.url) === null)
      return ended(row, givenUp('trap', `${cap.prefix} is a trap: ${cap.reason}`));
    if (row.kind === 'listing' && row.fetchCount > 0 && site.pagination.isUnwanted(row.url))
      return ended(row, fine());
    const shape = row.kind === 'article' && row.fetchCount === 0 ? this.#shapeAgainst(row, rules) : null;
    if (shape !== null) return ended(row, givenUp('not_content', shape));
    const name = row.hash.toString('hex');
    if (row.fetchCount > 0 || this.#waited.has(name) || !site.traps.shouldWait(row.url)) return null;
    if (this.#waited.size >= mostWaited) this.#waited.clear();
    this.#waited.add(name);
    return ended(row, { ...fine(), status: 'pending', dueInMs: waitMs });
  }

  /** Why an address that was submitted to find out is not asked for: by now others of its shape have told. */
  #shapeAgainst(row: LeasedUrl, { settings }: SpiderRules): string | null {
    // What somebody typed in is matched on the other thread only.
    if ((settings.articleUrlPatterns ?? []).length > 0) return null;
    const { shapes } = this.#site!;
    const { kind, reason } = classifyUrl(row.url, { learned: shapes.kinds });
    if (kind !== 'other') return null;
    if (reason !== unknownShape) return `pages like it are neither articles nor listings (${reason})`;
    return shapes.isUnclear(row.url) ? 'pages like it are of no one kind' : null;
  }

  /** The links of a page that are submitted; all others are counted by the reason. */
  choose(row: LeasedUrl, rules: SpiderRules, page: PageFacts, follows: { pagers: boolean }): Choice {
    const site = this.#site!;
    for (const [reason, links] of Object.entries(page.refused)) this.#refuse(reason, links);
    if (follows.pagers && row.kind === 'listing') site.pagination.learnPagers(page.pagers);
    const depth = row.depth + 1;
    const maxDepth = rules.settings.maxDepth || defaultDepth;
    const items: SubmitItem[] = [];
    const samples = new Set<string>();
    // Of what nobody knows, headlines are looked at first.
    const links = [...page.links].sort((a, b) => Number(b.isHeadline) - Number(a.isHeadline));
    for (const link of links) {
      if (link.url === row.url || link.url === page.url) continue;
      const reason = this.#reasonAgainst(link, { isTooDeep: maxDepth > 0 && depth > maxDepth, ...follows });
      if (reason !== null) {
        this.#refuse(reason);
        continue;
      }
      const isSample = link.kind === 'other';
      if (isSample) samples.add(link.url);
      const kind = link.kind === 'listing' ? 'listing' : 'article';
      const isUnproven = kind === 'listing' && !link.external && !site.traps.isProven(link.url);
      if (!link.external && (isSample || kind === 'listing')) site.traps.noteLink(link.url);
      items.push(
        this.#item(row, rules, {
          url: link.url,
          kind,
          depth,
          external: link.external,
          falls: isSample ? sampleFalls : isUnproven ? unprovenFalls : 0,
          parentUrl: page.url,
        }),
      );
    }
    return { items, samples };
  }

  #reasonAgainst(
    link: SpiderLink,
    { isTooDeep, pagers }: { isTooDeep: boolean; pagers: boolean },
  ): string | null {
    const site = this.#site!;
    if (!link.external) {
      // The pages of a listing are asked for one after the other.
      if (pagers && site.pagination.placeOf(link.url) !== null) return 'pager';
      if (site.traps.capOf(link.url) !== null) return 'trap';
    }
    if (link.kind === 'other' && link.reason !== unknownShape) return link.reason.split(' ', 2).join('_');
    if (isTooDeep) return 'depth';
    if (link.kind !== 'other') return null;
    return !link.external && site.shapes.sample(link.url, link.isHeadline) ? null : 'unknown_shape';
  }

  #item(
    row: LeasedUrl,
    rules: SpiderRules,
    about: {
      url: string;
      kind: 'article' | 'listing';
      depth: number;
      external: boolean;
      falls: number;
      parentUrl: string;
      modifiedAt?: Date;
    },
  ): SubmitItem {
    const { url, kind, depth, external, falls, parentUrl, modifiedAt } = about;
    const origin = row.origin === 'archive' ? 'archive' : 'spider';
    return {
      url,
      kind,
      origin,
      sourceId: row.sourceId,
      priority: Math.max(1, decidePriority({ base: rules.priority, origin, kind, depth, external }) - falls),
      depth,
      parentUrl,
      executionId: row.executionId,
      own: !external,
      ...(modifiedAt === undefined ? {} : { modifiedAt }),
    };
  }

  /** Learns from a page whose links were submitted; answers the page of the listing that comes next. */
  learn(
    row: LeasedUrl,
    rules: SpiderRules,
    seen: { page: PageFacts; choice: Choice; results: readonly SubmitResult[]; pagers: boolean },
  ): SubmitItem | null {
    const site = this.#site!;
    const { page, choice, results } = seen;
    let news = 0;
    for (const [at, { answer }] of results.entries()) {
      const item = choice.items[at]!;
      if (answer === 'inserted' && item.kind === 'article') news += 1;
      if (answer !== 'inserted' && choice.samples.has(item.url)) site.shapes.unsample(item.url);
    }
    const nowMs = this.#deps.clock.now();
    const isPage = seen.pagers && site.pagination.placeOf(row.url) !== null;
    if (row.fetchCount === 0 && !isPage) {
      if (isTaught(row)) site.shapes.learn(row.url, page.kind);
      site.traps.learn(row.url, { content: page.kind !== 'other', news: news > 0 || page.kind === 'article' }, nowMs);
    }
    if (!seen.pagers || page.kind === 'article' || (row.kind !== 'listing' && page.pagers.length === 0))
      return null;
    // A further page that leads elsewhere is none.
    const hasMoved = isPage && site.pagination.placeOf(page.url) === null;
    const next = hasMoved
      ? site.pagination.fail(row.url, nowMs)
      : site.pagination.follow(
          {
            url: page.url,
            pagers: page.pagers,
            entries: contentLinks(page).map((link) => shortName(link.url)),
            news,
            isAgain: row.fetchCount > 0,
          },
          nowMs,
        );
    return this.#nextPage(row, rules, next, page.url);
  }

  /** Learns from a page that was not there or had nothing; answers what may be tried instead. */
  fail(row: LeasedUrl, rules: SpiderRules, errorCode: string | null, pagers: boolean): SubmitItem | null {
    const site = this.#site!;
    if (errorCode === null || !deadPages.has(errorCode)) return null;
    const nowMs = this.#deps.clock.now();
    if (pagers && site.pagination.placeOf(row.url) !== null)
      return this.#nextPage(row, rules, site.pagination.fail(row.url, nowMs), row.url);
    if (row.fetchCount === 0 && isTaught(row))
      site.traps.learn(row.url, { content: false, news: false }, nowMs);
    return null;
  }

  #nextPage(row: LeasedUrl, rules: SpiderRules, next: NextPage | null, parentUrl: string): SubmitItem | null {
    if (next === null) return null;
    return this.#item(row, rules, {
      url: next.url,
      kind: 'listing',
      // Pages of a listing are as deep as the listing.
      depth: row.depth,
      external: false,
      falls: next.guessed ? unprovenFalls : 0,
      parentUrl,
      // A page that is known is read again.
      ...(next.again ? { modifiedAt: new Date(this.#deps.clock.now()) } : {}),
    });
  }

  /** What feeds and sitemaps name are articles: their shape is known before the first is fetched. */
  async learnNamed(urls: readonly string[]): Promise<void> {
    if (urls.length === 0) return;
    this.#site ??= await this.#deps.sites.open(this.#lease, this.#deps.clock.now());
    for (const url of urls) this.#site.shapes.learn(url, 'article');
  }

  #refuse(reason: string, links = 1): void {
    this.#site!.refuse(reason, links);
    this.#deps.metrics.refusedLinks.inc({ reason }, links);
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
