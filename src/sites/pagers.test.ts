import { describe, expect, it } from 'vitest';
import { firstAddress, formOf, pageAddress, parseForm } from './pager-forms.ts';
import { inferPagers, type PagerLink } from './pagers.ts';

const link = (path: string, text = '', more: Partial<PagerLink> = {}): PagerLink => ({
  url: `https://a.test${path}`,
  text,
  rel: null,
  inNav: false,
  ...more,
});
const infer = (path: string, ...links: PagerLink[]) =>
  inferPagers(`https://a.test${path}`, links).map(({ base, form, page, highest, next }) => [
    base,
    form,
    page,
    highest,
    next?.replace('https://a.test', '') ?? null,
  ]);

describe('a pager', () => {
  it.each([
    [
      'two siblings',
      '/news/',
      [link('/news/?page=2', '2'), link('/news/?page=3', '3')],
      ['/news', '?page={N}', 1, 3, '/news/?page=2'],
    ],
    [
      'in the path',
      '/news/',
      [link('/news/page/2', '2'), link('/news/page/40/', '40')],
      ['/news', '/page/{N}', 1, 40, '/news/page/2'],
    ],
    [
      'on a further page',
      '/page/3',
      [link('/page/2', '2'), link('/page/4', '4')],
      ['/', '/page/{N}', 3, 4, '/page/4'],
    ],
    ['by p', '/', [link('/?p=2', '2'), link('/?p=3', '3')], ['/', '?p={N}', 1, 3, '/?p=2']],
    [
      'by what is skipped',
      '/n',
      [link('/n?offset=20', '2'), link('/n?offset=60', '4')],
      ['/n', '?offset={20N}', 1, 4, '/n?offset=20'],
    ],
    [
      'counted from zero',
      '/n',
      [link('/n?page=1', '2'), link('/n?page=2', '3')],
      ['/n', '?page={N-1}', 1, 3, '/n?page=1'],
    ],
    [
      'by another name that says its numbers',
      '/n',
      [link('/n?blatt=2', '2'), link('/n?blatt=3', '3')],
      ['/n', '?blatt={N}', 1, 3, '/n?blatt=2'],
    ],
    [
      'rel=next alone',
      '/n',
      [link('/n?pos=2', 'more', { rel: 'next' })],
      ['/n', '?pos={N}', 1, 2, '/n?pos=2'],
    ],
    [
      'one link to the next page by the word page',
      '/n',
      [link('/n?page=2', 'Older stories')],
      ['/n', '?page={N}', 1, 2, '/n?page=2'],
    ],
    [
      'the last page',
      '/n?page=5',
      [link('/n?page=4', '4'), link('/n?page=3', '3')],
      ['/n', '?page={N}', 5, 5, null],
    ],
    [
      'beside other parameters',
      '/n?q=a',
      [link('/n?q=a&page=2', '2'), link('/n?page=3&q=a', '3')],
      ['/n?q=a', '?page={N}', 1, 3, '/n?q=a&page=2'],
    ],
    [
      'www and apex are one site',
      '/',
      [link('/?page=2', '2', { url: 'https://www.a.test/?page=2' }), link('/?page=3', '3')],
      ['/', '?page={N}', 1, 3, 'https://www.a.test/?page=2'],
    ],
    [
      'files below the listing',
      '/n/',
      [link('/n/list_7_2.html', '2'), link('/n/list_7_3.html', '3')],
      ['/n', '/list_7_{N}.html', 1, 3, '/n/list_7_2.html'],
    ],
    [
      'one step to the second of them',
      '/n/',
      [link('/n/list_7_2.html', '下一页')],
      ['/n', '/list_7_{N}.html', 1, 2, '/n/list_7_2.html'],
    ],
    [
      'files that count from zero',
      '/n/',
      [link('/n/index_1.html', '2'), link('/n/index_2.html', '3')],
      ['/n', '/index_{N-1}.html', 1, 3, '/n/index_1.html'],
    ],
    [
      "behind the listing's own name",
      '/n/a.html',
      [link('/n/a-2.html', '2'), link('/n/a-3.html', '3')],
      ['/n/a.html', '-{N}.html', 1, 3, '/n/a-2.html'],
    ],
    ['behind a name without an ending', '/a', [link('/a-p2', 'Next >')], ['/a', '-p{N}', 1, 2, '/a-p2']],
    [
      'numbers and steps by any name',
      '/n/p6',
      [link('/n/p5', '‹'), link('/n/p1', '1'), link('/n/p7', '7'), link('/n/p204', '204')],
      ['/n', '/p{N}', 6, 204, '/n/p7'],
    ],
    [
      'with parameters that the first page goes without',
      '/n?f=4',
      [link('/n?f=4&page=2&order=desc', '2'), link('/n?f=4&page=3&order=desc', '3')],
      ['/n?f=4&order=desc', '?page={N}', 1, 3, '/n?f=4&page=2&order=desc'],
    ],
    [
      'counted from zero where 1 comes next',
      '/n',
      [link('/n?page=1', '', { rel: 'next' })],
      ['/n', '?page={N-1}', 1, 2, '/n?page=1'],
    ],
    [
      'pages by the name of what is skipped',
      '/n',
      [link('/n?start=1', '1'), link('/n?start=2', '2'), link('/n?start=3', '3')],
      ['/n', '?start={N}', 1, 3, '/n?start=2'],
    ],
  ] as const)('%s', (_name, path, links, pager) => {
    expect(infer(path, ...links)).toEqual([pager]);
  });
});

