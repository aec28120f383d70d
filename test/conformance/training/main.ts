// Trains the block scorer: node dist/test/conformance/training/main.js CORPUS... OUT
// CORPUS is a folder of the conformance layout, of which those after the first are further material that counts less;
// OUT is the file that receives the model (src/extract/model.ts).
// How it does on sites it was not trained on: node dist/test/conformance/training/held-out.js CORPUS...
import { writeFileSync } from 'node:fs';
import { encodeModel } from '../../../src/extract/block-model.ts';
import { loadPages } from './corpus.ts';
import { readNamesOf, train } from './samples.ts';

const corpora = process.argv.slice(2);
const out = corpora.pop();
if (corpora.length === 0 || out === undefined) throw new Error('usage: main.js CORPUS... OUT');
const pages = loadPages(corpora);
const model = train(pages, pages.map(readNamesOf));
const packed = encodeModel(model);
writeFileSync(
  out,
  `// Written by test/conformance/training/main.ts; the numbers are learnt, not edited.\n/** The trees of the block scorer, packed. */\nexport const TREES =\n  '${packed.trees}';\n/** What class names tell, packed. */\nexport const HINTS =\n  '${packed.hints}';\n`,
);
console.log(
  `${pages.length} pages, ${model.trees.roots.length} trees, ${model.trees.links.length} nodes, ${packed.trees.length} characters; ${model.hints.weights.filter((weight) => weight !== 0).length} hints, ${packed.hints.length} characters`,
);
