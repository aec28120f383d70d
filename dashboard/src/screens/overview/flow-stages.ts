import type { RouteLocationRaw } from 'vue-router';
import type { Answer } from '../../api/client.ts';
import { countText, plural, rateText, totalText } from '../../parts/format.ts';

type Overview = Answer<'getOverview'>;

/** A way out of the flow, beside its end. */
export type Exit = { name: string; count: number; hint: string; to: RouteLocationRaw | null };
/** A place that URLs pass on their way, and how fast they come to it. */
export type Stage = {
  name: string;
  count: string;
  note: string;
  to: RouteLocationRaw;
  /** The pace of what arrives here; null where it begins. */
  pace: string | null;
  exits: Exit[];
};

/** A rate in the unit that reads best. */
export function paceText(perMinute: number | null): string {
  if (perMinute === null) return '–';
  if (perMinute >= 60) return `${rateText(perMinute / 60)}/s`;
  return perMinute > 0 && perMinute < 1 ? `${rateText(perMinute * 60)}/h` : `${rateText(perMinute)}/min`;
}

const urls = (query: Record<string, string>): RouteLocationRaw => ({ path: '/frontier', query });

/** The way of a URL through the house, as it was in the last minutes. */
export function stagesOf({ counts, flow }: Overview): Stage[] {
  const { exits } = flow;
  const minutes = flow.seconds / 60;
  const lately = `in the last ${Math.floor(minutes)} min`;
  const within = (perMinute: number): string => countText(perMinute * minutes);
  // Whatever was tried ends as one of these; what robots.txt forbids is among the dead.
  const tried =
    flow.fetchedPerMinute +
    (exits.redirected + exits.duplicate + exits.failed + exits.needsRender + exits.dead) / minutes;
  return [
    {
      name: 'Discovered',
      count: within(flow.discoveredPerMinute),
      note: lately,
      to: urls({}),
      pace: null,
      exits: [
        { name: 'known', count: exits.known, hint: 'Items of feeds and sitemaps that were known.', to: null },
        { name: 'rejected', count: exits.rejected, hint: 'Items that may not enter.', to: null },
      ],
    },
    {
      name: 'Pending',
      count: countText(counts.pendingUrls),
      note: 'wait now',
      to: urls({ status: 'pending' }),
      pace: paceText(flow.discoveredPerMinute),
      exits: [],
    },
    {
      name: 'Fetching',
      count: countText(counts.fetchingUrls),
      note: `from ${plural(counts.fetchingDomains, 'domain')}`,
      to: { path: '/domains', query: { status: 'active' } },
      pace: paceText(tried),
      exits: [
        {
          name: 'robots',
          count: exits.robotsDenied,
          hint: 'robots.txt forbids them.',
          to: urls({ status: 'dead', reason: 'robots_blocked' }),
        },
        {
          name: 'redirected',
          count: exits.redirected,
          hint: 'They lead elsewhere.',
          to: urls({ status: 'redirected' }),
        },
        {
          name: 'failed',
          count: exits.failed,
          hint: 'They are tried again.',
          to: urls({ status: 'failed' }),
        },
        { name: 'dead', count: exits.dead, hint: 'They were given up.', to: urls({ status: 'dead' }) },
        {
          name: 'needs render',
          count: exits.needsRender,
          hint: 'They show nothing without a browser.',
          to: urls({ status: 'needs_render' }),
        },
      ],
    },
    {
      name: 'Fetched',
      count: within(flow.fetchedPerMinute),
      note: lately,
      to: urls({ status: 'fetched' }),
      pace: paceText(flow.fetchedPerMinute),
      exits: [
        {
          name: 'unchanged',
          count: exits.unchanged,
          hint: 'They were the same as before.',
          to: urls({ status: 'fetched' }),
        },
        {
          name: 'duplicate',
          count: exits.duplicate,
          hint: 'Another address has the same text.',
          to: urls({ status: 'duplicate' }),
        },
      ],
    },
    {
      name: 'Delivered',
      count: flow.deliveredPerMinute === null ? '–' : within(flow.deliveredPerMinute),
      note: flow.sinks === 0 ? 'no sink is on' : `to ${plural(flow.sinks, 'sink')}`,
      to: { path: '/state', query: { tab: 'sinks' } },
      pace: paceText(flow.deliveredPerMinute),
      exits:
        counts.deadLetters.count === 0
          ? []
          : [
              {
                name: `refused, ${totalText(counts.deadLetters)} in all`,
                count: counts.deadLetters.count,
                hint: 'Sinks would not take them.',
                to: { path: '/state', query: { tab: 'sinks' } },
              },
            ],
    },
  ];
}