describe('no pager', () => {
  it.each([
    ['a single number is an article', '/', [link('/?p=123', 'A story')]],
    ['nor are two of them', '/', [link('/?p=123', 'A story of note'), link('/?p=124', 'Another story')]],
    ['numbered articles', '/', [link('/story?id=17', 'A story'), link('/story?id=18', 'Another')]],
    ['pages of another listing', '/', [link('/news/?page=2', '2'), link('/news/?page=3', '3')]],
    ['the days of a calendar', '/c/2026/01', [link('/c/2026/01/1', '1'), link('/c/2026/01/2', '2')]],
    ['nor with their month', '/c', [link('/c/2026-01-2', '2'), link('/c/2026-01-3', '3')]],
    ['nor by a parameter', '/c', [link('/c?month=3&day=2', '2'), link('/c?month=3&day=3', '3')]],
    ['years', '/c?y=2025', [link('/c?y=2024', '2024'), link('/c?y=2026', '2026')]],
    ['sizes of a page', '/n', [link('/n?limit=20', '20'), link('/n?limit=40', '40')]],
    [
      'articles in a sidebar',
      '/',
      [15, 16, 17].map((id) => link(`/?p=${id}`, 'What was read most of all', { inNav: true })),
    ],
    [
      'pages of the threads of a board',
      '/n/',
      [link('/n/7-a.html', 'A thread'), link('/n/7-a-2.html', '2'), link('/n/7-a-3.html', '3')],
    ],
    ['another site', '/', [link('', '2', { url: 'https://b.test/?page=2' })]],
    ['one page far away', '/n', [link('/n?page=9', 'nine')]],
    [
      'one of very many parameters',
      '/n',
      [2, 3].map((n) => link(`/n?page=${n}${'&a=1'.repeat(20)}`, `${n}`)),
    ],
    ['no links', '/n', []],
  ] as const)('%s', (_name, path, links) => {
    expect(infer(path, ...links)).toEqual([]);
  });
});

it.each([
  ['/n', '/a_{N}.html', []],
  ['/n/a.html', '_{N}.html', [link('/n/a.html', '1')]],
] as const)('a_3.html is most likely a page of %s', (base, form, first) => {
  const pages = [link('/n/a_2.html', '2'), link('/n/a_4.html', '4')];
  expect(infer('/n/a_3.html', ...pages, ...first)[0]?.slice(0, 2)).toEqual([base, form]);
});

it.each([
  ['?page={N}', 'https://a.test/n?page=3'],
  ['?page={N-1}', 'https://a.test/n?page=2'],
  ['?offset={20N}', 'https://a.test/n?offset=40'],
  ['/page/{N}', 'https://a.test/n/page/3'],
  ['/seite-{N}', 'https://a.test/n/seite-3'],
  ['/list_7_{N}.html', 'https://a.test/n/list_7_3.html'],
  ['/index_{N-1}.html', 'https://a.test/n/index_2.html'],
  ['-{N}.html', 'https://a.test/n-3.html'],
])('%s makes the third page and finds the first again', (form, third) => {
  expect(formOf(parseForm(form)!)).toBe(form);
  const numbering = { base: '/n', form };
  expect(pageAddress('https://a.test/n', numbering, 3)).toBe(third);
  expect(firstAddress(third, numbering)?.replace(/\/$/, '')).toBe('https://a.test/n');
});
