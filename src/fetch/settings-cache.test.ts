import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { makeLeasedUrl } from '../../test/setup/page-response.ts';
import type { Queryable } from '../db/index.ts';
import { createSource } from '../sources/index.ts';
import { SettingsCache } from './settings-cache.ts';

let test: TestDatabase;
let ids: number[];
beforeAll(async () => {
  test = await createTestDatabase();
  ids = [];
  for (const name of ['a', 'b', 'c'])
    ids.push((await createSource(test.pool, { url: `https://${name}.example/` })).source.id);
});
afterAll(() => test.drop());

function counted(): { db: Queryable; statements: () => number } {
  let statements = 0;
  const query = (...args: unknown[]): Promise<unknown> => {
    statements += 1;
    return (test.pool.query as (...all: unknown[]) => Promise<unknown>).apply(test.pool, args);
  };
  return { db: { query } as Queryable, statements: () => statements };
}

const rowOf = (sourceId: number) => makeLeasedUrl({ sourceId });

describe('settings of the domains of one lease', () => {
  it('are read by one statement and known to all who asked', async () => {
    const { db, statements } = counted();
    const cache = new SettingsCache(db, () => 0);
    const known = await Promise.all(
      [ids[0]!, ids[1]!, ids[0]!, ids[2]!, 999_999].map(async (id) => {
        await cache.prepare([rowOf(id)]);
        return cache.sourceOf(rowOf(id))?.id ?? null;
      }),
    );
    expect(known).toEqual([ids[0], ids[1], ids[0], ids[2], null]);
    expect(statements()).toBe(1);
    await cache.prepare(ids.map(rowOf));
    expect(statements()).toBe(1);
  });

  it('are read again after a few seconds, and after a failure', async () => {
    const { db, statements } = counted();
    let now = 0;
    let fails = true;
    const failing = {
      query: (...args: Parameters<Queryable['query']>) =>
        fails ? Promise.reject(new Error('no connection')) : db.query(...args),
    } as Queryable;
    const cache = new SettingsCache(failing, () => now);
    const both = [cache.prepare([rowOf(ids[0]!)]), cache.prepare([rowOf(ids[1]!)])];
    for (const one of both) await expect(one).rejects.toThrow('no connection');
    fails = false;
    await cache.prepare([rowOf(ids[0]!)]);
    expect(cache.sourceOf(rowOf(ids[0]!))?.id).toBe(ids[0]);
    now = 5000;
    await cache.prepare([rowOf(ids[0]!)]);
    expect(statements()).toBe(2);
  });
});
