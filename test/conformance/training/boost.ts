import type { Trees } from '../../../src/extract/trees.ts';
import { seededRandom } from './random.ts';

/** Rows of features with the share of each block that belongs to the article, and what each error costs. */
export type Dataset = {
  rows: Float32Array;
  count: number;
  width: number;
  target: Float32Array;
  weight: Float32Array;
};

/** The shape of the model; the defaults are what cross-validation by page preferred. */
export type BoostOptions = {
  trees: number;
  leaves: number;
  rate: number;
  lambda: number;
  minHessian: number;
  rowShare: number;
  columnShare: number;
  seed: number;
};

const MAX_BINS = 60;

/** Cut points of every feature: between values when there are few, at quantiles when there are many. */
function cutPoints(data: Dataset): Float32Array[] {
  const step = Math.max(1, Math.floor(data.count / 40_000));
  const cuts: Float32Array[] = [];
  for (let f = 0; f < data.width; f++) {
    const values: number[] = [];
    for (let i = 0; i < data.count; i += step) values.push(data.rows[i * data.width + f]!);
    values.sort((a, b) => a - b);
    const distinct = values.filter((value, i) => i === 0 || value !== values[i - 1]);
    const found: number[] = [];
    if (distinct.length <= MAX_BINS) {
      for (let i = 1; i < distinct.length; i++) found.push((distinct[i - 1]! + distinct[i]!) / 2);
    } else {
      let last = values[0]!;
      for (let b = 1; b < MAX_BINS; b++) {
        const value = values[Math.floor((b * values.length) / MAX_BINS)]!;
        if (value > last) {
          found.push(value - 1e-6 * Math.max(1, Math.abs(value)));
          last = value;
        }
      }
    }
    cuts.push(Float32Array.from(found));
  }
  return cuts;
}

function binRows(data: Dataset, cuts: Float32Array[]): Uint8Array {
  const bins = new Uint8Array(data.count * data.width);
  for (let f = 0; f < data.width; f++) {
    const edges = cuts[f]!;
    for (let i = 0; i < data.count; i++) {
      const value = data.rows[i * data.width + f]!;
      let low = 0;
      let high = edges.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (value > edges[middle]!) low = middle + 1;
        else high = middle;
      }
      bins[i * data.width + f] = low;
    }
  }
  return bins;
}

type Leaf = {
  rows: Int32Array;
  sums: Float64Array;
  gradient: number;
  hessian: number;
  gain: number;
  feature: number;
  bin: number;
  node: Node;
};
type Node = { feature: number; bin: number; left: Node | null; right: Node | null; value: number };
const SLOT = 2 * (MAX_BINS + 1);

