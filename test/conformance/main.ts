/** Scores every format against a folder of corpora: npm run conformance -- [--corpus DIR] [--failures FILE] [--json] [--check] */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/errors/index.ts';
import { articles } from './articles.ts';
import { dates } from './dates.ts';
import { feeds } from './feeds.ts';
import { brokenFloors } from './floors.ts';
import type { Failure, Part } from './part.ts';
import { robots } from './robots.ts';
import { sitemaps } from './sitemaps.ts';
import { urls } from './urls.ts';

const parts: readonly Part[] = [feeds, dates, sitemaps, robots, urls, articles];

const USAGE = `usage: npm run conformance -- [--corpus DIR] [--json] [--failures FILE] [--check]
  --corpus DIR     folder with formats/ and articles/<set>/ (truth.json, pages/<id>.html.gz); parts may be missing
  --json           print the scores as one JSON object on the last line
  --failures FILE  write every case that is not right
  --check          fail when a score is below its floor`;

const values = readFlags();
const corpusDir = values.corpus ?? defaultCorpus();
if (values.help) {
  console.log(USAGE);
} else if (corpusDir === null || !existsSync(corpusDir)) {
  // Not well: --check would pass for a mistyped folder, and whoever reads the last line as JSON would find words there.
  console.error(`no corpus at ${corpusDir ?? 'the default place'}: name one with --corpus DIR`);
  process.exitCode = 2;
} else {
  await run(corpusDir);
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        corpus: { type: 'string' },
        failures: { type: 'string' },
        json: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exit(2);
  }
}

async function run(dir: string): Promise<void> {
  const failures: Failure[] = [];
  const scores: Record<string, object> = {};
  for (const part of parts) {
    const score = await part.run(dir, {
      fail: (failure) => failures.push(failure),
      progress: (text) => console.error(text),
    });
    Object.assign(scores, score);
  }
  if (values.failures !== undefined) writeFileSync(values.failures, `${JSON.stringify(failures, null, 1)}\n`);
  if (values.json) console.log(JSON.stringify(scores));
  else printTable(scores);
  if (!values.check) return;
  const broken = brokenFloors(scores);
  if (Object.keys(scores).length === 0) broken.push(`nothing in ${dir} could be scored`);
  for (const text of broken) console.error(`floor broken: ${text}`);
  if (broken.length > 0) process.exitCode = 1;
}

function printTable(scores: Record<string, object>): void {
  // A part with sets of its own (articles) gets a line per set.
  const lines = Object.entries(scores).flatMap(([name, score]): [string, object][] =>
    name === 'articles'
      ? Object.entries(score).map(([set, one]) => [`${name} ${set}`, one as object])
      : [[name, score]],
  );
  const rows = lines.map(([name, score]) => {
    const cells = Object.entries(score).map(([key, value]) => `${key} ${shown(value)}`);
    return `${name.padEnd(14)}${cells.join('  ')}`;
  });
  console.log(rows.length === 0 ? 'the corpus has no part that is known here' : rows.join('\n'));
}

function shown(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The corpora beside the project, where they are kept for conformance runs; from dist/test/conformance. */
function defaultCorpus(): string | null {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) {
    const parent = dirname(root);
    if (parent === root) return null;
    root = parent;
  }
  return join(root, '..', 'shared', 'corpora');
}
