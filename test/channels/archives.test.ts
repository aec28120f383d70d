import { afterAll, beforeAll, expect, test } from 'vitest';
import { ArchiveEntrance, discoverArchives, discoverDueArchives } from '../../src/discover/index.ts';
import {
  blockDomain,
  configureDomain,
  keyOfDomain,
  loadDomain,
  seedDomains,
} from '../../src/domains/index.ts';
import { describeDomain, loadDomainFacts } from '../../src/explain/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import type { PublisherChange } from '../web/index.ts';
import { pollAgain } from './channel-lab.ts';

// Old articles of publishers without feeds, through a real fetcher. The web stands still in 2024: nothing is news.
const delayMs = 50;
const quiet = (name: string, change: PublisherChange): PublisherChange =>
  plain(name, [], { feeds: [], sitemaps: [], backlog: 30, ratePerDay: 0.3, perPage: 8, ...change });
const map = (path: string, kind: 'urlset' | 'index', inRobots: boolean, lastmod = true) => ({
  sitemaps: [{ kind, path, inRobots, lastmod }],
});

let lab: Lab;
let fetcher: Outrider;
const spidered = ['dated', 'mapped', 'undated', 'indexed', 'bare', 'busy'];

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      quiet('dated', { archives: true, perPage: 12 }),
      quiet('mapped', map('/sitemap.xml', 'urlset', false)),
      quiet('undated', map('/sitemap.xml', 'urlset', false, false)),
      quiet('indexed', map('/maps/all.xml', 'index', true)),
      quiet('bare', { urlStyle: 'flat' }),
      quiet('busy', map('/sitemap.xml', 'urlset', false)),
      quiet('seeded', map('/sitemap.xml', 'urlset', false)),
    ],
    env: { OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '48', OUTRIDER_DOMAINS_REFRESH_DAYS: '3650' },
  });
  for (const name of spidered) {
    const url = `http://${name}.test/`;
    // One step from the front page: everything older is out of the spider's reach.
    const { source } = await createSource(lab.database.pool, {
      url,
      mode: 'spider',
      settings: { maxDepth: 1 },
    });
    await lab.ask(url, { kind: 'listing', sourceId: source.id });
  }
  // Nor does it walk through the pages of the front page, which are no deeper than the first.
  await saveSwitch(lab.database.pool, 'pagination', false, 'test');
  await seedDomains(lab.database.pool, ['1,http://seeded.test/\n'], { dataset: 'one' });
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

const log = createLog({ level: 'silent', format: 'json' });
const deps = () => ({ db: lab.database.pool, log, sitemapIntervalSeconds: 21_600 });

type Try = { path: string; kind: string; by: string; state: string; detail: string | null };

async function tries(name: string): Promise<Try[]> {
  const result = await lab.database.pool.query<Try>(
    `SELECT regexp_replace(t.url, '^http://[^/]+', '') AS path, t.kind, t.found_by AS by, t.state, t.detail
       FROM archive_tries t JOIN domains d USING (bucket, domain_key) WHERE d.name = $1 ORDER BY t.asked_at, t.url`,
    [`${name}.test`],
  );
  return result.rows;
}
const stateOf = async (name: string, path: string): Promise<string | undefined> =>
  (await tries(name)).find((one) => one.path === path)?.state;
/** How often a publisher was asked for a path. */
const asked = (name: string, path: string): number =>
  lab.requests(name).filter((one) => one.path === path).length;
const candidatesAsked = async (name: string): Promise<number> => {
  const places = new Set((await tries(name)).filter((one) => one.state !== 'known').map((one) => one.path));
  return [...places].filter((path) => asked(name, path) > 0).length;
};

/** Lets these domains be due and looks at everything that is, as often as said; the fetcher does what is asked. */
async function lookAt(names: readonly string[], times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await lab.database.pool.query(
      `UPDATE archive_domains a SET next_at = now() FROM domains d
        WHERE d.bucket = a.bucket AND d.domain_key = a.domain_key AND d.name = ANY ($1)`,
      [names.map((name) => `${name}.test`)],
    );
    await discoverDueArchives(deps());
    await lab.idle();
  }
}

/** The tests' way of waiting a day. */
async function passDay(): Promise<void> {
  await lab.database.pool.query(
    `UPDATE archive_tries SET asked_at = asked_at - interval '1 day', ended_at = ended_at - interval '1 day',
            again_at = again_at - interval '1 day'`,
  );
  await lab.database.pool.query(`UPDATE archive_domains SET looked_at = looked_at - interval '1 day'`);
}

