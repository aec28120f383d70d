import type { RunResult } from './result.ts';

type Line = [
  name: string,
  value: (result: RunResult) => number,
  unit: 'duration' | 'hours' | 'share' | 'count' | 'ms',
];

const lines: readonly Line[] = [
  ['news found, mean', (one) => one.discovery.mean, 'duration'],
  ['  half of it within', (one) => one.discovery.p50, 'duration'],
  ['  95 % within', (one) => one.discovery.p95, 'duration'],
  ['  worst', (one) => one.discovery.worst, 'duration'],
  ['articles found', (one) => one.articles.discovered, 'count'],
  ['  missed (left the feed before a poll)', (one) => one.articles.missed, 'count'],
  ['stored copies that are current, at the end', (one) => one.freshness.currentShare, 'share'],
  ['  over the whole time', (one) => one.freshness.currentShareOverTime, 'share'],
  ['  age of what lacks, mean', (one) => one.freshness.lackingMeanHours, 'hours'],
  ['requests a second', (one) => one.requests.perSecond, 'count'],
  ['requests per domain and day, mean', (one) => one.requests.perDomainAndDay.mean, 'count'],
  ['  95 % of domains below', (one) => one.requests.perDomainAndDay.p95, 'count'],
  ['  most', (one) => one.requests.perDomainAndDay.max, 'count'],
  ['  polls', (one) => one.requests.byKind.channel!, 'count'],
  ['  new articles', (one) => one.requests.byKind.article!, 'count'],
  ['  second looks', (one) => one.requests.byKind.refresh!, 'count'],
  ['  robots.txt', (one) => one.requests.byKind.robots!, 'count'],
  ['URLs that waited, most', (one) => one.backlog.max, 'count'],
  ['  at the end', (one) => one.backlog.atEnd, 'count'],
  ['due polls waited for a fetcher, worst', (one) => one.starvation.pollsWorst, 'duration'],
  ['due pages, worst', (one) => one.starvation.pagesWorst, 'duration'],
  ['  95 % within', (one) => one.starvation.pagesP95, 'duration'],
  ['a new article waited, worst', (one) => one.starvation.urlWorst, 'duration'],
  ['least gap between two requests', (one) => one.politeness.leastGapMs, 'ms'],
  ['fetchers busy', (one) => one.utilisation, 'share'],
];

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

function write(value: number, unit: Line[2]): string {
  if (unit === 'share') return `${(value * 100).toFixed(2)} %`;
  if (unit === 'hours') return `${whole.format(value)} h`;
  if (unit === 'ms') return `${whole.format(Math.round(value))} ms`;
  if (unit === 'count') return whole.format(value);
  if (value < 120) return `${value.toFixed(1)} s`;
  return value < 7200 ? `${(value / 60).toFixed(1)} min` : `${(value / 3600).toFixed(1)} h`;
}

/** Runs beside each other, one column each; with two of them a third says what differs. */
export function renderRuns(
  runs: readonly { name: string; result: RunResult }[],
  withChange: boolean,
): string {
  const head = ['', ...runs.map(({ name }) => name), ...(withChange ? ['change'] : [])];
  const rows = lines.map(([name, value, unit]) => {
    const values = runs.map(({ result }) => value(result));
    const cells = values.map((one) => write(one, unit));
    return [name, ...cells, ...(withChange ? [change(values[0]!, values[1]!)] : [])];
  });
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  return [head, ...rows]
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '),
    )
    .join('\n');
}

/** The same as a table for a page. */
export function renderMarkdown(runs: readonly { name: string; result: RunResult }[]): string {
  const columns: [string, (one: RunResult) => string][] = [
    ['found, mean', (one) => write(one.discovery.mean, 'duration')],
    ['half within', (one) => write(one.discovery.p50, 'duration')],
    ['95 % within', (one) => write(one.discovery.p95, 'duration')],
    ['worst', (one) => write(one.discovery.worst, 'duration')],
    ['missed', (one) => write(one.articles.missed, 'count')],
    ['current', (one) => write(one.freshness.currentShareOverTime, 'share')],
    ['requests / domain / day', (one) => write(one.requests.perDomainAndDay.mean, 'count')],
    ['polls', (one) => `${(one.requests.byKind.channel! / 1e6).toFixed(2)} M`],
    ['most waiting', (one) => write(one.backlog.max, 'count')],
    [
      'due domain waited, worst',
      (one) => write(Math.max(one.starvation.pollsWorst, one.starvation.pagesWorst), 'duration'),
    ],
    ['busy', (one) => write(one.utilisation, 'share')],
  ];
  return [
    `| policy | ${columns.map(([name]) => name).join(' | ')} |`,
    `|---${'|---'.repeat(columns.length)}|`,
    ...runs.map(({ name, result }) => `| ${name} | ${columns.map(([, of]) => of(result)).join(' | ')} |`),
  ].join('\n');
}

function change(before: number, after: number): string {
  if (before === after) return '=';
  if (before === 0) return 'new';
  const percent = (after / before - 1) * 100;
  return `${percent > 0 ? '+' : ''}${percent.toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`;
}
