import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockDomain, keyOfDomain, loadDomain, seedDomains } from '../../src/domains/index.ts';
import { findSlotProblems, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { finish, item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase, testLeaseMode } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const seed = (text: string, dataset = 'list_1') => seedDomains(test.pool, [text], { dataset });
const entryOf = async (name: string) =>
  (
    await test.pool.query(
      `SELECT f.url, f.kind, f.origin, f.depth, f.source_id, f.budgeted, f.ready FROM url_frontier f
         JOIN domains d ON d.bucket = f.bucket AND d.domain_key = f.domain_key WHERE d.name = $1`,
      [name],
    )
  ).rows;

it('a ranked list enters as pending, each with its entry URL, and bad lines are named', async () => {
  const report = await seed(
    '# ranks\n2,two.test\n1,www.one.test\nrank,domain\n\nhttp://three.test/start\ntwo.test\n',
  );
  expect(report).toEqual({
    lines: 7,
    domains: 3,
    added: 3,
    known: 0,
    submitted: 3,
    bad: 1,
    badLines: [{ number: 4, reason: '"rank" is not a rank' }],
  });
  expect(await entryOf('one.test')).toEqual([
    {
      url: 'https://www.one.test/',
      kind: 'listing',
      origin: 'spider',
      depth: 0,
      source_id: null,
      budgeted: true,
      ready: true,
    },
  ]);
  expect(await loadDomain(test.pool, 'two.test', 1000)).toMatchObject({
    status: 'pending',
    seedRank: 2,
    dataset: 'list_1',
    pagesKnown: 1,
    queued: 1,
  });
  expect((await entryOf('three.test'))[0]!.url).toBe('http://three.test/start');
  expect(await findSlotProblems(test.pool)).toEqual([]);
});

it('they are leased best rank first', async () => {
  const lines = Array.from({ length: 40 }, (_, n) => `${((n * 7) % 40) + 100},r${((n * 7) % 40) + 100}.test`);
  await seed(lines.join('\n'), 'ranked');
  const order: { name: string; bucket: number }[] = [];
  for (const held of await take(test.db, { slots: 100, owner: 'ranks' })) {
    order.push({ name: new URL(held.urls[0]!.url).hostname, bucket: held.bucket });
    await finish(test.db, held, { owner: 'ranks' });
  }
  const ranked = order.filter(({ name }) => name.startsWith('r'));
  const all = Array.from({ length: 40 }, (_, n) => `r${n + 100}.test`);
  if (testLeaseMode === 'single') expect(ranked.map(({ name }) => name)).toEqual(all);
  // Bucket by bucket the order holds within each.
  expect(ranked.map(({ name }) => name).sort()).toEqual(all);
  for (const { bucket } of ranked) {
    const names = ranked.filter((one) => one.bucket === bucket).map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
  }
});

it('known domains keep their state; the same list again does nothing, new ones enter', async () => {
  await submit(test.pool, [item('known.test', 'a')]);
  await seed('5,blocked.test\n6,left.test\n');
  await blockDomain(test.pool, keyOfDomain('blocked.test')!, { reason: 'test', actor: 'test' });
  const again = await seed('9,blocked.test\n8,known.test\n6,left.test\n7,fresh.test\n', 'list_2');
  expect(again).toMatchObject({ added: 1, known: 3, submitted: 1 });
  expect(await loadDomain(test.pool, 'blocked.test', 1000)).toMatchObject({
    status: 'blocked',
    reason: 'test',
    seedRank: 9,
    dataset: 'list_2',
  });
  expect(await loadDomain(test.pool, 'known.test', 1000)).toMatchObject({ seedRank: 8, pagesKnown: 1 });
  expect(await seed('7,fresh.test\nknown.test\n', 'list_2')).toMatchObject({ added: 0, submitted: 0 });
  expect(await loadDomain(test.pool, 'known.test', 1000)).toMatchObject({ seedRank: 8 });
});

it('a domain that was left half way gets its entry URL the next time', async () => {
  await test.pool.query(`INSERT INTO domains (bucket, domain_key, name) VALUES ($1, $2, 'half.test')`, [
    keyOfDomain('half.test')!.bucket,
    keyOfDomain('half.test')!.domainKey.toString(),
  ]);
  expect(await seed('half.test')).toMatchObject({ added: 0, known: 1, submitted: 1 });
});

it('a seed of a followed publisher belongs to its source', async () => {
  const { source } = await createSource(test.pool, { url: 'https://www.mine.test/news/' });
  await seed('mine.test');
  expect((await entryOf('mine.test'))[0]).toMatchObject({ source_id: source.id });
});

it('a long list is taken in batches, whatever its cut', async () => {
  function* chunks(): Generator<string> {
    let text = '';
    for (let n = 1; n <= 12_000; n += 1) {
      text += `${n},m${n}.test\n`;
      if (text.length > 1000) {
        yield text;
        text = '';
      }
    }
    yield text;
  }
  const seen: number[] = [];
  const report = await seedDomains(test.pool, chunks(), {
    dataset: 'long',
    onProgress: (one) => seen.push(one.domains),
  });
  expect(report).toMatchObject({ lines: 12_000, domains: 12_000, added: 12_000, submitted: 12_000, bad: 0 });
  expect(seen).toEqual(Array.from({ length: 24 }, (_, n) => (n + 1) * 500));
  expect(await findSlotProblems(test.pool)).toEqual([]);
});
