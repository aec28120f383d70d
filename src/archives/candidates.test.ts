import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArchivePlace, type Remembered, thinkOfPlaces } from './candidates.ts';
import { learnDatePatterns, monthOf, pathsOf } from './date-patterns.ts';

const now = new Date('2026-11-16T12:00:00Z');
const origin = 'https://paper.test';

function places(
  options: {
    sitemaps?: string[];
    seen?: string[];
    told?: Readonly<Record<string, Remembered>>;
    most?: number;
  } = {},
): string[] {
  const { sitemaps = [], seen = [], told = {}, most = 20 } = options;
  const remembered = ({ url }: ArchivePlace): Remembered => told[url.replace(origin, '')] ?? 'new';
  const found: string[] = [];
  for (const { url } of thinkOfPlaces({ origin, sitemaps, seen, now, remembered })) {
    found.push(url.replace(origin, ''));
    if (found.length === most) break;
  }
  return found;
}
const article = (path: string): string[] => [`${origin}${path}one`, `${origin}${path}two`];

describe('dates in addresses', () => {
  const learn = (...urls: string[]) => learnDatePatterns(urls, now);
  it.each([
    [article('/2025/12/'), '/{Y}/{M}/', monthOf(2025, 12)],
    [article('/2025/12/31/'), '/{Y}/{M}/', monthOf(2025, 12)],
    [article('/news/2025/7/3/'), '/news/{Y}/{m}/', monthOf(2025, 7)],
    [article('/en/world/2025-07-03/'), '/en/world/{Y}-{M}/', monthOf(2025, 7)],
    [article('/blog/2024/'), '/blog/{Y}/', monthOf(2024, 1)],
  ])('%s', (urls, template, newest) => {
    expect(learn(...urls)).toEqual([{ template, newest }]);
  });
  it('are no dates when they are of the future, too old, seen once, or all there is', () => {
    expect(learn(...article('/2031/05/'), ...article('/1850/05/'), `${origin}/2025/05/one`)).toEqual([]);
    expect(learn(`${origin}/2025/05/`, `${origin}/2025/04/`, `${origin}/item/20250511`, 'nonsense')).toEqual(
      [],
    );
  });
  it('of hostile addresses take linear time', () => {
    const path = fc.stringMatching(/^(\/[a-z0-9-]{0,6}|\/20\d\d|[/-]1?\d){0,60}$/);
    fc.assert(
      fc.property(fc.array(path, { maxLength: 20 }), (paths) => {
        expect(learn(...paths.map((one) => `${origin}${one}`)).length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 200 },
    );
    expect(learn(`${origin}${'/a-2025-'.repeat(20_000)}`)).toEqual([]);
  });
  it('are walked back month by month and year by year', () => {
    const months = pathsOf({ template: '/{Y}/{M}/', newest: monthOf(2026, 2) });
    expect([months.next().value, months.next().value, months.next().value]).toEqual([
      '/2026/02/',
      '/2026/01/',
      '/2025/12/',
    ]);
    const years = [...pathsOf({ template: '/news/{Y}/', newest: monthOf(2026, 2) })];
    expect(years.slice(0, 2)).toEqual(['/news/2026/', '/news/2025/']);
    expect(years.at(-1)).toBe('/news/1995/');
  });
});

describe('places', () => {
  it('begin with what the site names and what its addresses suggest', () => {
    const sitemaps = [`${origin}/maps/1.xml`];
    expect(places({ sitemaps, seen: article('/2025/12/') })).toEqual([
      '/maps/1.xml',
      '/2025/12/',
      '/sitemap.xml',
      '/sitemap',
      '/archive',
      '/archives',
      '/2026/',
      '/news/2026/',
    ]);
  });
  it('without any hint are the usual ones', () => {
    expect(places()).toEqual([
      '/sitemap.xml',
      '/sitemap',
      '/archive',
      '/archives',
      '/2026/',
      '/2026/11/',
      '/news/2026/',
    ]);
  });
  it('that were tried are not thought of again, unless it is time', () => {
    const told = {
      '/sitemap.xml': 'failed',
      '/archive': 'worked',
      '/sitemap': 'due',
      '/archives': 'known',
    } as const;
    expect(places({ told, most: 2 })).toEqual(['/sitemap', '/2026/']);
  });
  it('of a pattern that works go back in time, and stop where nothing is', () => {
    const seen = article('/2025/12/');
    expect(places({ seen, told: { '/2025/12/': 'worked' }, most: 3 })).toEqual([
      '/2025/11/',
      '/2025/10/',
      '/2025/09/',
    ]);
    expect(places({ seen, told: { '/2025/12/': 'asked' } })).not.toContain('/2025/11/');
    const told = {
      '/2025/12/': 'worked',
      '/2025/11/': 'failed',
      '/2025/10/': 'failed',
      '/2025/09/': 'failed',
    } as const;
    expect(places({ seen, told })[0]).toBe('/sitemap.xml');
  });
  it('of a pattern whose months are not there are its years', () => {
    const seen = article('/news/2025/12/');
    expect(places({ seen, told: { '/news/2025/12/': 'failed' } })[0]).toBe('/news/2025/');
    const told = { '/news/2025/12/': 'failed', '/news/2025/': 'worked' } as const;
    expect(places({ seen, told })[0]).toBe('/news/2024/');
  });
  it('of a hostile robots.txt end', () => {
    const sitemaps = Array.from({ length: 1000 }, (_, n) => `${origin}/${n}.xml`);
    expect(places({ sitemaps, most: 2000 }).length).toBeLessThan(200);
  });
});
