import { expect, test } from 'vitest';
import { articleHtml, extractPage } from '../../src/extract/index.ts';
import { discoverFeedLinks, discoverLinks, parsePage, refreshTarget } from '../../src/html/index.ts';
import { nextPageOf } from '../../src/ingest/index.ts';

// Time that grows with the square of the length takes minutes here instead of a moment.
const chars = 600_000;
const url = 'https://lamps.test/a-story-of-lamps';
const sentence =
  'The lamps of the harbour were lit by hand until the last keeper left, and nobody replaced her.';

/** A signed and dated article, as only those are asked for further pages. */
const article = (head: string, body: string): string =>
  `<!doctype html><html><head><title>A story of lamps</title>${head}<meta name="author" content="Ada Lund">
   <meta property="article:published_time" content="2024-05-17"></head>
   <body><h1>A story of lamps</h1>${`<p>${sentence} ${sentence}</p>`.repeat(4)}${body}</body></html>`;

const long = (piece: string): string => piece.repeat(chars / piece.length);

test.each([
  ['a redirect', article(`<meta http-equiv="refresh" content="0${long(' ')}">`, '')],
  ['the width of an image', article('', `<img src="a.jpg" width="1${long(' ')}x">`)],
  ['the height of an image', article('', `<img src="a.jpg" height="1${long('\t')}x">`)],
  [
    'a size in the head',
    article(
      `<meta property="og:image" content="/a.jpg"><meta property="og:image:width" content="1${long(' ')}x">`,
      '',
    ),
  ],
  ['an address with numbers', article('', `<a href="${long('/1&')}#a-story-of-lamps-2">2</a>`)],
  ['the address of a formula', article('', `<img class="latex" alt="x_2" src="${long('codecogs.com/')}">`)],
  [
    'sources of an image',
    article('', `<img src="a.jpg" srcset="${long('a.jpg 1x,')}" sizes="${long('(')}">`),
  ],
  ['a time', article('', `<time datetime="${long('2taa')}">${long('2taa')}</time>`)],
  [
    'classes',
    article('', `<div class="${long('a-b ')}" id="${long('a-')}" style="${long('a:b;')}">${sentence}</div>`),
  ],
])('%s of six hundred thousand characters is read', (_, html) => {
  const page = parsePage(html, { url });
  const extraction = extractPage(page);
  expect(extraction).toMatchObject({ title: 'A story of lamps', authors: ['Ada Lund'] });
  expect(extraction.text).toContain(sentence);
  expect(refreshTarget(page)).toBeNull();
  expect(nextPageOf(page, extraction, { url, page: 1 })).toBeNull();
  discoverLinks(page);
  discoverFeedLinks(page);
  articleHtml(page, { maxBytes: 100_000 });
});
