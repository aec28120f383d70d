import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readable } from '../../dashboard/src/parts/readable.ts';

test.each([
  ['münchen.de', 'münchen.de'],
  ['news.bücher.example', 'news.bücher.example'],
  ['пример.рф', 'пример.рф'],
  ['新闻.中国', '新闻.中国'],
  ['日本語ニュース.jp', '日本語ニュース.jp'],
  ['뉴스.한국', '뉴스.한국'],
  ['أخبار.مصر', 'أخبار.مصر'],
  ['समाचार.भारत', 'समाचार.भारत'],
  ['ελλάδα2000.gr', 'ελλάδα2000.gr'],
])('%s is shown as its readers write it', (name, shown) => {
  const host = domainToASCII(name);
  expect(host).toMatch(/xn--/);
  expect(readable(host)).toBe(shown);
  expect(readable(`https://www.${host}/a?b=c`)).toBe(`https://www.${shown}/a?b=c`);
  expect(readable(`${host} has been blocked for 3 h (dns); 2 URLs wait.`)).toContain(`${shown} has been`);
});

test.each([
  // Cyrillic among Latin letters, and a whole word of Cyrillic letters that look like Latin ones.
  'раypal.example',
  'аррӏе.example',
  // A Greek omicron.
  'gοogle.example',
])('%s, which looks like another name, is shown as it is asked for', (name) => {
  const host = domainToASCII(name);
  expect(host).toMatch(/xn--/);
  expect(readable(host)).toBe(host);
});

test.each([
  'xn--',
  'xn--a',
  'xn--99999999999',
  'axn--mnchen-3ya',
  'xn--mnchen-\u{1f600}',
  `xn--${'a'.repeat(80)}`,
])('%s is left as it is, and breaks nothing', (text) => {
  expect(readable(text)).toBe(text);
});

test('whatever is shown is the same name to the web', () => {
  const letters = fc.constantFrom(...'abcxyz-019äöüßéñøабвгжя新闻日本語ニュス뉴스أخبارελδ');
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 12 }), (signs) => {
      const host = domainToASCII(`${signs.join('')}.test`);
      if (host === '') return;
      const shown = readable(host);
      expect([host, domainToUnicode(host)]).toContain(shown);
      expect(domainToASCII(shown)).toBe(host);
    }),
    { numRuns: 2000 },
  );
});
