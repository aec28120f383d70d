// Keeps the one-way rule: pure <- base <- state <- work <- edges <- engine. A folder is entered by its index.ts.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const src = join(root, 'src');

// Lower layers never import higher ones; inside one layer a folder may import another, but no cycles.
const layers = [
  [
    'errors',
    'text',
    'dates',
    'url',
    'robots',
    'html',
    'extract',
    'validate',
    'feed-formats',
    'image-formats',
    'source-lists',
  ],
  ['telemetry', 'config', 'db', 's3', 'blobs'],
  [
    'sources',
    'channels',
    'frontier',
    'domains',
    'archives',
    'documents',
    'outbox',
    'images',
    'sites',
    'jobs',
    'explain',
    'switches',
    'auth',
    'events',
    'overview',
  ],
  [
    'fetch',
    'ingest',
    'discover',
    'schedule',
    'job-runs',
    'sinks',
    'resilience',
    'websub',
    'diagnose',
    'render',
    'backup',
  ],
  ['api', 'cli'],
];
// Producers submit to the frontier and nothing more: these names are all they may take from it.
const producers = ['discover', 'channels'];
const producerMayTake = /^(submit|Submit|type |urlId|canonical)/;

const layerOf = (folder) => layers.findIndex((names) => names.includes(folder));
const problems = [];
const edges = new Map();

function* files(dir) {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else if (path.endsWith('.ts')) yield path;
  }
}

const importPattern =
  /(?:import|export)\s+(?:type\s+)?(?:([\w*{}\s,$]+?)\s+from\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

for (const file of files(src)) {
  const inside = relative(src, file).split(sep);
  const folder = inside.length > 1 ? inside[0] : 'engine';
  if (folder !== 'engine' && layerOf(folder) < 0)
    problems.push(`${relative(root, file)}: folder "${folder}" is in no layer (scripts/check-imports.mjs)`);
  if (inside.length === 1 && !/^engine(\.test)?\.ts$/.test(inside[0]))
    problems.push(`${relative(root, file)}: only engine.ts lives in src/ itself`);
  const isTest = file.endsWith('.test.ts');
  for (const match of readFileSync(file, 'utf8').matchAll(importPattern)) {
    const names = match[1] ?? '';
    const target = resolve(dirname(file), match[2] ?? match[3]);
    const where = `${relative(root, file)} -> ${relative(root, target)}`;
    if (!target.startsWith(src + sep)) {
      if (!isTest && !relative(root, target).startsWith('package.json'))
        problems.push(`${where}: src may not import from outside src`);
      continue;
    }
    const to = relative(src, target).split(sep);
    const toFolder = to.length > 1 ? to[0] : 'engine';
    if (toFolder === folder) continue;
    if (toFolder === 'engine') {
      if (folder !== 'cli') problems.push(`${where}: only cli starts the engine`);
      continue;
    }
    if (to.length !== 2 || to[1] !== 'index.ts') problems.push(`${where}: enter a folder by its index.ts`);
    if (isTest) continue;
    if (folder !== 'engine') {
      if (layerOf(toFolder) > layerOf(folder))
        problems.push(`${where}: ${folder} may not import the higher layer's ${toFolder}`);
      if (!edges.has(folder)) edges.set(folder, new Set());
      edges.get(folder).add(toFolder);
      if (producers.includes(folder) && toFolder === 'frontier') {
        for (const name of names
          .replace(/[{}]/g, '')
          .split(',')
          .map((n) => n.trim())
          .filter(Boolean)) {
          const isType = /import\s+type/.test(match[0]) || /^[A-Z]/.test(name);
          if (!isType && !producerMayTake.test(name))
            problems.push(`${where}: producers may only submit, not use "${name}"`);
        }
      }
    }
  }
}

// A cycle between folders means two rooms that are one.
const visiting = [];
const done = new Set();
function visit(folder) {
  if (done.has(folder)) return;
  const at = visiting.indexOf(folder);
  if (at >= 0) {
    problems.push(`cycle between folders: ${[...visiting.slice(at), folder].join(' -> ')}`);
    return;
  }
  visiting.push(folder);
  for (const next of edges.get(folder) ?? []) visit(next);
  visiting.pop();
  done.add(folder);
}
for (const folder of edges.keys()) visit(folder);

if (problems.length > 0) {
  console.error(problems.join('\n'));
  console.error(
    `${problems.length} import rule(s) broken; the rules are at the top of scripts/check-imports.mjs`,
  );
  process.exit(1);
}
console.log('import rules hold');
