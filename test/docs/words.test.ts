import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { settingNames } from '../../bench/simulate/settings.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/index.ts';
import { switchNames } from '../../src/switches/index.ts';
import { commandLinesOf, problemOf } from './commands.ts';
import { listMarkdown, readMarkdown, root } from './markdown-files.ts';
import { listCommands, type NamedCommand } from './pages/command-line.ts';
import { listMetrics } from './pages/metrics.ts';

// Decisions and measurements tell what was true on their day.
const files = listMarkdown().filter(
  ({ path }) => !path.startsWith('docs/decisions/0') && path !== 'docs/benchmarks.md',
);
/** Blocks where "outrider" is the name of something else. */
const noCommands = new Set(['ts', 'sql', 'conf', 'ini']);
let commands: NamedCommand[];
let program: Awaited<ReturnType<typeof buildProgram>>;

beforeAll(async () => {
  commands = await listCommands();
  program = await buildProgram();
});

test.each([
  ['sources --failing', null],
  ['sources set SLUG --every 30', null],
  ['channels wake|disable 3', null],
  ['jobs logs 1 --follow', null],
  ['export backup.json', null],
  ['serch', 'there is no command "serch"'],
  ['sources set herald --evry 30', '"sources set" has no option --evry'],
  ['jobs pause|stop 3', 'there is no command "jobs stop"'],
  ['db dump all.outrider', '"db" has no command "dump"'],
])('the check itself: %s', (line, problem) => {
  expect(problemOf(line, commands, program)).toBe(problem);
});

test('every command line is one that the program understands', () => {
  const problems: string[] = [];
  const tops = new Set(commands.map(({ path }) => path).filter((path) => !path.includes(' ')));
  let looked = 0;
  for (const { path, blocks, spans } of files) {
    const lines = [
      ...blocks.flatMap(({ language, text }) => (noCommands.has(language) ? [] : commandLinesOf(text))),
      ...spans.flatMap(commandLinesOf),
      // "sources set SLUG --every" without the program's name.
      ...spans.filter((span) => span.includes(' --') && tops.has(span.split(' ')[0]!)),
    ];
    looked += lines.length;
    for (const line of lines) {
      const problem = problemOf(line, commands, program);
      if (problem !== null) problems.push(`${path}: ${line.trim()}: ${problem}`);
    }
  }
  expect(looked).toBeGreaterThan(200);
  expect(problems).toEqual([]);
});

test('every setting and variable is one that there is', () => {
  const settings = listSettings();
  // A simulation can also change what is a constant in the product.
  const keys = new Set([...settings.map((one) => one.key), ...settingNames]);
  const groups = new Set(settings.map((one) => one.group));
  const variables = new Set([...settings.map((one) => one.env), ...otherVariables()]);
  const problems: string[] = [];
  for (const { path, blocks, spans } of files) {
    const texts = [...blocks.map((one) => one.text), ...spans];
    for (const [name] of texts.flatMap((text) => [...text.matchAll(/\bOUTRIDER_[A-Z0-9_]*[A-Z0-9]/g)]))
      if (!variables.has(name)) problems.push(`${path}: ${name}`);
    for (const span of spans) {
      const [, group, key] = /^([a-z0-9]+)\.([a-z0-9_]+)(?:: .*)?$/.exec(span) ?? [];
      if (group !== undefined && groups.has(group) && !keys.has(`${group}.${key}`) && !isFile(span))
        problems.push(`${path}: ${span}`);
    }
    for (const { language, text } of blocks) {
      if (language !== 'yaml') continue;
      for (const [group, inside] of Object.entries((parse(text) ?? {}) as Record<string, unknown>)) {
        if (!groups.has(group)) continue;
        for (const key of Object.keys(inside as object))
          if (!keys.has(`${group}.${key}`)) problems.push(`${path}: ${group}.${key} in YAML`);
      }
    }
  }
  expect(problems).toEqual([]);
});

