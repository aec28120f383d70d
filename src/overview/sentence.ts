import { span } from '../explain/index.ts';
import type { OverviewFacts } from './facts.ts';
import { countText, numberText, rateText } from './words.ts';

/** How everything does, in one line. */
export function describeOverview(facts: OverviewFacts): string {
  const { counts, processes } = facts;
  if (counts.sources.count === 0 && counts.pendingUrls === 0) return 'No sources yet. Add the first one.';
  const fetching = facts.switches.find((one) => one.name === 'fetching');
  if (fetching?.on === false) return told(['Fetching is switched off', ...waiting(facts), ...trouble(facts)]);
  if (processes.fetchers === 0) return told(['No fetcher is alive', ...waiting(facts), ...trouble(facts)]);
  if (processes.away === processes.fetchers)
    return told(['No fetcher reaches the network', ...waiting(facts), ...trouble(facts)]);
  if (isIdle(facts)) return told([idle(facts), ...trouble(facts)]);
  return told([pace(facts), ...trouble(facts), ...queue(facts)]);
}

const told = (parts: readonly string[]): string => `${parts.join('; ')}.`;

const waiting = ({ counts }: OverviewFacts): string[] =>
  counts.pendingUrls === 0
    ? []
    : [`${countText(counts.pendingUrls, 'URL')} ${counts.pendingUrls === 1 ? 'waits' : 'wait'}`];

const trouble = ({ counts }: OverviewFacts): string[] =>
  counts.failingChannels.count === 0 ? [] : [`${countText(counts.failingChannels, 'channel')} failing`];

/** Nobody holds a domain and none may be asked now. */
const isIdle = ({ counts, processes }: OverviewFacts): boolean =>
  counts.fetchingDomains === 0 && (processes.nextAt === null || processes.nextAt > processes.now);

function idle({ counts, processes }: OverviewFacts): string {
  const { nextAt, now } = processes;
  const waitMs = nextAt === null ? null : nextAt.getTime() - now.getTime();
  const next = waitMs === null ? '' : `; next fetch in ${waitMs < 1000 ? 'a moment' : span(waitMs)}`;
  return counts.pendingUrls === 0
    ? `Nothing to fetch now${next}`
    : `Nothing may be fetched now; ${countText(counts.pendingUrls, 'URL')} ${counts.pendingUrls === 1 ? 'waits' : 'wait'}${next}`;
}

function pace({ counts, flow }: OverviewFacts): string {
  const from = counts.fetchingDomains === 0 ? '' : ` from ${countText(counts.fetchingDomains, 'domain')}`;
  if (flow.fetchedPerMinute > 0) return `${rateText(flow.fetchedPerMinute, 'pages')}${from}`;
  return from === '' ? 'No page fetched in the last 5 min' : `Fetching${from}, no page in the last 5 min`;
}

// Beyond it nobody plans, and a queue that shrinks so slowly stands still.
const longestMinutes = 90 * 1440;
// A change of less than this share per minute is noise of what is under way.
const noise = 0.0005;

function queue({ counts, trend }: OverviewFacts): string[] {
  const { pendingUrls } = counts;
  if (pendingUrls === 0) return ['the queue is empty'];
  const growth = trend.backlogPerMinute;
  if (growth === null) return [`${countText(pendingUrls, 'URL')} ${pendingUrls === 1 ? 'waits' : 'wait'}`];
  if (growth > Math.max(0.5, pendingUrls * noise))
    return [`queue of ${numberText(pendingUrls)} grows by about ${rateText(growth, 'URLs')}`];
  const minutes = growth < 0 ? pendingUrls / -growth : Number.POSITIVE_INFINITY;
  if (minutes > longestMinutes) return [`queue of ${numberText(pendingUrls)} neither grows nor shrinks`];
  return [minutes < 1 ? 'queue empties in a moment' : `queue empties in about ${span(minutes * 60_000)}`];
}
