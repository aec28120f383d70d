import { expect, test } from 'vitest';
import { scoreRows, type Trees } from '../../../src/extract/trees.ts';
import { boost } from './boost.ts';
import { meanOf } from './ensemble.ts';
import { seededRandom } from './random.ts';

const WIDTH = 3;
const COUNT = 400;

/** Rows of noise of which the first number tells the target, mostly. */
function makeData() {
  const random = seededRandom(5);
  const rows = Float32Array.from({ length: COUNT * WIDTH }, random);
  const target = Float32Array.from({ length: COUNT }, (_, i) =>
    rows[i * WIDTH]! + random() / 2 > 0.7 ? 1 : 0,
  );
  return { rows, count: COUNT, width: WIDTH, target, weight: new Float32Array(COUNT).fill(1) };
}

function logits(trees: Trees, rows: Float32Array): number[] {
  const chances = new Float64Array(COUNT);
  scoreRows(trees, { rows, width: WIDTH, wanted: new Uint8Array(COUNT).fill(1) }, chances);
  return Array.from(chances, (chance) => Math.log(chance / (1 - chance)));
}

test('the mean of models says what they say on average', () => {
  const data = makeData();
  // So few and small steps that no sum is ever sure, and each goes through all trees.
  const shape = {
    trees: 5,
    leaves: 4,
    rate: 0.05,
    lambda: 1,
    minHessian: 1,
    rowShare: 0.5,
    columnShare: 0.7,
  };
  const models = [1, 2, 3].map((seed) => boost(data, { ...shape, seed }));
  const single = models.map((model) => logits(model, data.rows));
  const mean = logits(meanOf(models), data.rows);
  expect(single[0]).not.toEqual(single[1]);
  mean.forEach((sum, i) => {
    expect(sum).toBeCloseTo((single[0]![i]! + single[1]![i]! + single[2]![i]!) / 3, 5);
  });
});
