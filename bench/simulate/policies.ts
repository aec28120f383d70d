/** A policy to compare: what it changes of the product, by the names that `--set` takes. */
export type Policy = {
  name: string;
  says: string;
  changes: readonly (readonly [string, string])[];
  /** There is more to do than can be done at busy hours: that domains wait is what it shows. */
  isScarce?: true;
};

const fixed = (minutes: number): Policy['changes'] => [
  ['switch.adaptive_intervals', 'off'],
  ['polling.feed_interval_minutes', String(minutes)],
];

// Seats for nearly all there is to do and no more: only then does an order of leases show.
const tight = (domains: number, order: string): Policy['changes'] => [
  ['fetchers', '1'],
  ['fetch.domains_at_once', String(Math.max(1, Math.round(domains / 1000)))],
  ['lease.order', order],
];

/** Policies by name, for a web of so many domains. */
export function listPolicies(domains: number): readonly Policy[] {
  return [
    { name: 'product', says: 'as it comes', changes: [] },
    { name: 'fixed-15', says: 'every feed every 15 minutes', changes: fixed(15) },
    { name: 'fixed-60', says: 'every feed every hour', changes: fixed(60) },
    {
      name: 'narrow',
      says: 'adaptive between a third and 1.5 intervals',
      changes: [
        ['polling.max_intervals', '1.5'],
        ['polling.min_intervals', '0.33'],
      ],
    },
    { name: 'wide', says: 'adaptive up to 8 intervals', changes: [['polling.max_intervals', '8']] },
    {
      name: 'adaptive-60',
      says: 'adaptive around an hour',
      changes: [['polling.feed_interval_minutes', '60']],
    },
    { name: 'no-hubs', says: 'no hub pushes', changes: [['websub', 'off']] },
    { name: 'fetchers-1', says: 'one fetcher', changes: [['fetchers', '1']] },
    { name: 'fetchers-16', says: 'sixteen fetchers', changes: [['fetchers', '16']] },
    {
      name: 'tight-level',
      says: 'scarce fetchers, best level first (the product)',
      changes: tight(domains, 'level'),
      isScarce: true,
    },
    {
      name: 'tight-fifo',
      says: 'scarce fetchers, longest waiting first',
      changes: tight(domains, 'fifo'),
      isScarce: true,
    },
    {
      name: 'tight-random',
      says: 'scarce fetchers, any due domain',
      changes: tight(domains, 'random'),
      isScarce: true,
    },
  ];
}
