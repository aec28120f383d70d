// Trains the block scorer: node dist/test/conformance/training/main.js CORPUS... OUT
// CORPUS is a folder of the conformance layout, of which those after the first are further material that counts less;
// OUT is the file that receives the model (src/extract/model.ts).
// How it does on sites it was not trained on: node dist/test/conformance/training/held-out.js CORPUS...
import { writeFileSync } from 'node:fs';
import { encodeTrees } from '../../../src/extract/trees.ts';
import { loadPages } from './corpus.ts';
import { readSample, seededRandom, train } from './samples.ts';

const corpora = process.argv.slice(2);
const out = corpora.pop();
if (corpora.length === 0 || out === undefined) throw new Error('usage: main.js CORPUS... OUT');
const random = seededRandom(7);
const samples = loadPages(corpora).map((page) => readSample(page, random));
const trees = train(samples);
const packed = encodeTrees(trees);
writeFileSync(
  out,
  `// Written by test/conformance/training/main.ts; the numbers are learnt, not edited.\n/** The trees of the block scorer, packed. */\nexport const MODEL =\n  '${packed}';\n`,
);
console.log(
  `${samples.length} pages, ${trees.roots.length} trees, ${trees.links.length} nodes, ${packed.length} characters`,
);
