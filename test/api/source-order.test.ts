import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// In the order they are added: name, priority, and how many hours ago the newest item came.
const all = [
  ['delta', 5, 3],
  ['Alpha', 9, null],
  ['charlie', 5, 30],
  ['bravo', 1, 1],
  ['ALPHA', 5, null],
  ['éclair', 5, 3],
] as const;

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
  const { pool } = lab.database;
  const now = new Date();
  for (const [n, [name, priority, hours]] of all.entries()) {
    const { source } = await createSource(pool, { url: `https://s${n}.test/`, name, priority });
    if (hours === null) continue;
    const url = `https://s${n}.test/feed`;
    const { channel } = await createChannel(pool, {
      sourceId: source.id,
      kind: 'feed',
      url,
      intervalSeconds: 900,
      foundBy: 'link',
    });
    await pool.query(
      `INSERT INTO channel_state (bucket, channel_id, last_item_at) SELECT bucket, id, $2 FROM channels WHERE id = $1
       ON CONFLICT (bucket, channel_id) DO UPDATE SET last_item_at = excluded.last_item_at`,
      [channel.id, new Date(now.getTime() - hours * 3_600_000)],
    );
  }
});
afterAll(() => lab.close());

const page = (query: string) => lab.ask('GET', `/api/v1/sources?${query}`, undefined, 'read');

async function listed(query: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await page(`${query}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    names.push(...(body.items as { name: string }[]).map((one) => one.name));
    if (body.cursor === null) return names;
    cursor = `&cursor=${body.cursor}`;
  }
}

test.each([
  ['added', ['delta', 'Alpha', 'charlie', 'bravo', 'ALPHA', 'éclair']],
  ['newest', ['éclair', 'ALPHA', 'bravo', 'charlie', 'Alpha', 'delta']],
  ['name', ['Alpha', 'ALPHA', 'bravo', 'charlie', 'delta', 'éclair']],
  ['priority', ['Alpha', 'delta', 'charlie', 'ALPHA', 'éclair', 'bravo']],
  ['last_item', ['bravo', 'delta', 'éclair', 'charlie', 'Alpha', 'ALPHA']],
  ['silent', ['Alpha', 'ALPHA', 'charlie', 'delta', 'éclair', 'bravo']],
])('by %s, whatever the size of a page', async (sort, names) => {
  for (const limit of [1, 2, 5, 100]) expect(await listed(`sort=${sort}&limit=${limit}`)).toEqual(names);
  // Filters keep the order.
  const some = names.filter((name) => name.toLowerCase().includes('l'));
  expect(await listed(`sort=${sort}&limit=1&q=l`)).toEqual(some);
  const empty = names.filter((name) => name.toLowerCase() === 'alpha');
  expect(await listed(`sort=${sort}&limit=1&status=empty`)).toEqual(empty);
});

test('a list goes on where it was when the source it ended with is gone, and holds in no other order', async () => {
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://gone.test/', name: 'bz' });
  const first = await page('sort=name&limit=4');
  expect(first.body.items.at(-1).name).toBe('bz');
  await lab.ask('DELETE', `/api/v1/sources/${source.slug}`);
  const { cursor } = first.body as { cursor: string };
  const names = (await page(`sort=name&cursor=${cursor}`)).body.items.map(
    (one: { name: string }) => one.name,
  );
  expect(names).toEqual(['charlie', 'delta', 'éclair']);
  const of = (place: unknown): string => Buffer.from(JSON.stringify(place)).toString('base64url');
  for (const [sort, given] of [
    ['priority', cursor],
    ['added', cursor],
    ['name', of([3])],
    ['name', of(['name', 3, 3])],
    ['name', of(['name', 'a\0', 3])],
    ['name', of(['name', 'a', 3, 4])],
    ['name', of(['name', 'a', 2_147_483_648])],
    ['silent', of(['silent', 'a', 3])],
    ['silent', of(['silent', '9'.repeat(19), 3])],
    ['silent', of({ length: 3 })],
  ])
    expect(await page(`sort=${sort}&cursor=${given}`), `${sort} ${given}`).toMatchObject({
      status: 400,
      body: { code: 'cursor_invalid' },
    });
});