test('every metric is one that there is', () => {
  const known = new Set(listMetrics().map((one) => one.name));
  // The template and the indices of Elasticsearch are called so, too, and a role of the database.
  for (const name of ['outrider_raw_content', 'outrider_fetcher']) known.add(name);
  const problems: string[] = [];
  const texts = [
    ...files.map(({ path }) => path),
    ...readdirSync(join(root, 'deploy/prometheus')).map((name) => join('deploy/prometheus', name)),
  ];
  for (const path of texts)
    for (const [name] of readFileSync(join(root, path), 'utf8').matchAll(/\boutrider_[a-z_]*[a-z]/g))
      if (!known.has(name.replace(/_(bucket|sum|count)$/, ''))) problems.push(`${path}: ${name}`);
  expect(problems).toEqual([]);
});

test('every route is one that the reference of the API has', () => {
  const served = [...readMarkdown('docs/reference/api.md').anchors];
  const routes = [
    ...readFileSync(join(root, 'docs/reference/api.md'), 'utf8').matchAll(/^### (\w+) (\S+)$/gm),
  ];
  expect(routes.length).toBe(served.filter((one) => /^(get|post|put|patch|delete)-/.test(one)).length);
  const shapes = routes.map(([, method, path]) => ({
    method,
    shape: new RegExp(`^${path!.replace(/:\w+/g, '[^/]+')}$`),
  }));
  const problems: string[] = [];
  for (const { path, blocks, spans } of files) {
    if (path === 'docs/reference/api.md') continue;
    for (const text of [...blocks.map((one) => one.text), ...spans])
      for (const [, method, address] of text.matchAll(
        /\b(?:(GET|POST|PUT|PATCH|DELETE) )?(\/api\/v1\/[\w/:.…-]+)/g,
      )) {
        if (/docs|openapi\.json/.test(address!)) continue;
        const isKnown = shapes.some(
          (one) => (method === undefined || one.method === method) && one.shape.test(address!),
        );
        if (!isKnown) problems.push(`${path}: ${method ?? ''} ${address}`);
      }
  }
  expect(problems).toEqual([]);
});

test('the guide to lists names every setting of a source, and no other', () => {
  const code = readFileSync(join(root, 'src/sources/sources.ts'), 'utf8');
  const type = code.slice(code.indexOf('export type SourceSettings = {'));
  const known = [...type.slice(0, type.indexOf('\n};')).matchAll(/^ {2}(\w+)\?:/gm)].map((one) => one[1]!);
  const page = readFileSync(join(root, 'docs/guides/lists.md'), 'utf8');
  const rows = page.slice(page.indexOf('## Settings of a source')).matchAll(/^\| (`[^|]*) \|/gm);
  const named = [...rows].flatMap((row) => [...row[1]!.matchAll(/`(\w+)`/g)].map((one) => one[1]!));
  expect(named.toSorted()).toEqual(known.toSorted());
});

test('the page about the inside names every table, and no other', () => {
  const schema = readFileSync(join(root, 'migrations/schema.sql'), 'utf8');
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+) \(/gm)].map((one) => one[1]!);
  const page = readFileSync(join(root, 'docs/guides/how-it-works.md'), 'utf8');
  const from = page.indexOf('## The tables');
  const part = page.slice(from, page.indexOf('\n## ', from + 3));
  const named = [...part.matchAll(/^\| (`[^|]*)\|/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`(\w+)`/g)].map((one) => one[1]!),
  );
  expect(named.toSorted()).toEqual(tables.filter((one) => one !== 'schema_migrations').toSorted());
});

test('every switch is one that there is', () => {
  const problems = files.flatMap(({ path, blocks, spans }) =>
    [...blocks.map((one) => one.text), ...spans]
      .flatMap((text) => [...text.matchAll(/outrider switch ([a-z_]+)/g)].map((one) => one[1]!))
      .filter((name) => !switchNames.some((one) => one === name))
      .map((name) => `${path}: ${name}`),
  );
  expect(problems).toEqual([]);
});

/** Variables that are no settings: read by the program before its settings, by tests and by scripts. */
function otherVariables(): string[] {
  return ['src', 'test', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .flatMap((name) => [
        ...readFileSync(join(root, folder, name), 'utf8').matchAll(
          /\benv(?:\.|\[['"])(OUTRIDER_[A-Z0-9_]+)|['"](OUTRIDER_(?:CONFIG|TEST_[A-Z_]+))['"]/g,
        ),
      ])
      .map((one) => (one[1] ?? one[2])!),
  );
}

const isFile = (span: string): boolean => /\.(md|ts|js|mjs|json|yml|yaml|png|html|txt|csv|env)$/.test(span);
