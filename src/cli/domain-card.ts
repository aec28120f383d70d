import type { DomainFacts, describeDomain } from '../explain/index.ts';
import type { Json } from './api.ts';
import { oneLine, relativeTime, renderTable, wrapText } from './output.ts';

/** A domain as the API tells it. */
export type DomainCard = Json<Omit<DomainFacts['domain'], 'bucket' | 'domainKey'>> &
  Json<Pick<DomainFacts, 'events' | 'runs' | 'robots' | 'archives' | 'pins'>> & {
    explanation: ReturnType<typeof describeDomain>;
  };

const mostEvents = 8;
const mostRuns = 5;
const mostTries = 10;

/** One domain as a card: what it is, in words; its numbers; what happened to it. */
export function renderDomainCard(card: DomainCard, width: number): string {
  const { events, runs, robots } = card;
  const tries = card.archives?.tries ?? [];
  const { sentences, advice } = card.explanation;
  const lines: string[] = [card.name, ...wrapText(sentences.join(' '), Math.min(width, 100)), ''];
  for (const [name, value] of numbersOf(card)) lines.push(`  ${name.padEnd(14)} ${oneLine(value)}`);
  const section = <T>(title: string, rows: readonly T[], table: () => string): void => {
    if (rows.length > 0) lines.push('', title, table().trimEnd());
  };
  section('Events', events, () =>
    renderTable(
      events.slice(0, mostEvents),
      [
        { title: 'WHEN', value: (one) => relativeTime(one.at) },
        { title: 'MOVE', value: (one) => `${one.from ?? '–'} → ${one.to}` },
        { title: 'BY', value: (one) => one.actor, flexible: true },
        { title: 'REASON', value: (one) => one.reason, flexible: true },
      ],
      width,
    ),
  );
  section('Runs', runs, () =>
    renderTable(
      runs.slice(0, mostRuns),
      [
        { title: 'BEGAN', value: (one) => relativeTime(one.startedAt) },
        { title: 'MODE', value: (one) => one.mode },
        { title: 'PAGES', value: (one) => `${one.pages}/${one.budget}`, align: 'right' },
        { title: 'DOCS', value: (one) => String(one.documents), align: 'right' },
        { title: 'ENDS', value: (one) => relativeTime(one.untilAt) },
      ],
      width,
    ),
  );
  section('robots.txt', robots, () =>
    renderTable(
      robots,
      [
        { title: 'ORIGIN', value: (one) => one.origin, flexible: true },
        { title: 'OUTCOME', value: (one) => one.outcome.replace('_', ' ') },
        { title: 'READ', value: (one) => relativeTime(one.fetchedAt) },
        { title: 'DELAY', value: (one) => crawlDelayText(one.crawlDelay) },
      ],
      width,
    ),
  );
  section('Archives', tries, () =>
    renderTable(
      tries.slice(0, mostTries),
      [
        { title: 'TRIED', value: (one) => relativeTime(one.askedAt) },
        { title: 'PLACE', value: (one) => one.url, flexible: true },
        { title: 'BY', value: (one) => one.foundBy },
        { title: 'OUTCOME', value: (one) => `${one.state}${one.detail === null ? '' : ` (${one.detail})`}` },
      ],
      width,
    ),
  );
  section('What you can do', advice, () => advice.map((command) => `  ${command}`).join('\n'));
  return `${lines.join('\n')}\n`;
}

const crawlDelayText = (delay: DomainCard['robots'][number]['crawlDelay']): string =>
  delay === null
    ? '–'
    : delay.capped
      ? `${delay.seconds} s (asks for ${delay.askedSeconds} s)`
      : `${delay.seconds} s`;

function numbersOf(domain: DomainCard): [string, string][] {
  const { budget, lease } = domain;
  const rate = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const most = budget.max ?? budget.configured;
  return [
    ['status', `${domain.status}, ${relativeTime(domain.since)}`],
    ['pages', `${domain.pagesCrawled} crawled of ${domain.pagesKnown} known, depth ${domain.depthReached}`],
    ['documents', `${domain.documents}, ${domain.yield.toFixed(2)} per page`],
    [
      'images',
      `${domain.imagesFound} found, ${domain.imagesStored} stored, ${domain.averageImages.toFixed(2)} per page`,
    ],
    ['errors', `${domain.errorsTotal} (${rate(domain.errorRate)}), ${domain.errorsConsecutive} in a row`],
    ['queue', `${domain.queued} ready, ${domain.budgeted} under the budget, level ${domain.top ?? '–'}`],
    [
      'budget',
      `${budget.left ?? '–'} left of ${most ?? '–'}${budget.max === null ? '' : ' (its own)'}, renews ${relativeTime(budget.until)}`,
    ],
    [
      'lease',
      lease === null ? '–' : `${lease.owner}, ${lease.inFlight} URLs, until ${relativeTime(lease.until)}`,
    ],
    ['next request', domain.isPermanent ? 'after a reset' : relativeTime(domain.nextAt)],
    ['first seen', relativeTime(domain.firstSeenAt)],
    ['last crawled', relativeTime(domain.lastCrawledAt)],
    [
      'blocks',
      domain.blockCount === 0 ? '–' : `${domain.blockCount}, first ${relativeTime(domain.firstBlockedAt)}`,
    ],
    ['entry', domain.entryUrl ?? '–'],
    ['seed', `rank ${domain.seedRank ?? '–'}, ${domain.dataset ?? 'no list'}`],
    ['fetchers', `${domain.pool}${domain.pins.map((one) => `, ${one.group} for ${one.source}`).join('')}`],
  ];
}
