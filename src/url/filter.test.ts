import { describe, expect, it } from 'vitest';
import { classifyUrl, decideUrlFilter, identifyUrl, parseUrlPattern, type UrlFilterRules } from './index.ts';

function filter(url: string, rules: UrlFilterRules = {}): string {
  const result = identifyUrl(url);
  if (result.outcome !== 'ok') return result.reason;
  const decision = decideUrlFilter(result.identity, rules);
  return decision.outcome === 'pass' ? 'pass' : decision.reason;
}

describe('decideUrlFilter', () => {
  const rows: [string, UrlFilterRules, string][] = [
    ['https://example.com/2024/05/a-story', {}, 'pass'],
    ['https://example.com/a.PDF', {}, 'binary_extension'],
    ['https://example.com/a.pdf', { allowExtensions: ['.pdf'] }, 'pass'],
    ['https://example.com/a.xyz', { denyExtensions: ['xyz'] }, 'binary_extension'],
    ['https://example.com/v1.2/story', {}, 'pass'],
    ['https://example.com/story.html', {}, 'pass'],
    ['https://other.example/a', { domains: ['example.com'] }, 'off_domain'],
    ['https://www.example.com/a', { domains: ['example.com'] }, 'pass'],
    ['https://other.example/a', { domains: ['example.com'], allowLeaving: true }, 'pass'],
    ['https://example.com/wp-login.php', {}, 'utility_path'],
    ['https://example.com/shop/cart', {}, 'utility_path'],
    ['https://example.com/wp-content/uploads/x', {}, 'utility_path'],
    ['https://cdn.example.com/x', {}, 'utility_path'],
    ['https://apps.apple.com/app/x', {}, 'utility_path'],
    ['https://example.com/shop/cart', { allowUtilityPaths: true }, 'pass'],
    ['https://example.com/a/b/a/b/a/b', {}, 'repeated_segment'],
    ['https://example.com/2011/11/11/11', {}, 'pass'],
    [`https://example.com/${Array.from({ length: 17 }, (_, i) => `s${i}`).join('/')}`, {}, 'too_deep'],
    [
      `https://example.com/?${Array.from({ length: 13 }, (_, i) => `p${i}`).join('&')}`,
      {},
      'too_many_parameters',
    ],
    ['https://example.com/a', { exclude: ['/a$'] }, 'excluded'],
    ['https://example.com/a', { include: ['^https://example\\.com/b'] }, 'not_included'],
    ['https://example.com/b', { include: ['/x', '/b'] }, 'pass'],
    ['https://example.com/b', { exclude: ['('] }, 'pass'],
  ];
  it.each(rows)('%s %o', (url, rules, expected) => expect(filter(url, rules)).toBe(expected));

  it('says why a pattern cannot be used, and hangs on none', () => {
    expect(parseUrlPattern('/news/')).toEqual({ outcome: 'ok' });
    expect(parseUrlPattern('(').outcome).toBe('invalid');
    expect(parseUrlPattern('x'.repeat(1001)).outcome).toBe('invalid');
    // A backtracking engine needs 2^1900 steps here.
    expect(filter(`https://example.com/${'a'.repeat(1900)}!`, { exclude: ['(a+)+$'] })).toBe('pass');
  });
});

describe('classifyUrl', () => {
  it.each([
    ['https://example.com/', 'listing', 'front page'],
    ['https://example.com/?p=123', 'article', 'post number'],
    ['https://example.com/2024/05/06/some-slug', 'article', 'dated path'],
    ['https://example.com/2024/05/slug', 'article', 'dated path'],
    ['https://example.com/news/2024/may/06/slug/', 'article', 'dated path'],
    ['https://example.com/2024-05-06/slug', 'article', 'dated path'],
    ['https://example.com/leadership/how-it-came-to-this/2024/05', 'article', 'dated path'],
    ['https://example.com/all-sections/2024/05', 'listing', 'date archive'],
    ['https://example.com/2024/05/', 'listing', 'date archive'],
    ['https://example.com/2024', 'listing', 'date archive'],
    ['https://example.com/2024/mayor-elected', 'other', 'no known shape'],
    ['https://example.com/news', 'listing', 'section root'],
    ['https://example.com/sport/football/', 'listing', 'section root'],
    ['https://example.com/politics/short', 'article', 'section and more'],
    ['https://example.com/lokales/brand', 'article', 'section and more'],
    ['https://example.com/why-the-sea-is-salt', 'article', 'long slug'],
    ['https://example.com/three-word-slug', 'other', 'no known shape'],
    ['https://example.com/tag/some-long-tag-name-here', 'listing', 'listing folder'],
    ['https://example.com/category/world/', 'listing', 'listing folder'],
    ['https://example.com/author/jane-doe', 'listing', 'listing folder'],
    ['https://example.com/news/page/2', 'listing', 'page number'],
    ['https://example.com/about/how-we-use-your-data', 'other', 'static page'],
    ['https://example.com/news/photo.jpg', 'other', 'file extension'],
    ['nonsense', 'other', 'not a web address'],
  ])('%s', (url, kind, reason) => {
    expect(classifyUrl(url, { sections: ['lokales'] })).toEqual({ kind, reason });
  });

  it('asks the source first, then what was learned', () => {
    const source = {
      articlePatterns: ['/x/\\d+'],
      learned: { '/y/{m}': 'article', '/{y}/{m}/{m}/{w}': 'listing', '/{w}': 'article' },
    } as const;
    expect(classifyUrl('https://example.com/x/1', source).reason).toBe('source pattern /x/\\d+');
    expect(classifyUrl('https://example.com/y/1', source).kind).toBe('article');
    expect(classifyUrl('https://example.com/2024/05/06/slug', source).kind).toBe('listing');
    // Words that say what they are are heard before what pages of a like shape were.
    expect(classifyUrl('https://example.com/about', source)).toEqual({
      kind: 'other',
      reason: 'static page',
    });
    expect(classifyUrl('https://example.com/foo', source).kind).toBe('article');
  });
});
