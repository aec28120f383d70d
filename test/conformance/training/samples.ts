import type { BlockModel } from '../../../src/extract/block-model.ts';
import { type Block, readBlocks } from '../../../src/extract/blocks.ts';
import type { Hints } from '../../../src/extract/class-hints.ts';
import { FEATURE_COUNT, FEATURE_NAMES } from '../../../src/extract/feature-names.ts';
import { computeFeatures } from '../../../src/extract/features.ts';
import { readContext } from '../../../src/extract/page-context.ts';
import type { Trees } from '../../../src/extract/trees.ts';
import { parsePage } from '../../../src/html/index.ts';
import { type BoostOptions, boost, type Dataset } from './boost.ts';
import { foldOf, type TruthPage } from './corpus.ts';
import { meanOf } from './ensemble.ts';
import { learnHints, type NamedBlocks, readNames } from './hints.ts';
import { labelBlocks } from './labels.ts';
import { seededRandom } from './random.ts';

/** The rows of one page with what each should be told and what an error costs. */
export type Sample = { rows: Float32Array; target: number[]; weight: number[] };

// An error costs what it takes from the page's precision or recall, so a block weighs by its share of the reference.
const SCALE = 20;
// Small sets are not drowned by large ones.
const SMALL_SET_WEIGHT = 3;
const SMALL_SET_PAGES = 200;
// References of further corpora follow conventions of their own (standfirsts in, lists and tables out), so each of them
// counts for no more than this many pages of the sets we are judged by, however many it has.
const FURTHER_PAGES = 80;
// Some rows are shown without class names: the model must not lean on words alone, which differ by language and site.
const NAMELESS_SHARE = 0.3;
const FAR = 20;

/** What an error in a block of some words costs. */
function weightOf(source: TruthPage, words: number, truthWords: number): number {
  const ownWeight = source.setSize < SMALL_SET_PAGES ? SMALL_SET_WEIGHT : 1;
  const setWeight = source.further ? FURTHER_PAGES / source.setSize : ownWeight;
  return SCALE * setWeight * Math.min(1, (words + 1.5) / (truthWords + 80));
}

/** Reads the class names of a page and labels its blocks by the reference text. */
export function readNamesOf(source: TruthPage): NamedBlocks {
  const page = parsePage(source.html, { url: source.url });
  const { classes } = readContext(page);
  const blocks = readBlocks(page);
  const labels = labelBlocks(blocks, source.articleBody);
  return readNames(source.site, blocks, classes, labels, (words) =>
    weightOf(source, words, labels.truthWords),
  );
}

/** Reads the features of a page and labels its blocks by the reference text. */
function readSample(source: TruthPage, hints: Hints, random: () => number): Sample {
  const page = parsePage(source.html, { url: source.url });
  const blocks: Block[] = readBlocks(page);
  const { rows, wanted } = computeFeatures(page, blocks, readContext(page), hints);
  const labels = labelBlocks(blocks, source.articleBody);
  const sample: Sample = { rows: new Float32Array(0), target: [], weight: [] };
  const kept: Float32Array[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const words = labels.words[i]!;
    if (words === 0 || wanted[i] === 0) continue;
    const target = labels.share[i]!;
    let weight = weightOf(source, words, labels.truthWords);
    // Menus alone are half of all rows: three in five are left out and the rest count for them.
    if (target < 0.05 && blocks[i]!.words <= 6) {
      if (random() < 0.6) continue;
      weight *= 2.5;
    }
    kept.push(rows.subarray(i * FEATURE_COUNT, (i + 1) * FEATURE_COUNT));
    sample.target.push(target);
    sample.weight.push(weight);
  }
  sample.rows = new Float32Array(kept.length * FEATURE_COUNT);
  kept.forEach((row, i) => {
    sample.rows.set(row, i * FEATURE_COUNT);
  });
  return sample;
}

/** One table of all samples; every third row goes without its class names. */
function tabulate(samples: Sample[]): Dataset {
  const count = samples.reduce((sum, sample) => sum + sample.target.length, 0);
  const data: Dataset = {
    rows: new Float32Array(count * FEATURE_COUNT),
    count,
    width: FEATURE_COUNT,
    target: new Float32Array(count),
    weight: new Float32Array(count),
  };
  const named = FEATURE_NAMES.map((name, f) => (/^(?:name|branch):/.test(name) ? f : -1)).filter(
    (f) => f >= 0,
  );
  const random = seededRandom(11);
  let at = 0;
  for (const sample of samples) {
    data.rows.set(sample.rows, at * FEATURE_COUNT);
    for (let i = 0; i < sample.target.length; i++, at++) {
      data.target[at] = sample.target[i]!;
      data.weight[at] = sample.weight[i]!;
      if (random() < NAMELESS_SHARE) for (const f of named) data.rows[at * FEATURE_COUNT + f] = FAR;
    }
  }
  return data;
}

/** What cross-validation by site preferred (held-out.ts), for each model. */
export const SHAPE: BoostOptions = {
  trees: 120,
  leaves: 30,
  rate: 0.14,
  lambda: 3,
  minHessian: 2,
  rowShare: 0.4,
  columnShare: 0.2,
  seed: 1,
};

// Models that differ only in what they drew agree on what is so and differ in what each made up.
const MODELS = 3;

// Trees must learn how far hints are to be believed on sites they were not learnt from.
const HINT_FOLDS = 3;

/** Trains the block scorer on some pages, of which the class names were read before. */
export function train(
  pages: readonly TruthPage[],
  names: readonly NamedBlocks[],
  shape: BoostOptions = SHAPE,
): BlockModel {
  const random = seededRandom(7);
  const foldOfHints = (site: string) => foldOf(`hints of ${site}`, HINT_FOLDS);
  const samples: Sample[] = [];
  for (let fold = 0; fold < HINT_FOLDS; fold++) {
    const hints = learnHints(names.filter(({ site }) => foldOfHints(site) !== fold));
    for (const page of pages)
      if (foldOfHints(page.site) === fold) samples.push(readSample(page, hints, random));
  }
  return { trees: trainTrees(samples, shape), hints: learnHints(names) };
}

/** The mean of several models over the samples. */
function trainTrees(samples: Sample[], shape: BoostOptions): Trees {
  const data = tabulate(samples);
  const seeds = Array.from({ length: MODELS }, (_, k) => shape.seed * 100 + k);
  return meanOf(seeds.map((seed) => boost(data, { ...shape, seed })));
}
