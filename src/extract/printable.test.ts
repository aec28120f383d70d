import { expect, test } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './index.ts';
import { printable } from './printable.ts';

test.each([
  ['plain\ttext\n\nof lines', 'plain\ttext\n\nof lines'],
  ['a\u0000b\u001b]0;owned\u0007c', 'ab]0;ownedc'],
  ['price\u202egnp.exe', 'pricegnp.exe'],
  ['\u0085\u2067name\u2069 ', 'name'],
  ['שלום\u200f!', 'שלום\u200f!'],
  ['\u0001x'.repeat(30), '\ufffdx'.repeat(30)],
])('%j reads %j', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('nothing that a page says moves a terminal or turns a line around', () => {
  const evil = '&#27;]0;owned&#7;\u001b[31m\u202eevil&#8238;';
  const prose = Array.from(
    { length: 6 },
    (_, i) => `<p>${evil}On day ${i} the harbour was closed, and the ferries stayed where they were.</p>`,
  ).join('');
  const html = `<title>Storm${evil}</title><meta name="author" content="Ada ${evil}Lund"><meta name="description" content="It blew ${evil}.">
    <meta property="article:section" content="News${evil}"><meta name="keywords" content="storm${evil},coast">
    <h1>Storm${evil}</h1>${prose}<pre><code>ls ${evil}\n  -l</code></pre>`;
  const got = extractPage(parsePage(html, { url: 'https://news.test/storm' }));
  const { title, text, authors, description, section, keywords } = got;
  expect(text).toContain('the harbour was closed');
  expect(JSON.stringify({ title, text, authors, description, section, keywords })).not.toMatch(
    /\\u00[01]|\u202e|\u001b/i,
  );
});
