import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveVerdicts } from '../../src/documents/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { idOf, storeDocuments } from '../sinks/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('classifiers that judge the same documents in other orders are not in each other’s way', async () => {
  const urls = Array.from({ length: 400 }, (_, n) => `https://judged.example/${n}`);
  await storeDocuments(
    database.pool,
    urls.map((url) => ({ url })),
  );
  const inOrder = (step: number): string[] => urls.map((_, n) => urls[(n * step) % urls.length]!);
  const outcomes = await Promise.all(
    // Steps without a common divisor with 400 meet every document once.
    [1, 399, 3, 397, 7, 393].map(async (step, n) => {
      const words: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        const saved = await saveVerdicts(
          database.db,
          inOrder(step).map((url) => ({
            id: idOf(url),
            version: 1,
            status: 'classified',
            labels: { by: n },
          })),
        );
        words.push(...saved);
      }
      return new Set(words);
    }),
  );
  expect(outcomes).toEqual(Array.from({ length: 6 }, () => new Set(['saved'])));
  const { rows } = await database.pool.query(
    `SELECT count(*)::integer AS n FROM documents WHERE classification_status = 'classified'`,
  );
  expect(rows).toEqual([{ n: 400 }]);
});
