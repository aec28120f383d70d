import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { loadConfig } from '../config/index.ts';
import { createLog } from '../telemetry/index.ts';
import { ImageStore } from './image-store.ts';

let database: TestDatabase;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'outrider-store-'));
});
afterAll(async () => {
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

it('rests longer and longer while the store is in trouble, and at once no more when it is back', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs, wait: async () => undefined };
  const folder = join(dir, 'blobs');
  writeFileSync(folder, 'a file where the folder should be');
  const { config } = loadConfig({ env: { OUTRIDER_BLOBS_DIR: folder } });
  const store = new ImageStore({
    db: database.pool,
    config,
    clock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const facts = { format: 'png', width: 300, height: 300, perceptualHash: 2n ** 64n - 1n } as const;
  const image = { sha256: Buffer.alloc(32, 5), facts, body: Buffer.from('bytes') };
  const rests: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    expect(await store.put(image)).toMatchObject({ outcome: 'unavailable' });
    rests.push(store.restMs / 1000);
    nowMs += store.restMs;
    expect(store.restMs).toBe(0);
  }
  expect(rests).toEqual([30, 60, 120, 240, 480, 600, 600]);
  rmSync(folder);
  expect(await store.put(image)).toEqual({ outcome: 'stored' });
  expect(store.restMs).toBe(0);
  // Announced once, with all 64 bits; only the settle of its URL makes it a stored one.
  const rows = await database.pool.query(
    'SELECT bucket, perceptual_hash AS hash, stored_at AS "storedAt" FROM images',
  );
  expect(rows.rows).toEqual([{ bucket: 5, hash: -1n, storedAt: null }]);
  await store.close();
});
