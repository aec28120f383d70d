import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit } from '../../src/frontier/index.ts';
import { sightSubmitted } from '../../src/images/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createChecked, hostileTexts } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://paper.example/', name: 'Paper' });
  // The same addresses on both pages at the same moment: only the page tells these sightings apart.
  for (const page of ['a', 'b']) {
    const items = Array.from({ length: 7 }, (_, n) => ({
      url: `https://cdn.example/${n}.png`,
      kind: 'image' as const,
      origin: 'spider' as const,
      sourceId: source.id,
      priority: 5,
      depth: 1,
      own: true,
      parentUrl: `https://paper.example/${page}`,
    }));
    await submit(pool, items);
    await sightSubmitted(pool, items, null);
  }
  await pool.query(`UPDATE image_sightings SET first_seen_at = '2026-05-01T12:00:00.123456Z'`);
});
afterAll(() => lab.close());

async function walk(query: string, limit: number): Promise<string[]> {
  const urls: string[] = [];
  let cursor: string | null = null;
  do {
    const place: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await ask('GET', `/api/v1/images?${query}&limit=${limit}${place}`);
    expect(status).toBe(200);
    urls.push(...body.items.map((one: { url: string }) => one.url));
    cursor = body.cursor;
  } while (cursor !== null);
  return urls;
}

test.each([1, 3, 7, 14, 100])('in pages of %i every sighting comes once', async (limit) => {
  const urls = await walk('source=paper', limit);
  expect(urls).toHaveLength(14);
  expect(new Set(urls).size).toBe(7);
});

test('those of one document, and of nobody', async () => {
  const urls = await walk(`document=${encodeURIComponent('https://paper.example/a')}`, 4);
  expect(urls.sort()).toEqual(Array.from({ length: 7 }, (_, n) => `https://cdn.example/${n}.png`));
  expect(await walk(`document=${encodeURIComponent('https://paper.example/c')}`, 4)).toEqual([]);
});

test('what an image is', async () => {
  const { body } = await ask('GET', '/api/v1/images?limit=1');
  expect(body.items[0]).toMatchObject({ status: 'pending', sha256: null, firstSeenAt: expect.any(String) });
});

test('mistakes are the caller\u2019s', async () => {
  expect((await ask('GET', '/api/v1/images?source=nobody')).status).toBe(404);
  expect((await ask('GET', '/api/v1/images?document=nowhere')).status).toBe(400);
  expect((await ask('GET', '/api/v1/images?sort=size')).status).toBe(400);
  const zeros = '0'.repeat(64);
  for (const cursor of ['x', `1.${zeros}`, `-1.${zeros}.${zeros}`, `${'9'.repeat(18)}.${zeros}.${zeros}`])
    expect((await ask('GET', `/api/v1/images?cursor=${cursor}`)).body.code).toBe('cursor_invalid');
  for (const text of hostileTexts)
    for (const name of ['source', 'document', 'cursor', 'limit'])
      await ask('GET', `/api/v1/images?${name}=${encodeURIComponent(text.toWellFormed())}`);
  const last = `${'9'.repeat(17)}.${zeros}.${zeros}`;
  expect((await ask('GET', `/api/v1/images?cursor=${last}`)).body.items).toHaveLength(14);
});
