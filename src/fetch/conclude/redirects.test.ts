import { expect, test } from 'vitest';
import type { LeasedUrl } from '../../frontier/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { concludeRefresh } from './redirects.ts';
import type { RowContext } from './row-end.ts';

const url = 'http://www.daily.test/news/storm';
const context = { maxTries: 5 } as RowContext;

function rowAt(change: Partial<LeasedUrl> = {}): LeasedUrl {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(`${url} is no address`);
  return { url, hash: identified.identity.hash, kind: 'article', tries: 0, hops: 0, ...change } as LeasedUrl;
}

test.each<[string, Partial<LeasedUrl>, object, string[]]>([
  [
    'https://other.test/storm',
    {},
    { status: 'redirected', redirectedTo: 'https://other.test/storm' },
    ['https://other.test/storm'],
  ],
  [
    'http://www.daily.test/2026/storm',
    { hops: 4 },
    { status: 'redirected' },
    ['http://www.daily.test/2026/storm'],
  ],
  ['http://www.daily.test/2026/storm', { hops: 5 }, { status: 'dead', errorCode: 'too_many_redirects' }, []],
  // The same page at a better address is this row's own business.
  ['https://daily.test/news/storm/', {}, { status: 'redirected' }, ['https://daily.test/news/storm/']],
  [
    'https://www.daily.test/news/storm/',
    {},
    { status: 'pending', url: 'https://www.daily.test/news/storm/', tries: 1 },
    [],
  ],
  ['https://www.daily.test/news/storm/', { tries: 4 }, { status: 'dead', errorCode: 'redirect_loop' }, []],
  [url, {}, { status: 'dead', errorCode: 'redirect_loop' }, []],
  [`http://daily.test/${'x'.repeat(3000)}`, {}, { status: 'dead', errorCode: 'bad_redirect' }, []],
  ['http://www.daily.test/', {}, { status: 'failed', errorCode: 'led_to_listing' }, []],
])('a page that leads on to %.60s: %j', (to, change, item, found) => {
  const end = concludeRefresh(rowAt(change), 200, to, context);
  expect(end.items).toEqual([expect.objectContaining({ httpStatus: 200, ...item })]);
  expect(end.found.map((one) => one.url)).toEqual(found);
});