/** Gradient-boosted trees on the logistic loss with soft targets; deterministic for a seed. */
export function boost(data: Dataset, options: BoostOptions): Trees {
  const { count, width, target, weight } = data;
  const cuts = cutPoints(data);
  const bins = binRows(data, cuts);
  const random = seededRandom(options.seed);
  let positive = 0;
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += weight[i]!;
    positive += weight[i]! * target[i]!;
  }
  const base = Math.log(positive / (total - positive));
  const score = new Float64Array(count).fill(base);
  const gradient = new Float64Array(count);
  const hessian = new Float64Array(count);
  const trees: Node[] = [];

  const sumUp = (rows: Int32Array, columns: number[]): Float64Array => {
    const sums = new Float64Array(width * SLOT);
    for (const i of rows) {
      const g = gradient[i]!;
      const h = hessian[i]!;
      const at = i * width;
      for (const f of columns) {
        const slot = f * SLOT + 2 * bins[at + f]!;
        sums[slot]! += g;
        sums[slot + 1]! += h;
      }
    }
    return sums;
  };
  const weigh = (leaf: Leaf, columns: number[]): void => {
    const { sums } = leaf;
    leaf.gradient = 0;
    leaf.hessian = 0;
    for (let b = columns[0]! * SLOT, end = b + SLOT; b < end; b += 2) {
      leaf.gradient += sums[b]!;
      leaf.hessian += sums[b + 1]!;
    }
    leaf.gain = 0;
    const whole = leaf.gradient ** 2 / (leaf.hessian + options.lambda);
    for (const f of columns) {
      let g = 0;
      let h = 0;
      for (let b = 0; b < cuts[f]!.length; b++) {
        g += sums[f * SLOT + 2 * b]!;
        h += sums[f * SLOT + 2 * b + 1]!;
        const rest = leaf.hessian - h;
        if (h < options.minHessian) continue;
        if (rest < options.minHessian) break;
        const gain =
          g ** 2 / (h + options.lambda) + (leaf.gradient - g) ** 2 / (rest + options.lambda) - whole;
        if (gain > leaf.gain) {
          leaf.gain = gain;
          leaf.feature = f;
          leaf.bin = b;
        }
      }
    }
  };
  const newLeaf = (rows: Int32Array, sums: Float64Array, columns: number[]): Leaf => {
    const node: Node = { feature: -1, bin: 0, left: null, right: null, value: 0 };
    const leaf: Leaf = { rows, sums, gradient: 0, hessian: 0, gain: 0, feature: 0, bin: 0, node };
    weigh(leaf, columns);
    return leaf;
  };

  for (let t = 0; t < options.trees; t++) {
    for (let i = 0; i < count; i++) {
      const p = 1 / (1 + Math.exp(-score[i]!));
      gradient[i] = weight[i]! * (p - target[i]!);
      hessian[i] = Math.max(weight[i]! * p * (1 - p), 1e-6);
    }
    const columns: number[] = [];
    for (let f = 0; f < width; f++)
      if (cuts[f]!.length > 0 && random() < options.columnShare) columns.push(f);
    const drawn: number[] = [];
    for (let i = 0; i < count; i++) if (random() < options.rowShare) drawn.push(i);
    const all = Int32Array.from(drawn);
    const root = newLeaf(all, sumUp(all, columns), columns);
    const leaves = [root];
    while (leaves.length < options.leaves) {
      let best = 0;
      for (let k = 1; k < leaves.length; k++) if (leaves[k]!.gain > leaves[best]!.gain) best = k;
      const leaf = leaves[best]!;
      if (leaf.gain <= 1e-6) break;
      const goesLeft = (i: number) => bins[i * width + leaf.feature]! <= leaf.bin;
      const left = leaf.rows.filter(goesLeft);
      const right = leaf.rows.filter((i) => !goesLeft(i));
      const [small, large] = left.length < right.length ? [left, right] : [right, left];
      const smallSums = sumUp(small, columns);
      const largeSums = leaf.sums;
      for (let k = 0; k < largeSums.length; k++) largeSums[k]! -= smallSums[k]!;
      const sumsOf = (rows: Int32Array) => (rows === small ? smallSums : largeSums);
      const pair = [left, right].map((rows) => newLeaf(rows, sumsOf(rows), columns));
      leaf.node.feature = leaf.feature;
      leaf.node.bin = leaf.bin;
      leaf.node.left = pair[0]!.node;
      leaf.node.right = pair[1]!.node;
      leaves.splice(best, 1, ...pair);
      void large;
    }
    for (const leaf of leaves)
      leaf.node.value = (-options.rate * leaf.gradient) / (leaf.hessian + options.lambda);
    for (let i = 0; i < count; i++) {
      let node = root.node;
      while (node.left !== null && node.right !== null) {
        node = bins[i * width + node.feature]! <= node.bin ? node.left : node.right;
      }
      score[i]! += node.value;
    }
    trees.push(root.node);
  }
  return flatten(base, trees, cuts);
}

function flatten(base: number, trees: Node[], cuts: Float32Array[]): Trees {
  const roots: number[] = [];
  const feature: number[] = [];
  const value: number[] = [];
  const right: number[] = [];
  const write = (node: Node): void => {
    const at = feature.length;
    const leaf = node.left === null || node.right === null;
    feature.push(leaf ? 255 : node.feature);
    value.push(leaf ? node.value : cuts[node.feature]![node.bin]!);
    right.push(0);
    if (node.left === null || node.right === null) return;
    write(node.left);
    right[at] = feature.length - at;
    write(node.right);
  };
  for (const tree of trees) {
    roots.push(feature.length);
    write(tree);
  }
  return {
    base,
    roots: Int32Array.from(roots),
    links: Uint16Array.from(feature, (which, i) => which | (right[i]! << 8)),
    value: Float32Array.from(value),
  };
}
