import { expect, test } from 'vitest';
import type { IngestSettings, PageResponse } from '../../ingest/index.ts';
import { readArticle } from './article-pages.ts';
import type { FurtherPage, FurtherPages } from './row-end.ts';

const settings: IngestSettings = {
  source: null,
  channel: null,
  minWords: 50,
  minBodyBytes: 500,
  keepHtml: 'none',
  sitemapMaxAgeMs: 0,
  nowMs: 0,
};
const things = ['lamps', 'ferries', 'bridges', 'gardens', 'mills'];
const textOf = (page: number): string =>
  Array.from(
    { length: 3 },
    (_, n) =>
      `On page ${page} the keepers of the ${things[page - 1]} told in part ${n} how they had lit them by hand every night until the last of them left, and nobody replaced her.`,
  )
    .map((text) => `<p>${text}</p>`)
    .join('');

function response(
  page: number,
  of: number,
  change: { title?: string; text?: string; byline?: string } = {},
): PageResponse {
  const url = `https://a.test/the-keepers-of-the-harbour${page === 1 ? '' : `?page=${page}`}`;
  const links = Array.from({ length: of }, (_, n) => `<a href="?page=${n + 1}">${n + 1}</a>`).join(' ');
  const {
    title = 'The keepers of the harbour tell',
    text = textOf(page),
    byline = '<p>By Ida Holm, 17 May 2024</p>',
  } = change;
  const html = `<html><title>${title}</title><body><article><h1>${title}</h1>${byline}${text}</article><div class="pages">${links}</div></body></html>`;
  return {
    row: {
      kind: 'article',
      url,
      hash: Buffer.alloc(32),
      origin: 'feed',
      sourceId: null,
      depth: 0,
    } as PageResponse['row'],
    finalUrl: url,
    finalHash: Buffer.alloc(32),
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(html),
    wireBody: null,
    contentEncoding: null,
    ...(page === 1 ? {} : { articlePage: page }),
  };
}

async function read(
  of: number,
  answer: (page: number) => FurtherPage,
  first: PageResponse = response(1, of),
) {
  const asked: string[] = [];
  const noted: boolean[] = [];
  const further: FurtherPages = {
    ask: (url, page) => {
      asked.push(url.replace(/^.*\?/, ''));
      return Promise.resolve(answer(page));
    },
    note: (isPage) => void noted.push(isPage),
  };
  const { ingested, missing } = await readArticle(first, { settings, further });
  if (ingested.outcome !== 'document') throw new Error(ingested.outcome);
  const { text, meta, wordCount } = ingested.document;
  const { pages } = (meta as { evidence: Record<string, string> }).evidence;
  const parts = [1, 2, 3, 4, 5].filter((page) => text.includes(`On page ${page} `));
  return { asked, noted, isWhole: missing === null, pages, parts, wordCount };
}
const given = (page: number, of: number, change = {}) =>
  ({ outcome: 'page', response: response(page, of, change) }) as const;

test('all pages become one text, in their order', async () => {
  const one = await read(1, () => ({ outcome: 'none' }));
  expect(one).toMatchObject({ asked: [], isWhole: true, pages: undefined, parts: [1] });
  const three = await read(3, (page) => given(page, 3));
  expect(three).toMatchObject({
    asked: ['page=2', 'page=3'],
    noted: [true, true],
    isWhole: true,
    pages: '3',
    parts: [1, 2, 3],
    wordCount: one.wordCount * 3,
  });
});

test('what does not come now is missing, what is not there is not', async () => {
  for (const [answer, isWhole] of [
    [{ outcome: 'later', result: null }, false],
    [{ outcome: 'none' }, true],
  ] as const)
    expect(await read(3, (page) => (page === 2 ? given(2, 3) : answer))).toMatchObject({
      isWhole,
      pages: '2',
      parts: [1, 2],
      noted: [true],
    });
});

test.each([
  ['another article', { title: 'Of something else entirely' }],
  ['the one of another year', { title: 'The keepers of the harbour tell 2024' }],
  ['the same page again', { text: textOf(1) }],
  ['nothing', { text: '' }],
])('%s is no page of it', async (_name, change) => {
  expect(await read(2, () => given(2, 2, change))).toMatchObject({
    pages: undefined,
    parts: [1],
    noted: [false],
    isWhole: true,
  });
});

test.each(['The keepers of the harbour tell (2/3)', 'The keepers of the harbour tell - Page 2'])(
  'a title says which page it is of: %s',
  async (title) => {
    expect(await read(2, () => given(2, 2, { title }))).toMatchObject({ parts: [1, 2] });
  },
);

test('what nobody signed is read no further, but who signs signs once', async () => {
  expect(await read(3, (page) => given(page, 3, { byline: '' }))).toMatchObject({ parts: [1, 2, 3] });
  const { asked } = await read(3, (page) => given(page, 3), response(1, 3, { byline: '' }));
  expect(asked).toEqual([]);
});

test('more than ten pages are not read', async () => {
  const { asked, pages } = await read(14, (page) => given(page, 14));
  expect([asked.length, asked.at(-1), pages]).toEqual([9, 'page=10', '10']);
});
