// Cross-validation by site: node dist/test/conformance/training/held-out.js CORPUS... [--folds N] [--pages FILE] [--seed S]
// Every page is judged by a model that saw no page of its site; this is the estimate for pages we do not have.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { extractWith } from '../../../src/extract/extract-page.ts';
import { parsePage } from '../../../src/html/index.ts';
import {
  countSnippets,
  type PageScore,
  type SnippetCounts,
  scorePage,
  summarize,
  summarizeSnippets,
} from '../article-metric.ts';
import { foldOf, loadPages } from './corpus.ts';
import { readNamesOf, SHAPE, train } from './samples.ts';

type Task = { corpora: string[]; folds: number; mine: number[]; seed: number };
type Judged = { set: string; id: string; url: string; score: PageScore; snippets: SnippetCounts };

/** Trains without each of its folds and judges that fold's pages. */
function runFolds({ corpora, folds, mine, seed }: Task): Judged[] {
  const pages = loadPages(corpora);
  const names = pages.map(readNamesOf);
  const judged: Judged[] = [];
  for (const fold of mine) {
    const isOther = ({ site }: { site: string }) => foldOf(site, folds) !== fold;
    const model = train(pages.filter(isOther), names.filter(isOther), { ...SHAPE, seed });
    for (const page of pages) {
      const { set, id, url } = page;
      if (foldOf(page.site, folds) !== fold) continue;
      const { text } = extractWith(parsePage(page.html, { url }), {}, model);
      const snippets = countSnippets(page, text);
      judged.push({ set, id, url, score: scorePage(page.articleBody, text), snippets });
    }
  }
  return judged;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { folds: { type: 'string' }, pages: { type: 'string' }, seed: { type: 'string' } },
  });
  const corpora = positionals;
  if (corpora.length === 0)
    throw new Error('usage: held-out.js CORPUS... [--folds N] [--pages FILE] [--seed S]');
  const folds = Number(values.folds ?? 4);
  const threads = Math.min(folds, availableParallelism());
  const parts = await Promise.all(
    Array.from({ length: threads }, (_, t) => {
      const mine = Array.from({ length: folds }, (_, fold) => fold).filter((fold) => fold % threads === t);
      const task: Task = { corpora, folds, mine, seed: Number(values.seed ?? SHAPE.seed) };
      return new Promise<Judged[]>((resolve, reject) => {
        const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task });
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    }),
  );
  const judged = parts.flat().sort((a, b) => a.score.f1 - b.score.f1);
  const sets = [...new Set(judged.map((page) => page.set))].sort();
  const report = Object.fromEntries(
    sets.map((set) => {
      const pages = judged.filter((page) => page.set === set);
      const snippets = summarizeSnippets(pages.map((page) => page.snippets));
      return [set, { ...summarize(pages.map((page) => page.score)), snippets }];
    }),
  );
  if (values.pages !== undefined) writeFileSync(values.pages, `${JSON.stringify(judged)}\n`);
  console.log(JSON.stringify(report));
}

if (isMainThread) await main();
else parentPort?.postMessage(runFolds(workerData as Task));
