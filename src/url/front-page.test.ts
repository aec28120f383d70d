import { expect, test } from 'vitest';
import { isFrontPage } from './index.ts';

test.each([
  ['https://news.test/', true],
  ['https://news.test', true],
  ['https://news.test:8080/', true],
  ['https://news.test/en', true],
  ['https://news.test/de-AT', true],
  ['https://news.test/pt_br/index.php', true],
  ['https://news.test/index.html', true],
  ['https://news.test/Default.aspx', true],
  ['https://news.test/fr/home', true],
  ['https://news.test/?p=123', false],
  ['https://news.test/index.php?id=5', false],
  ['https://news.test/news', false],
  ['https://news.test/index/2026', false],
  ['https://news.test/home-improvement', false],
  ['https://news.test/en/storm', false],
  ['https://news.test/storm.html', false],
  ['no address', false],
])('%s: %s', (key, expected) => {
  expect(isFrontPage(key)).toBe(expected);
});
