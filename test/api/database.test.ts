import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMigrations } from '../../src/db/migration-files.ts';
import { ensurePartitions } from '../../src/frontier/index.ts';
import { systemClock } from '../../src/telemetry/index.ts';
import { storeDocuments } from '../sinks/store.ts';
import { createChecked } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
let laterMs = 0;
beforeAll(async () => {
  lab = await startApiLab({
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + laterMs },
  });
  ask = await createChecked(lab);
});
afterAll(() => lab.close());

type Table = {
  name: string;
  parts: number;
  totalBytes: number;
  tableBytes: number;
  indexBytes: number;
  toastBytes: number;
};
const look = async () => {
  const { status, body } = await ask('GET', '/api/v1/database');
  expect(status).toBe(200);
  laterMs += 20_000;
  return body as Record<string, unknown> & { tables: Table[]; rawPageBytes: number; sizeBytes: number };
};

test('size, version, connections and the largest tables are told', async () => {
  const facts = await look();
  expect(facts).toMatchObject({
    version: expect.stringMatching(/^\d+/),
    connections: { used: expect.any(Number), most: expect.any(Number) },
    migration: loadMigrations().length,
  });
  expect(facts.sizeBytes).toBeGreaterThan(1_000_000);
  expect(facts.tables).toHaveLength(15);
  const sizes = facts.tables.map((table) => table.totalBytes);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  for (const { totalBytes, tableBytes, indexBytes, toastBytes } of facts.tables)
    expect(totalBytes).toBe(tableBytes + indexBytes + toastBytes);
});

test('parts of a table count with it, and kept pages are told apart', async () => {
  const before = await look();
  const { pool } = lab.database;
  await ensurePartitions(pool, 'raw_pages');
  const body = Buffer.alloc(300_000, 'x');
  await storeDocuments(pool, [
    { url: 'https://paper.test/a', raw: { body, encoding: 'identity', contentType: null } },
  ]);
  const after = await look();
  expect(after.rawPageBytes - before.rawPageBytes).toBeGreaterThan(300_000);
  const raw = after.tables.find((table) => table.name === 'raw_pages')!;
  expect(raw.parts).toBeGreaterThan(7);
  expect(raw.toastBytes).toBeGreaterThan(300_000);
  expect(after.tables.map((table) => table.name).join()).not.toMatch(/_\d{8}/);
});

test('dead rows, vacuum and a transaction that stays open are seen', async () => {
  const { pool } = lab.database;
  await pool.query(
    "CREATE TABLE heavy AS SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 2000) n",
  );
  const client = await pool.connect();
  try {
    await client.query('BEGIN; SELECT 1');
    expect((await look()).oldestTransactionMs).toBeGreaterThan(0);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  await pool.query('VACUUM ANALYZE heavy');
  const heavy = (await look()).tables.find((table) => table.name === 'heavy');
  expect(heavy).toMatchObject({ rows: 2000, parts: 0, deadShare: 0 });
});

test('what was looked at is shared for ten seconds', async () => {
  const at = async () => (await ask('GET', '/api/v1/database')).body.at as string;
  laterMs += 20_000;
  const [first, second] = await Promise.all([at(), at()]);
  expect(second).toBe(first);
  laterMs += 10_000;
  expect(await at()).not.toBe(first);
});
