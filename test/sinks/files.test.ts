import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreBackup, saveBackup } from '../../src/backup/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { createTestDatabase } from '../setup/database.ts';
import { testSink } from './conformance.ts';
import { deliverAll } from './deliver.ts';
import { startFileWorld } from './file-world.ts';
import { idOf, storeDocuments } from './store.ts';

testSink('files', async () => startFileWorld());

test.each([
  ['the file that was open', 1_000_000],
  ['later files', 4000],
])(
  'a restore leaves in %s what was written after the backup, and no half line',
  async (_which, mostBytes) => {
    const world = startFileWorld(mostBytes);
    const [source, target] = [await createTestDatabase(), await createTestDatabase()];
    try {
      const urlsOf = (round: string) =>
        Array.from({ length: 4 }, (_, n) => `https://a.example/${round}/${n}`);
      const write = async (round: string): Promise<void> => {
        await storeDocuments(
          source.pool,
          urlsOf(round).map((url) => ({ url })),
        );
        await deliverAll(source, world.sink);
      };
      await saveSink(source.pool, world.sink);
      await write('before');
      const { file } = await saveBackup(source.db, {
        dir: join(world.dir, '../backup'),
        images: null,
        keep: null,
      });
      for (const round of ['after', 'later', 'last']) await write(round);
      // The last one was killed in the middle of a line, longer than what is read at once.
      const [open] = readdirSync(world.dir).filter((name) => name.endsWith('.open'));
      appendFileSync(join(world.dir, open!), `{"id":"torn","text":"${'x'.repeat(100_000)}`);
      await restoreBackup(target.db, { file, force: false, images: null });
      await deliverAll(target, world.again());
      const found = await world.received();
      const all = ['before', 'after', 'later', 'last'].flatMap(urlsOf).map(idOf);
      expect([...found.keys()].sort()).toEqual(all.sort());
      // Others may take what nothing more is added to.
      expect(readdirSync(world.dir).filter((name) => name.endsWith('.open'))).toEqual([]);
    } finally {
      await source.drop();
      await target.drop();
      await world.close();
    }
  },
);