const fetched = async (name: string): Promise<number> => {
  const result = await lab.database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM documents x JOIN domains d USING (bucket, domain_key) WHERE d.name = $1`,
    [`${name}.test`],
  );
  return result.rows[0]!.n;
};
const published = (name: string): number => lab.web.groundTruth(`${name}.test`)[0]!.articles.length;

test('domains of spidered sources and seeds are entered, once', async () => {
  const entrance = new ArchiveEntrance(lab.database.pool, () => performance.now());
  await entrance.turn();
  await entrance.turn();
  const entered = await lab.database.pool.query<{ name: string; source: boolean; waits: boolean }>(
    `SELECT d.name, a.source_id IS NOT NULL AS source, a.next_at > now() AS waits FROM archive_domains a
       JOIN domains d USING (bucket, domain_key) ORDER BY d.name`,
  );
  expect(entered.rows).toEqual(
    [...spidered, 'seeded']
      .sort()
      .map((name) => ({ name: `${name}.test`, source: name !== 'seeded', waits: true })),
  );
  // Nobody's time has come.
  expect(await discoverDueArchives(deps())).toBe(0);
});

test('a sitemap that nothing names brings what the spider cannot reach', async () => {
  expect(await fetched('mapped')).toBeLessThan(published('mapped'));
  await lookAt(['mapped'], 2);
  expect(await stateOf('mapped', '/sitemap.xml')).toBe('worked');
  expect(await fetched('mapped')).toBe(published('mapped'));
  const channel = await lab.database.pool.query(
    `SELECT found_by, takes_all FROM channels WHERE url = 'http://mapped.test/sitemap.xml'`,
  );
  expect(channel.rows).toEqual([{ found_by: 'archive', takes_all: true }]);
  const rows = await lab.database.pool.query(
    `SELECT DISTINCT priority, budgeted, kind FROM url_frontier WHERE url LIKE 'http://mapped.test/%' AND origin = 'archive' AND kind = 'article'`,
  );
  expect(rows.rows).toEqual([{ priority: 1, budgeted: true, kind: 'article' }]);
});

test('one without dates is read whole too', async () => {
  await lookAt(['undated'], 2);
  expect(await fetched('undated')).toBe(published('undated'));
});

test('of an index that robots.txt names every file is read, however old', async () => {
  await lookAt(['indexed'], 2);
  expect(await tries('indexed')).toContainEqual(
    expect.objectContaining({ path: '/maps/all.xml', by: 'robots', state: 'worked' }),
  );
  expect(await fetched('indexed')).toBe(published('indexed'));
});

test('later polls have the usual limit, and come although the source is followed by links', async () => {
  const seen = async (): Promise<number> =>
    (
      await lab.database.pool.query<{ seen: number }>(
        `SELECT s.items_seen::integer AS seen FROM channels c JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
          WHERE c.url = 'http://mapped.test/sitemap.xml'`,
      )
    ).rows[0]!.seen;
  const before = await seen();
  expect(before).toBe(published('mapped'));
  const polls = asked('mapped', '/sitemap.xml');
  await pollAgain(lab, ['mapped']);
  expect(asked('mapped', '/sitemap.xml')).toBe(polls + 1);
  expect(await seen()).toBe(before);
  // Neither a pause of the source nor its mode holds it for good.
  await setSourceEnabled(lab.database.pool, 'mapped_test', false, { actor: 'test' });
  await setSourceEnabled(lab.database.pool, 'mapped_test', true, { actor: 'test' });
  await pollAgain(lab, ['mapped']);
  expect(asked('mapped', '/sitemap.xml')).toBe(polls + 2);
});

test('date archives are learnt from addresses that were seen, and walked back day by day', async () => {
  const before = await fetched('dated');
  expect(before).toBeLessThan(published('dated'));
  await lookAt(['dated'], 2);
  const first = (await tries('dated')).filter((one) => one.by === 'learned');
  expect(first.map(({ state }) => state)).toEqual(expect.arrayContaining(['worked']));
  expect(await candidatesAsked('dated')).toBeLessThanOrEqual(5);
  // The day is used up: however often somebody looks, nothing more is asked.
  const day = lab.requests('dated').length;
  await lookAt(['dated'], 2);
  expect(lab.requests('dated').length).toBe(day);
  for (let days = 0; days < 3; days += 1) {
    await passDay();
    const known = await candidatesAsked('dated');
    await lookAt(['dated'], 3);
    expect((await candidatesAsked('dated')) - known).toBeLessThanOrEqual(5);
  }
  expect(await fetched('dated')).toBe(published('dated'));
  const worked = (await tries('dated')).filter((one) => one.by === 'learned' && one.state === 'worked');
  expect(worked.length).toBeGreaterThan(1);
  // Archives are lists; none of them is a document.
  for (const { path } of worked)
    expect((await lab.row(`http://dated.test${path}`, 'listing'))?.documents).toBe(0);
});

