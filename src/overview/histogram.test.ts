import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { delayBoundsSeconds, latencyBoundsMs, percentileOf } from './histogram.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([
  ['latency_bucket', latencyBoundsMs],
  ['delay_bucket', delayBoundsSeconds],
] as const)('%s begins a bucket where the code does', async (name, bounds) => {
  const values = [0, ...bounds.flatMap((bound) => [bound - 1, bound]), 2_000_000_000];
  const { rows } = await database.pool.query<{ bucket: number }>(
    `SELECT ${name}(v) AS bucket FROM unnest($1::integer[]) WITH ORDINALITY AS x(v, n) ORDER BY n`,
    [values],
  );
  expect(rows.map((row) => row.bucket)).toEqual(
    values.map((value) => bounds.filter((bound) => bound <= value).length),
  );
});

test('histograms are made and added bucket by bucket', async () => {
  const { rows } = await database.pool.query<{ one: number[]; none: null; sum: number[]; kept: number[] }>(
    `SELECT histogram_of('{0,5,5,23}') AS one, histogram_of('{}') AS none,
            histogram_add(histogram_of('{0,5}'), histogram_of('{5,23}')) AS sum, histogram_add(NULL, histogram_of('{0,5,5,23}')) AS kept`,
  );
  const expected = Array.from({ length: 24 }, (_, n) => (n === 5 ? 2 : n === 0 || n === 23 ? 1 : 0));
  expect(rows[0]).toEqual({ one: expected, none: null, sum: expected, kept: expected });
});

test('no values have no percentile', () => {
  expect(percentileOf(null, latencyBoundsMs, 0.5)).toBeNull();
  expect(percentileOf(new Array<number>(24).fill(0), latencyBoundsMs, 0.5)).toBeNull();
});

test('a percentile is never further off than its bucket is wide', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 32_000 }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95),
      (values, share) => {
        const bucketOf = (value: number): number => latencyBoundsMs.filter((bound) => bound <= value).length;
        const histogram = new Array<number>(24).fill(0);
        for (const value of values) histogram[bucketOf(value)]! += 1;
        const sorted = values.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(sorted.length * share) - 1]!;
        const told = percentileOf(histogram, latencyBoundsMs, share)!;
        expect(told).toBeGreaterThanOrEqual(latencyBoundsMs[bucketOf(exact) - 1] ?? 0);
        expect(told).toBeLessThanOrEqual(latencyBoundsMs[bucketOf(exact)]!);
      },
    ),
  );
});
