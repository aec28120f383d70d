import type { ArchiveDomain, ArchiveEnd } from './memory.ts';
import type { PageRow } from './rows.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Places that are asked of a domain within a day. */
export const mostPlacesPerDay = 5;
/** A domain with so much better work has no need of its archives. */
export const pendingEnough = 20;

/** Whether a domain is looked at now, or when to ask again. */
export type LookDecision = { look: true } | { look: false; inMs: number; because: string };

/** Decides whether a domain's archives are looked for: it has too little to do, or a day has passed. Pure. */
export function decideLook(domain: ArchiveDomain): LookDecision {
  const wait = (inMs: number, because: string): LookDecision => ({ look: false, inMs, because });
  if (domain.status === 'blocked' || domain.status === 'unreachable') return wait(dayMs, 'it rests');
  // Nobody knows its robots.txt, nor what its addresses look like. A million seeds wait so: they are asked seldom.
  if (!domain.isCrawled)
    return wait(domain.sourceId === null ? dayMs : hourMs, 'nothing of it was fetched yet');
  // What is found would only wait, and the day's places would be used for nothing.
  if (domain.budgetMs !== null) return wait(Math.max(60_000, domain.budgetMs), 'its budget is used up');
  if (domain.pending >= pendingEnough && domain.restedMs < dayMs) return wait(hourMs, 'it has enough to do');
  return { look: true };
}

// What is not there will not be there soon; what was read changes where new months are added.
const failedAgainMs = 90 * dayMs;
const workedAgainMs = 30 * dayMs;
/** A row that does not end in so long counts as one that gave nothing. */
export const patienceMs = 7 * dayMs;

const failed = (detail: string): ArchiveEnd => ({ state: 'failed', detail, againMs: failedAgainMs });

/** How a page that was asked ended; null: it has not. `age` is the time since it was asked. Pure. */
export function judgePage(row: PageRow, ageMs: number): ArchiveEnd | null {
  switch (row.status) {
    case 'fetched':
      return { state: 'worked', detail: null, againMs: workedAgainMs };
    case 'redirected': {
      // A site that knows no such page often shows its front page instead.
      const leadsHome = !/^[a-z]+:\/\/[^/?#]+\/[^?#]/i.test(row.redirectedTo ?? '');
      return leadsHome
        ? failed('it leads to the front page')
        : { state: 'worked', detail: `it leads to ${row.redirectedTo}`, againMs: workedAgainMs };
    }
    case 'dead':
    case 'duplicate':
      return failed(row.errorCode ?? row.status);
    default:
      return ageMs > patienceMs ? failed(row.errorCode ?? 'no answer in a week') : null;
  }
}

/** Where the channel of a sitemap that was asked stands. */
export type SitemapPoll = { isRead: boolean; errorKind: string | null; errorsInRow: number };

// The file is not there, or is no sitemap; everything else may pass.
const finalErrors = ['404', '410', 'parse', 'http', '403', 'moved'];
const errorsToGiveUp = 3;

/** How a sitemap that was asked ended; null: it has not. Pure. */
export function judgeSitemap(poll: SitemapPoll, ageMs: number): ArchiveEnd | null {
  // It is a channel now and polled like any other: nobody needs to think of it again.
  if (poll.isRead) return { state: 'worked', detail: null, againMs: null };
  const { errorKind, errorsInRow } = poll;
  if (errorKind !== null && (finalErrors.includes(errorKind) || errorsInRow >= errorsToGiveUp))
    return failed(errorKind);
  return ageMs > patienceMs ? failed(errorKind ?? 'no answer in a week') : null;
}

/**
 * What is left of a place that was written down and has no row: a crash came in between, and it is asked now (null),
 * unless there is nobody left to ask it for. Pure.
 */
export function judgeUnasked(kind: 'sitemap' | 'page', hasSource: boolean, ageMs: number): ArchiveEnd | null {
  if (kind === 'sitemap' && !hasSource) return failed('its source is gone');
  return ageMs > patienceMs ? failed('it could not be asked') : null;
}

/** What a page comes to that had a row before anybody thought of it here: nothing is asked. Pure. */
export function judgeKnown(row: PageRow): ArchiveEnd {
  const end = judgePage(row, 0);
  if (end?.state === 'failed') return end;
  return { state: 'known', detail: null, againMs: failedAgainMs };
}
