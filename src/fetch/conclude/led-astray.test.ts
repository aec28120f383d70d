import { expect, test } from 'vitest';
import type { LeasedUrl } from '../../frontier/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { decideLedAstray } from './led-astray.ts';
import { concludePage } from './page.ts';
import type { RowContext } from './row-end.ts';

const url = 'https://www.daily.test/news/2026/storm-hits-coast';
const facts = { tries: 0, maxTries: 5 };

/** What it means that a page at one address led to another. */
function ledTo(to: string, { from = url, kind = 'article', isLasting = true }: Partial<Led> = {}) {
  const identified = identifyUrl(to);
  if (identified.outcome === 'rejected') throw new Error(`${to} is no address`);
  const row = { url: from, kind, tries: 0 } as LeasedUrl;
  const { verdict, domain } = decideLedAstray(row, { to: identified.identity, isLasting }, facts) ?? {};
  return verdict && `${verdict.status} ${verdict.errorCode} ${domain?.signal}`;
}
type Led = { from: string; kind: LeasedUrl['kind']; isLasting: boolean };

const home = 'dead led_to_listing neutral';
const gate = 'failed login_wall refused';

test.each([
  ['https://www.daily.test/', home],
  ['https://www.daily.test/?utm_source=gone', home],
  ['https://sold.test/en/', home],
  ['https://www.daily.test/?p=1234', undefined],
  ['https://www.daily.test/news/storm-hits-the-coast', undefined],
  ['https://www.daily.test/login?next=/news/2026/storm-hits-coast', gate],
  [
    'https://accounts.daily.test/authorize?return=https%3A%2F%2Fwww.daily.test%2Fnews%2F2026%2Fstorm-hits-coast',
    gate,
  ],
  [
    'https://group.test/consent?callback=https%3a%2f%2fwww.daily.test%2fgate%3fto%3d%252fnews%252f2026%252fstorm-hits-coast',
    gate,
  ],
  ['https://www.daily.test/login?why=%E0%A4%A&next=%2Fnews%2F2026%2Fstorm-hits-coast', gate],
  ['https://consent.group.test/collect?session=3_cc-session_1', gate],
  ['https://myprivacy.group.test/consent', gate],
  // No way back, or nobody who asks for anything.
  ['https://www.daily.test/consent/what-it-means', undefined],
  ['https://www.daily.test/storm?from=/news/2026/storm-hits-coast', undefined],
  ['https://www.daily.test/login?next=%E0%A4%A', undefined],
])('to %s: %s', (to, expected) => {
  expect(ledTo(to)).toBe(expected);
});

test('a temporary way home is taken once more, then it is one', () => {
  expect(ledTo('https://www.daily.test/', { isLasting: false })).toBe('failed led_to_listing neutral');
  const row = { url, kind: 'article', tries: 1 } as LeasedUrl;
  const identified = identifyUrl('https://www.daily.test/');
  if (identified.outcome === 'rejected') throw new Error('no address');
  const { verdict } = decideLedAstray(
    row,
    { to: identified.identity, isLasting: false },
    { ...facts, tries: 1 },
  )!;
  expect(verdict).toMatchObject({ status: 'dead', errorCode: 'led_to_listing', tries: 2 });
});

test.each<Partial<Led>>([
  { kind: 'listing' },
  { kind: 'image' },
  { from: 'http://daily.test/' },
  { from: 'https://daily.test/en' },
])('%j may lead to a front page', (led) => {
  expect(ledTo('https://www.daily.test/', led)).toBeUndefined();
});

test('a listing has gates before it too, an image has none, and a gate that was asked for is none', () => {
  expect(ledTo('https://consent.group.test/collect', { kind: 'listing', from: 'https://daily.test/' })).toBe(
    gate,
  );
  expect(ledTo('https://consent.group.test/collect', { kind: 'image' })).toBeUndefined();
  const from = 'https://www.daily.test/login';
  expect(ledTo('https://www.daily.test/user/login?next=/login', { from })).toBeUndefined();
});

test.each([
  ['https://www.daily.test/login?next=/news/2026/storm-hits-coast', 1, 'login_wall'],
  ['https://www.daily.test/private/storm', 1, 'robots_blocked'],
  [url, 0, 'robots_blocked'],
])('robots.txt forbids %s, %i redirects away: %s', async (forbidden, hops, code) => {
  const row = { url, kind: 'article', tries: 0 } as LeasedUrl;
  const gate = {
    answer: 'blocked',
    line: 3,
    rule: 'Disallow: /',
    everywhere: false,
    crawlDelayMs: null,
  } as const;
  const end = await concludePage(row, { end: 'gate', gate, url: forbidden, hops }, {
    maxTries: 5,
    probing: false,
  } as RowContext);
  expect(end.items[0]).toMatchObject({ errorCode: code });
});
