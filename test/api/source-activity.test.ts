import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldCounters } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createChecked } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
  const { pool } = lab.database;
  const herald = await createSource(pool, { url: 'https://herald.example/', name: 'Herald' });
  await createSource(pool, { url: 'https://quiet.example/', name: 'Quiet' });
  // Tomorrow too: the night may fall before the question, and what lies ahead is not told.
  await pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, documents, pages, requests, errors, inserted)
     SELECT 0, now() - interval '1 day' * n, $1, 1, 4, 6, 2, 3 FROM generate_series(-1, 20) n`,
    [herald.source.id],
  );
  await foldCounters(pool);
});
afterAll(() => lab.close());

const zeros = new Array(14).fill(0);

test('each source has its last fourteen days, sums and yield', async () => {
  const { status, body } = await ask('GET', '/api/v1/sources/activity?slugs=quiet,herald,nobody,herald');
  expect(status).toBe(200);
  expect(body.until).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(body.unknown).toEqual(['nobody']);
  expect(body.items).toEqual([
    {
      slug: 'quiet',
      documents: zeros,
      found: zeros,
      errors: zeros,
      requests: zeros,
      pages: zeros,
      totals: { documents: 0, found: 0, errors: 0, requests: 0, pages: 0 },
      yield: null,
    },
    {
      slug: 'herald',
      documents: new Array(14).fill(1),
      found: new Array(14).fill(3),
      errors: new Array(14).fill(2),
      requests: new Array(14).fill(6),
      pages: new Array(14).fill(4),
      totals: { documents: 14, found: 42, errors: 28, requests: 84, pages: 56 },
      yield: 0.25,
    },
  ]);
});

test('a hundred names are taken, and no more', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`).join(',');
  expect((await ask('GET', `/api/v1/sources/activity?slugs=${names(100)}`)).body.unknown).toHaveLength(100);
  for (const query of [`?slugs=${names(101)}`, '', '?slugs=', '?slugs=a,,b', '?slugs=A', '?slugs=a&more=1'])
    expect((await ask('GET', `/api/v1/sources/activity${query}`)).status, query).toBe(400);
});

test('no source stands in the way of the list', async () => {
  const { body } = await ask('POST', '/api/v1/sources', {
    url: 'https://activity.example/',
    name: 'Activity',
  });
  expect(body.slug).toBe('activity_source');
});
