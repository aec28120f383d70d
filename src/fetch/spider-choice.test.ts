import { describe, expect, it } from 'vitest';
import { makeLeasedUrl } from '../../test/setup/page-response.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import type { PageFacts, SpiderLink } from '../ingest/index.ts';
import { Site } from '../sites/index.ts';
import type { SourceSettings } from '../sources/index.ts';
import { unknownShape } from '../url/index.ts';
import { chooseLinks, nextPageItem } from './spider-choice.ts';

const link = (path: string, change: Partial<SpiderLink> = {}): SpiderLink => ({
  url: `https://a.test${path}`,
  kind: 'article',
  reason: 'dated path',
  isHeadline: true,
  inNav: false,
  external: false,
  ...change,
});
const article = link('/2024/06/05/a-story-of-note');
const section = link('/politics/', { kind: 'listing', reason: 'section root' });
const elsewhere = link('', { url: 'https://b.test/2024/06/05/a-story', external: true });
const unknown = link('/short-name', { kind: 'other', reason: unknownShape });

function choose(
  links: SpiderLink[],
  {
    row = {},
    settings = {},
    site = new Site(),
  }: { row?: Partial<LeasedUrl>; settings?: SourceSettings; site?: Site } = {},
) {
  const of = makeLeasedUrl({
    url: 'https://a.test/',
    kind: 'listing',
    origin: 'spider',
    sourceId: 7,
    executionId: 99n,
    ...row,
  });
  const page: PageFacts = { url: of.url, kind: 'listing', links, refused: { off_domain: 2 }, pagers: [] };
  const choice = chooseLinks(site, { row: of, rules: { priority: 5, settings }, page, pagers: true });
  return { items: choice.items, refused: Object.fromEntries(choice.refused), samples: [...choice.samples] };
}

it('articles go before listings, what nobody knows after them, other sites last', () => {
  const { items, samples, refused } = choose([article, section, elsewhere, unknown]);
  expect(items.map((one) => [one.url, one.kind, one.priority, one.own])).toEqual([
    [article.url, 'article', 5, true],
    [section.url, 'listing', 3, true],
    [elsewhere.url, 'article', 3, false],
    [unknown.url, 'article', 4, true],
  ]);
  for (const one of items)
    expect(one).toMatchObject({
      origin: 'spider',
      sourceId: 7,
      depth: 1,
      executionId: 99n,
      parentUrl: 'https://a.test/',
    });
  expect(samples).toEqual([unknown.url]);
  expect(refused).toEqual({ off_domain: 2 });
});

it('a listing that has proven something goes where listings go', () => {
  const site = new Site();
  site.traps.learn(section.url, { content: true, news: true }, 0);
  expect(choose([section], { site }).items[0]!.priority).toBe(4);
});

it('what an archive lists comes last', () => {
  expect(choose([article], { row: { origin: 'archive' } }).items).toMatchObject([
    { origin: 'archive', priority: 1 },
  ]);
});

describe('depth', () => {
  it.each([
    ['unset is three', undefined, 2, 1],
    ['and no more', undefined, 3, 0],
    ['0 is unset', 0, 3, 0],
    ['-1 has no end', -1, 300, 1],
    ['one', 1, 1, 0],
  ])('%s', (_name, maxDepth, depth, count) => {
    const settings = maxDepth === undefined ? {} : { maxDepth };
    const { items, refused } = choose([article], { row: { depth }, settings });
    expect(items).toHaveLength(count);
    if (count === 0) expect(refused.depth).toBe(1);
  });
});

it('what is left is counted by its reason', () => {
  const site = new Site();
  for (const path of ['/c?a=1', '/c?a=2', '/c?a=3'])
    site.traps.learn(`https://a.test${path}`, { content: false, news: false }, 0);
  site.pagination.learnPagers([
    { base: '/', form: '?page={N}', page: 1, evidence: 2, highest: 3, next: 'https://a.test/?page=2' },
  ]);
  const { items, refused } = choose(
    [
      link('/c?a=4', { kind: 'other', reason: unknownShape }),
      link('/?page=2', { kind: 'listing' }),
      link('/about', { kind: 'other', reason: 'static page' }),
      link('/x', { kind: 'other', reason: 'learned shape /{w}' }),
      link('/'),
    ],
    { site },
  );
  expect(items).toEqual([]);
  expect(refused).toEqual({ off_domain: 2, trap: 1, pager: 1, static_page: 1, learned_other: 1 });
});

it('a further page is as deep as its listing, and is read again when it is known', () => {
  const row = makeLeasedUrl({ url: 'https://a.test/', depth: 2, origin: 'spider', executionId: 5n });
  const of = { row, rules: { priority: 5, settings: {} } };
  const at = { parentUrl: row.url, nowMs: 1000 };
  expect(nextPageItem(of, { url: 'https://a.test/?page=2', guessed: true, again: false }, at)).toMatchObject({
    kind: 'listing',
    depth: 2,
    priority: 2,
    executionId: 5n,
  });
  const again = nextPageItem(of, { url: 'https://a.test/?page=2', guessed: false, again: true }, at);
  expect(again).toMatchObject({ priority: 3, modifiedAt: new Date(1000) });
});
