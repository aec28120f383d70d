import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { resetDomain } from '../domains/index.ts';
import { submit } from '../frontier/index.ts';
import { domainIdentity } from '../url/index.ts';
import { SiteCache } from './cache.ts';
import { Site } from './site.ts';
import { loadCap, loadSite, loadSiteView, saveSite } from './store.ts';
import { prefixesOf } from './traps.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.drop());

const key = domainIdentity('a.test');
const trapped = (n: number): string => `https://a.test/c?a=${n}`;

/** A site that has learned something of everything. */
function learned(): Site {
  const site = new Site();
  for (const name of ['red-fox', 'old-oak']) site.shapes.learn(`https://a.test/${name}`, 'article');
  for (const n of [1, 2, 3]) site.traps.learn(trapped(n), { content: false, news: false }, 9000);
  const entries = ['a', 'b', 'c', 'd', 'e'];
  const listing = { url: 'https://a.test/n', pagers: [], entries, news: 5, isAgain: false, mayGuess: true };
  site.pagination.follow(listing, 9000);
  site.pagination.fail('https://a.test/n?page=2', 9000);
  site.refuse('off_domain', 3);
  return site;
}

it('what was saved is what is loaded, and counts add up', async () => {
  for (const _time of [1, 2]) await saveSite(database.pool, key, learned().takeChanges()!, 10_000);
  const site = await loadSite(database.pool, key, 20_000);
  expect(site.shapes.kinds).toMatchObject({ '/{slug2}': 'article' });
  expect(site.traps.capOf(trapped(9))).toMatchObject({ prefix: '/c/', reason: '3 pages and no content' });
  expect(site.pagination.placeOf('https://a.test/n?page=2')?.rule).toMatchObject({
    ended: { reason: 'not_found' },
    first: ['a', 'b', 'c', 'd', 'e'],
  });
  const view = await loadSiteView(database.pool, key);
  expect(view).toMatchObject({
    traps: [{ prefix: '/c/', pages: 3 }],
    shapes: [{ articles: 4 }, { articles: 4 }],
    refusedLinks: [{ reason: 'off_domain', links: 6 }],
  });
  expect(view.pagination.map((rule) => [rule.form, rule.endReason])).toEqual([
    ['/page/{N}', null],
    ['?page={N}', 'not_found'],
  ]);
});

it('nothing a page says breaks it', async () => {
  const site = new Site();
  site.shapes.learn('https://a.test/x%00y/%ED%A0%80?%00=%00&a[]={}', 'other');
  site.traps.learn('https://a.test/%00/{x}?"\\u0000=1', { content: false, news: false }, 0);
  site.shapes.learn(`https://a.test/${'é'.repeat(24)}/`.repeat(1), 'other');
  await saveSite(database.pool, domainIdentity('b.test'), site.takeChanges()!, 0);
});

it('a copy holds while nobody else had the domain', async () => {
  const cache = new SiteCache(database.pool);
  const first = await cache.open({ ...key, epoch: 4n }, 0);
  expect(await cache.open({ ...key, epoch: 5n }, 0)).toBe(first);
  const later = await cache.open({ ...key, epoch: 7n }, 0);
  expect(later).not.toBe(first);
  cache.forget(key);
  expect(await cache.open({ ...key, epoch: 8n }, 0)).not.toBe(later);
});

it('a reset lifts the cap, and copies of it are read again', async () => {
  const item = { kind: 'listing', origin: 'spider', sourceId: null, priority: 5, own: true } as const;
  await submit(database.pool, [{ url: 'https://a.test/', ...item }]);
  const epoch = async (): Promise<bigint> =>
    (
      await database.pool.query<{ e: bigint }>(
        'SELECT lease_epoch AS e FROM domain_slots WHERE bucket = $1 AND domain_key = $2',
        [key.bucket, key.domainKey.toString()],
      )
    ).rows[0]!.e;
  expect(await loadCap(database.pool, key, prefixesOf(trapped(9)))).toMatchObject({ prefix: '/c/' });
  const before = await epoch();
  await resetDomain(database.pool, key, { reason: 'again', actor: 'test' });
  expect(await epoch()).toBe(before + 1n);
  expect(await loadCap(database.pool, key, prefixesOf(trapped(9)))).toBeNull();
  // What ended is remembered all the same.
  expect((await loadSiteView(database.pool, key)).pagination).toHaveLength(2);
});
