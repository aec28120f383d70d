import { type ArchiveFacts, loadArchiveFacts } from '../archives/index.ts';
import type { Queryable } from '../db/index.ts';
import {
  type DomainDetails,
  type DomainEvent,
  type DomainKey,
  type DomainName,
  type DomainPin,
  type DomainRun,
  listDomainPins,
  loadDomain,
  loadDomainEvents,
  loadDomainRuns,
  loadRobotsOfDomain,
} from '../domains/index.ts';
import { type CrawlDelay, crawlDelayOf } from '../robots/index.ts';
import { loadSiteView, type SiteView } from '../sites/index.ts';
import type { Switches } from '../switches/index.ts';
import { loadCommon } from './load-url.ts';

/** Everything known about why a domain is where it is. */
export type DomainFacts = {
  domain: DomainDetails;
  events: DomainEvent[];
  runs: DomainRun[];
  robots: { origin: string; outcome: string; fetchedAt: Date; crawlDelay: CrawlDelay | null }[];
  /** null: nobody looks for its archives. */
  archives: ArchiveFacts | null;
  /** Sources that pin it to a group of fetchers, the one that holds first. */
  pins: DomainPin[];
  /** What the spider has learned of its pages. */
  site: SiteView;
  /** There is something to try while it rests; asked only then, because no index leads there. */
  hasChannel: boolean;
  fetchersAlive: number;
  /** Every fetcher that is alive takes its own network for down. */
  isOutage: boolean;
  switches: Switches;
  now: Date;
};

/** Gathers the facts about a domain; null when it is not known. */
export async function loadDomainFacts(
  db: Queryable,
  name: DomainName,
  options: { defaultDelayMs: number; productToken: string; defaultBudget?: number },
): Promise<DomainFacts | null> {
  const domain = await loadDomain(db, name, options.defaultDelayMs);
  if (domain === null) return null;
  const robots = await loadRobotsOfDomain(db, domain.bucket, domain.domainKey);
  return {
    domain: {
      ...domain,
      // Before the first fetcher has started, the configuration of whoever asks is the best there is.
      budget: { ...domain.budget, configured: domain.budget.configured ?? options.defaultBudget ?? null },
    },
    events: await loadDomainEvents(db, domain),
    runs: await loadDomainRuns(db, domain),
    robots: robots.map(({ origin, outcome, fetchedAt, rules }) => ({
      origin,
      outcome,
      fetchedAt,
      crawlDelay: rules === null ? null : crawlDelayOf(rules, options.productToken),
    })),
    archives: await loadArchiveFacts(db, domain),
    pins: await listDomainPins(db, domain),
    site: await loadSiteView(db, domain),
    hasChannel:
      (domain.status === 'blocked' || domain.status === 'unreachable') && (await hasChannel(db, domain)),
    ...(await loadCommon(db)),
  };
}

async function hasChannel(db: Queryable, { bucket, domainKey }: DomainKey): Promise<boolean> {
  const result = await db.query(
    'SELECT FROM channels WHERE bucket = $1 AND domain_key = $2 AND enabled LIMIT 1',
    [bucket, domainKey.toString()],
  );
  return result.rowCount === 1;
}