test('what is not there is asked once', async () => {
  for (let days = 0; days < 4; days += 1) {
    await lookAt(['bare'], 2);
    await passDay();
  }
  const places = await tries('bare');
  expect(places.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/sitemap.xml', '/sitemap', '/archive', '/archives']),
  );
  for (const { path, state } of places) {
    expect([path, state]).toEqual([path, 'failed']);
    expect([path, asked('bare', path)]).toEqual([path, 1]);
  }
  const channels = await lab.database.pool.query(`SELECT FROM channels WHERE url LIKE 'http://bare.test/%'`);
  expect(channels.rowCount).toBe(0);
  // And no feeds were looked for on its account.
  expect((await lab.database.pool.query('SELECT FROM discoveries')).rowCount).toBe(0);
});

test('a domain with enough to do is left alone for a day', async () => {
  const key = keyOfDomain('busy.test')!;
  await configureDomain(lab.database.pool, key, { delayMs: 3_600_000, budget: null, pool: null }, 1000);
  const source = await lab.database.pool.query<{ id: number }>(
    `SELECT id FROM sources WHERE slug = 'busy_test'`,
  );
  for (let n = 0; n < 25; n += 1)
    await lab.ask(`http://busy.test/story-${n}-of-many`, { sourceId: source.rows[0]!.id });
  await lab.idle();
  await lab.database.pool.query('UPDATE archive_domains SET looked_at = now()');
  await lookAt(['busy']);
  expect(await tries('busy')).toEqual([]);
  await passDay();
  // Three that look at once ask for no more than one would.
  const looks = await Promise.all([1, 2, 3].map(() => discoverArchives(deps(), key)));
  expect(looks.flatMap((one) => one!.asked).length).toBe(5);
  expect((await tries('busy')).length).toBe(5);
  await blockDomain(lab.database.pool, key, { reason: 'seen enough', actor: 'test' });
});

test('a seeded domain of nobody has its sitemap read once', async () => {
  await lookAt(['seeded'], 2);
  expect(await stateOf('seeded', '/sitemap.xml')).toBe('worked');
  expect(await fetched('seeded')).toBe(published('seeded'));
  await lookAt(['seeded'], 2);
  expect(asked('seeded', '/sitemap.xml')).toBe(1);
});

test('a wish to look now keeps the day and what was tried', async () => {
  const key = keyOfDomain('bare.test')!;
  const before = lab.requests('bare').length;
  const look = await discoverArchives(deps(), key);
  expect(look).toMatchObject({ because: null });
  await lab.idle();
  expect(lab.requests('bare').length - before).toBe(look!.asked.length);
  expect(look!.asked.length).toBeLessThanOrEqual(5);
  expect(await discoverArchives(deps(), keyOfDomain('nowhere.test')!)).toBeNull();
});

test('explain tells what was tried and what came of it', async () => {
  const options = { defaultDelayMs: delayMs, productToken: 'Outrider' };
  const facts = (await loadDomainFacts(lab.database.pool, 'mapped.test', options))!;
  const text = describeDomain(facts).sentences.join(' ');
  expect(text).toMatch(/\d places were thought of for its archives: 1 worked, \d did not/);
  expect(text).toContain('The last that worked is http://mapped.test/sitemap.xml.');
  expect(facts.archives!.tries).toContainEqual(
    expect.objectContaining({ url: 'http://mapped.test/archive', state: 'failed', detail: 'not_found' }),
  );
});

test('a source that is no longer followed by links is left', async () => {
  await setSourceEnabled(lab.database.pool, 'undated_test', false, { actor: 'test' });
  await passDay();
  await lookAt(['undated']);
  const left = await lab.database.pool.query(
    `SELECT FROM archive_domains a JOIN domains d USING (bucket, domain_key) WHERE d.name = 'undated.test'`,
  );
  expect(left.rowCount).toBe(0);
});

test('in the end slots agree with their rows and nobody was hurried', async () => {
  expect((await loadDomain(lab.database.pool, 'mapped.test', delayMs))!.budget.left).toBeLessThan(1000);
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await checkCrawl(lab, delayMs);
  await checkEnd(lab, fetcher);
});
