import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { dumpSchema, migrate } from './index.ts';
import { defaultMigrationsDir } from './migration-files.ts';

const dir = defaultMigrationsDir();
const dumpFile = join(dir, 'schema.sql');

// The product's own migrations. OUTRIDER_UPDATE_SCHEMA=1 writes the dump after a new one.
describe.runIf(existsSync(dir))('migrations/', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
  });
  afterAll(() => database.drop());

  test('lead to the schema in schema.sql', async () => {
    await migrate(database.pool);
    const dump = await dumpSchema(database.pool, { functions: false });
    if (process.env.OUTRIDER_UPDATE_SCHEMA) writeFileSync(dumpFile, dump);
    const kept = existsSync(dumpFile) ? readFileSync(dumpFile, 'utf8') : '';
    expect(dump, 'run OUTRIDER_UPDATE_SCHEMA=1 npx vitest run src/db/schema.test.ts').toBe(kept);
  });

  test('each step down and up again gives the same schema, and all the way down leaves nothing', async () => {
    const { to: newest } = await migrate(database.pool);
    for (let version = newest; version > 0; version -= 1) {
      await migrate(database.pool, { to: version });
      const before = await dumpSchema(database.pool);
      await migrate(database.pool, { to: version - 1 });
      await migrate(database.pool, { to: version });
      expect(await dumpSchema(database.pool), `migration ${version}`).toBe(before);
    }
    await migrate(database.pool, { to: 0 });
    const empty = await createTestDatabase({ empty: true });
    expect(await dumpSchema(database.pool)).toBe(await dumpSchema(empty.pool));
    await empty.drop();
    await migrate(database.pool);
    expect(await dumpSchema(database.pool, { functions: false })).toBe(readFileSync(dumpFile, 'utf8'));
  });
});
