import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

// The naming rules of Prometheus, and ours about labels: nothing that grows with the web. Every metric there is is
// checked, so a new one is too.
const units = ['seconds', 'bytes', 'ratio'];
const abbreviated =
  /_(ms|s|sec|secs|millis|milliseconds|micros|us|ns|minutes?|hours?|days?|kb|mb|gb|kib|mib|kilobytes|megabytes|percent|pct)(_|$)/;
const reserved = /_(count|sum|bucket|created)$/;
const labels = new Set([
  'answer',
  'change',
  'loop',
  'outcome',
  'reason',
  'sink',
  'status',
  // Of the Node.js process.
  'kind',
  'space',
  'type',
  'version',
  'major',
  'minor',
  'patch',
]);

type Seen = { name: string; help: string; type: string; labelNames: readonly string[] };

/** What is wrong with a metric's name, help and labels. */
function problemsOf({ name, help, type, labelNames }: Seen): string[] {
  const problems: string[] = [];
  if (!/^(outrider|nodejs|process)_[a-z0-9]+(_[a-z0-9]+)*$/.test(name))
    problems.push('is no name of ours in lower case');
  if (help.trim() === '') problems.push('has no help');
  if ((type === 'counter') !== name.endsWith('_total'))
    problems.push('must end in _total if and only if it is a counter');
  if (type === 'histogram' && !units.some((unit) => name.endsWith(`_${unit}`)))
    problems.push('has no base unit');
  if (abbreviated.test(name)) problems.push('has another unit than the base one');
  if (reserved.test(name)) problems.push('ends like a part of a histogram');
  if (new RegExp(`_(${type})(_|$)`).test(name)) problems.push('names its own type');
  for (const label of labelNames)
    if (!labels.has(label)) problems.push(`has the label ${label}, which is not on the list`);
  return problems.map((problem) => `${name} ${problem}`);
}

test('every metric follows the rules', () => {
  const { registry } = createMetrics();
  const seen = registry.getMetricsAsArray() as unknown as Seen[];
  expect(seen.length).toBeGreaterThan(40);
  expect(seen.flatMap(problemsOf)).toEqual([]);
});

test.each<[Partial<Seen>, string]>([
  [{ name: 'outrider_requests', type: 'counter' }, '_total'],
  [{ name: 'outrider_waiting_total', type: 'gauge' }, '_total'],
  [{ name: 'outrider_delay_ms', type: 'gauge' }, 'unit'],
  [{ name: 'outrider_delay_minutes', type: 'gauge' }, 'unit'],
  [{ name: 'outrider_delay', type: 'histogram' }, 'base unit'],
  [{ name: 'outrider_fetch_seconds_count', type: 'gauge' }, 'part of a histogram'],
  [{ name: 'outrider_domains', type: 'gauge', labelNames: ['host'] }, 'label host'],
  [{ name: 'outrider_domains', type: 'gauge', labelNames: ['url'] }, 'label url'],
  [{ name: 'outriderDomains', type: 'gauge' }, 'lower case'],
  [{ name: 'outrider_domains', type: 'gauge', help: ' ' }, 'no help'],
])('the rules refuse %j', (metric, words) => {
  const problems = problemsOf({ name: 'x', help: 'Words.', type: 'gauge', labelNames: [], ...metric });
  expect(problems.join()).toContain(words);
});

test('a scrape has help and type for every metric', async () => {
  const { registry } = createMetrics();
  const text = await registry.metrics();
  for (const { name } of registry.getMetricsAsArray()) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    expect(text).toMatch(new RegExp(`^# TYPE ${name} \\w+$`, 'm'));
  }
});
