import type { Rhythm } from '../../src/channels/index.ts';
import { hashOf, normalFrom, randomFrom, shareOf } from '../../test/web/random.ts';
import { drawDay, quantile, type Weights } from '../polling/histories.ts';

/** What the modelled web is like. Shares are of publishers. */
export const webDefaults = {
  /** New articles a day: log-normal, half of the publishers below the median. */
  medianPerDay: 6,
  spread: 1.5,
  mostPerDay: 400,
  /** Entries a feed shows; a sitemap shows all of the last days. */
  feedItems: 25,
  sitemapShare: 0.1,
  /** Answers 304, says in its feed that an article was edited, asks for an hour between polls, for ten seconds between requests. */
  conditionalShare: 0.85,
  datesEditsShare: 0.4,
  floorShare: 0.1,
  crawlDelayShare: 0.03,
  /** Articles that are edited, and how long after publication for the first time. */
  editShare: 0.3,
  editMedianHours: 3,
  /** Requests that end with a server error or a time-out, and articles that are not there. */
  errorRate: 0.005,
  missingRate: 0.003,
  slowShare: 0.05,
  blockedShare: 0.02,
  deadShare: 0.02,
  limitedShare: 0.01,
  hubShare: 0.05,
  /** Publishers whose archive is read, and how many pages half of them have at most. */
  archiveShare: 0.05,
  archiveMedian: 500,
  latencyMedianMs: 200,
  pageKb: 60,
  feedKb: 30,
};
export type WebOptions = typeof webDefaults;

/** How a publisher answers. */
export const manner = { well: 0, refuses: 1, gone: 2, limits: 3 } as const;

/** One publisher, as the seed or a database has it. */
export type Publisher = {
  seed: number;
  ratePerDay: number;
  zoneH: number;
  weights?: Weights;
  /** What a database has learnt of its channel: then its feed is read already. */
  rhythm?: Rhythm;
  weight?: number;
  /** Its source keeps to the interval whatever is learnt. */
  isFixed?: boolean;
  intervalSeconds: number;
  isSitemap: boolean;
  feedItems: number;
  conditional: boolean;
  datesEdits: boolean;
  floorSeconds: number;
  crawlDelayMs: number;
  manner: number;
  errorRate: number;
  latencyMs: number;
  hub: boolean;
  /** Pages of its archive that wait at the beginning, and known ones that are due again some day. */
  archivePages: number;
  knownPages: number;
  pageKb: number;
};

const dayMs = 86_400_000;
const mostArchivePages = 20_000;
const backlogDays = 60;

/** Draws publishers from a seed: one from each of as many equal parts of the rates, everything else by chance. */
export function drawPublishers(count: number, seed: number, web: WebOptions): Publisher[] {
  return Array.from({ length: count }, (_, index) => {
    const own = hashOf(seed, 'feed', index);
    const random = randomFrom(hashOf(own, 'publisher'));
    const has = (share: number): boolean => random.next() < share;
    const isSitemap = has(web.sitemapShare);
    const way = random.next();
    const ratePerDay = web.medianPerDay * Math.exp(web.spread * quantile((index + 0.5) / count));
    const slow = has(web.slowShare) ? 10 : 1;
    return {
      seed: own,
      ratePerDay: Math.min(web.mostPerDay, ratePerDay),
      zoneH: hashOf(own, 'zone') % 24,
      intervalSeconds: isSitemap ? 21_600 : 900,
      isSitemap,
      feedItems: isSitemap ? 1000 : web.feedItems,
      conditional: has(web.conditionalShare),
      datesEdits: has(web.datesEditsShare),
      floorSeconds: has(web.floorShare) ? 3600 : 0,
      crawlDelayMs: has(web.crawlDelayShare) ? 10_000 : 0,
      manner: mannerOf(way, web),
      errorRate: web.errorRate * Math.exp(0.8 * normalFrom(random) - 0.32),
      latencyMs: web.latencyMedianMs * slow * Math.exp(0.7 * normalFrom(random)),
      hub: has(web.hubShare),
      archivePages: has(web.archiveShare)
        ? Math.round(
            Math.min(mostArchivePages, web.archiveMedian * Math.exp(web.spread * normalFrom(random))),
          )
        : 0,
      knownPages: 0,
      pageKb: web.pageKb * Math.exp(0.6 * normalFrom(random)),
    };
  });
}

function mannerOf(way: number, web: WebOptions): number {
  if (way < web.blockedShare) return manner.refuses;
  if (way < web.blockedShare + web.deadShare) return manner.gone;
  return way < web.blockedShare + web.deadShare + web.limitedShare ? manner.limits : manner.well;
}

/** Articles a publisher brought out on a day, in order. */
export function articlesOfDay(publisher: Publisher, day: number): number[] {
  const { seed, ratePerDay, zoneH, weights } = publisher;
  return drawDay({ seed, ratePerDay, zoneH, day, ...(weights === undefined ? {} : { weights }) });
}

/** What a feed shows at the beginning: its newest entries, oldest first. */
export function backlogOf(publisher: Publisher, startMs: number): number[] {
  const today = Math.floor(startMs / dayMs);
  const most = publisher.isSitemap ? Math.ceil(publisher.ratePerDay * 2) : publisher.feedItems;
  let past = articlesOfDay(publisher, today).filter((date) => date <= startMs);
  for (let day = today - 1; past.length < most && day > today - backlogDays; day -= 1)
    past = [...articlesOfDay(publisher, day), ...past];
  return past.slice(Math.max(0, past.length - most));
}

const editsAtMost = 6;
const editGrowth = 4;

/**
 * The first edit of an article after a moment, Infinity when there is none left. From its publisher and its date alone,
 * so that every policy meets the same web.
 */
export function nextEditMs(
  publisher: Publisher,
  publishedMs: number,
  afterMs: number,
  web: WebOptions,
): number {
  const own = hashOf(publisher.seed, publishedMs);
  if (own / 4294967296 >= web.editShare) return Number.POSITIVE_INFINITY;
  const random = randomFrom(own);
  let age = web.editMedianHours * 3_600_000 * Math.exp(1.5 * normalFrom(random));
  for (let edit = 0; edit < editsAtMost; edit += 1) {
    if (publishedMs + age > afterMs) return publishedMs + age;
    if (shareOf(own, edit) < 0.5) break;
    age *= editGrowth;
  }
  return Number.POSITIVE_INFINITY;
}
