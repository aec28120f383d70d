import { expect, test } from 'vitest';
import { headerRefreshTarget, parsePage, refreshTarget } from './index.ts';

const url = 'https://news.test/old/story?id=1';
const meta = (content: string): string => `<meta http-equiv="refresh" content="${content}">`;

test.each([
  [meta('0; url=https://other.test/new'), 'https://other.test/new'],
  [meta('0;URL=/new'), 'https://news.test/new'],
  [meta("5; url='/new page'"), 'https://news.test/new%20page'],
  [meta('1,/new'), 'https://news.test/new'],
  [meta('0.5 ;  Url = new'), 'https://news.test/old/new'],
  [`<base href="/deep/">${meta('0; url=new')}`, 'https://news.test/deep/new'],
  ['<META HTTP-EQUIV=Refresh CONTENT=0;url=/new>', 'https://news.test/new'],
  [meta('0; url=&quot;/new&quot;'), 'https://news.test/new'],
  [meta('60') + meta('0; url=/new'), 'https://news.test/new'],
  // Itself again, later, never, nowhere.
  [meta('0; url=/old/story?id=1#top'), null],
  [meta('5'), null],
  [meta('300; url=/new'), null],
  [meta('soon; url=/new'), null],
  [meta('0; url=javascript:alert(1)'), null],
  [meta(`0; url=${'x'.repeat(5000)}`), null],
  [`<noscript>${meta('0; url=/no-scripts')}</noscript>`, null],
  ['<meta name="refresh" content="0; url=/new">', null],
])('%s leads to %s', (html, expected) => {
  expect(refreshTarget(parsePage(`<html><head>${html}</head><body>moved</body></html>`, { url }))).toBe(
    expected,
  );
});

test.each([
  ['0; url=/new', 'https://news.test/new'],
  ['3;URL=https://other.test/new', 'https://other.test/new'],
  ['300', null],
  ['300; url=/new', null],
  ['0; url=/old/story?id=1', null],
  ['0; url=javascript:alert(1)', null],
  ['', null],
  [undefined, null],
])('a header %s leads to %s, with a page and without', (header, expected) => {
  expect(headerRefreshTarget(header, url)).toBe(expected);
  const page = parsePage(`<base href="/deep/">${meta('1; url=later')}`, { url });
  expect(refreshTarget(page, header)).toBe(expected ?? 'https://news.test/deep/later');
});
