import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel, exportSources, importSources, moveChannel } from '../../src/channels/index.ts';
import { removeSource } from '../../src/documents/index.ts';
import {
  applyGroup,
  changeDomain,
  keyOfDomain,
  type Overruled,
  requireDomain,
} from '../../src/domains/index.ts';
import { describeDomain, loadDomainFacts } from '../../src/explain/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { readList } from '../../src/source-lists/index.ts';
import { createSource, type Source, updateSource } from '../../src/sources/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { Lab, plain } from '../fetch/lab.ts';

// Sources that are pinned to a group of fetchers, with a fetcher of each of two groups and none besides.
let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: ['here', 'feeds', 'there', 'shared', 'moving', 'moved'].map((name) => plain(name)),
  });
  for (const group of ['north', 'south']) lab.start({ OUTRIDER_FETCH_POOL: group });
});
afterAll(() => lab?.close());

const pool = () => lab.database.pool;
const addSource = async (name: string, group: string): Promise<Source> => {
  const { source } = await createSource(pool(), { url: `http://${name}.test/`, settings: { group } });
  await applyGroup(pool(), source, 'test');
  return source;
};
const follow = (source: Source, url: string) =>
  createChannel(pool(), { sourceId: source.id, kind: 'feed', url, intervalSeconds: 900, foundBy: 'manual' });
const setGroup = async (source: Source, group: string | null): Promise<Overruled[]> =>
  applyGroup(pool(), (await updateSource(pool(), source.slug, { group }, 'test'))!, 'test');
const groupOf = async (name: string): Promise<string> =>
  (await requireDomain(pool(), `${name}.test`, 50)).pool;

/** The groups whose fetchers have asked a domain. */
async function askedBy(name: string): Promise<string[]> {
  const result = await pool().query<{ pool: string }>(
    `SELECT DISTINCT w.pool FROM crawl_log l JOIN domains d USING (bucket, domain_key) JOIN workers w ON w.id = l.worker
      WHERE d.name = $1 ORDER BY 1`,
    [`${name}.test`],
  );
  return result.rows.map((row) => row.pool);
}

test('only fetchers of its group ask the domains of a source, wherever its channels lie', async () => {
  const here = await addSource('here', 'north');
  await follow(here, 'http://here.test/feed');
  await follow(here, 'http://feeds.test/feed');
  const there = await addSource('there', 'south');
  await follow(there, 'http://there.test/feed');
  await lab.idle();
  expect(await askedBy('here')).toEqual(['north']);
  expect(await askedBy('feeds')).toEqual(['north']);
  expect(await askedBy('there')).toEqual(['south']);
  for (const name of ['here', 'feeds', 'there']) expect((await lab.statuses(name)).fetched).toBe(6);
});

test('a channel that moves takes its group along, before anything is asked there', async () => {
  const source = await addSource('moving', 'south');
  const { channel } = await follow(source, 'http://moving.test/feed');
  await lab.idle();
  const target = identifyUrl('http://moved.test/feed');
  if (target.outcome === 'rejected') throw new Error(target.reason);
  expect(await moveChannel(pool(), channel, target.identity)).toBe('moved');
  await lab.idle();
  expect(await askedBy('moved')).toEqual(['south']);
});

test('of two sources that disagree the later one holds, which is said; without it the other does again', async () => {
  // What an operator had decided before comes back in the end.
  const { source: first } = await createSource(pool(), { url: 'http://shared.test/one' });
  await setGroup(first, 'north');
  const { source: second } = await createSource(pool(), { url: 'http://shared.test/two' });
  expect(await setGroup(second, 'south')).toEqual([
    { domain: 'shared.test', source: first.slug, group: 'north' },
  ]);
  expect(await groupOf('shared')).toBe('south');
  const options = { defaultDelayMs: 50, productToken: 'Outrider' };
  const text = describeDomain((await loadDomainFacts(pool(), 'shared.test', options))!).sentences.join(' ');
  expect(text).toContain(
    `Only fetchers of the group "south" ask it, because the source ${second.slug} is pinned there. The source ${first.slug} asks for "north"; the later wish holds.`,
  );
  await setGroup(second, null);
  expect(await groupOf('shared')).toBe('north');
  await setGroup(first, null);
  expect(await groupOf('shared')).toBe('default');
});

test('what an operator gave a domain comes back, and what they give it meanwhile stays', async () => {
  const by = { actor: 'test', defaultBudget: 1000 };
  const set = async (group: string | null) =>
    changeDomain(pool(), await requireDomain(pool(), 'shared.test', 50), { pool: group, delayMs: 700 }, by);
  await set('east');
  const { source } = await createSource(pool(), { url: 'http://shared.test/one' });
  await setGroup(source, 'north');
  expect(await groupOf('shared')).toBe('north');
  await setGroup(source, null);
  expect(await requireDomain(pool(), 'shared.test', 50)).toMatchObject({
    pool: 'east',
    delay: { configuredMs: 700 },
  });
  await setGroup(source, 'north');
  await set('west');
  await setGroup(source, null);
  expect(await groupOf('shared')).toBe('west');
});

test('lists carry the group, and a deleted source gives its domains back', async () => {
  const listed = [];
  for await (const one of exportSources(pool())) listed.push(one);
  const there = listed.find((one) => one.url === 'http://there.test/')!;
  expect(there.settings).toEqual({ group: 'south' });
  const options = { actor: 'test', sitemapIntervalSeconds: 21_600, update: true };
  const bring = (settings: object) =>
    importSources(
      lab.database.db,
      readList([Buffer.from(JSON.stringify([{ url: there.url, settings }]))]),
      options,
    );
  await bring({ group: 'north' });
  expect(await groupOf('there')).toBe('north');
  await bring({});
  expect(await groupOf('there')).toBe('default');
  await removeSource(lab.database.db, 'here_test', { documents: 'keep', actor: 'test' });
  expect([await groupOf('here'), await groupOf('feeds')]).toEqual(['default', 'default']);
  const left = await pool().query('SELECT FROM domain_pins WHERE domain_key = $1', [
    keyOfDomain('here.test')!.domainKey.toString(),
  ]);
  expect(left.rowCount).toBe(0);
  expect(await findSlotProblems(pool())).toEqual([]);
});
