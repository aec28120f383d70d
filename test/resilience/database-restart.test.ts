import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, isConnectionLost, openDatabase } from '../../src/db/index.ts';
import { lease, submit } from '../../src/frontier/index.ts';
import { waitUntil } from '../e2e/wait.ts';

let home: string;
let dataDir: string;
let database: Database;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-blame-'));
  dataDir = join(home, 'data');
  database = await openDatabase({ dataDir, maxConnections: 2, durable: false });
});
afterAll(async () => {
  await database?.close();
  await destroyServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

const options = { pool: 'default', slots: 1, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
const blame = async (): Promise<{ expired: number; crashes: number }> => {
  const { rows } = await database.pool.query<{ expired: number; crashes: number }>(
    `SELECT s.expired_runs::integer AS expired, f.crashes::integer AS crashes
       FROM domain_slots s JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key`,
  );
  return rows[0]!;
};
/** Lets the lease under way end and takes the domain for another owner. */
async function takeOver(owner: string): Promise<void> {
  await database.pool.query(
    `UPDATE domain_slots SET lease_until = now() - interval '1 second', next_at = now() - interval '1 second'`,
  );
  expect(await lease(database.pool, { ...options, owner })).toHaveLength(1);
}

test('a lease that ended because the database was away blames nobody; one whose worker died does', async () => {
  await submit(database.pool, [
    {
      url: 'https://held.example/1',
      kind: 'article',
      origin: 'manual',
      priority: 5,
      own: true,
      sourceId: null,
    },
  ]);
  expect(await lease(database.pool, { ...options, owner: 'first' })).toHaveLength(1);
  const startedAt = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ at: Date }>('SELECT pg_postmaster_start_time() AS at');
    return rows[0]!.at.getTime();
  };
  const before = await startedAt();
  process.kill(Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
  await waitUntil('another server answers', async () => {
    try {
      return (await startedAt()) > before;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      return 'away';
    }
  });
  await takeOver('second');
  expect(await blame()).toEqual({ expired: 0, crashes: 0 });
  await takeOver('third');
  expect(await blame()).toEqual({ expired: 1, crashes: 1 });
});
