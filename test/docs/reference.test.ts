import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { channelErrors, deadReasons, failureReasons } from '../../src/explain/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { listCommands } from './pages/command-line.ts';
import { commandNotes } from './pages/command-notes.ts';
import { renderPages } from './pages/index.ts';
import { listMetrics, metricAdvice } from './pages/metrics.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

test('every page that is made from code says what the code says', async () => {
  const stale: string[] = [];
  for (const [path, text] of Object.entries(await renderPages(database.db)))
    if (textOf(path) !== text) stale.push(path);
  expect(stale, 'npm run build && node scripts/write-reference.mjs writes them anew').toEqual([]);
});

test('every metric has words on what to do with it, and no other has', () => {
  expect(Object.keys(metricAdvice).sort()).toEqual(listMetrics().map((one) => one.name));
});

test('notes are about commands that there are', async () => {
  const known = new Set((await listCommands()).map((one) => one.path));
  expect(Object.keys(commandNotes).filter((path) => !known.has(path))).toEqual([]);
});

test('every error a channel can count has words', () => {
  const kinds = unionOf('src/fetch/channel-outcome.ts', 'export type ChannelError =', ';');
  expect(Object.keys(channelErrors).sort()).toEqual(kinds.sort());
});

/** Sources of the engine and its functions, without tests. */
function codeFiles(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.test.ts'))
    .map((name) => textOf(join(folder, name)));
}

/** The members of a union of words in a file. */
function unionOf(path: string, from: string, to: string): string[] {
  const text = textOf(path);
  const start = text.indexOf(from);
  expect(start, `${path} has no "${from}" any more`).toBeGreaterThanOrEqual(0);
  return [...text.slice(start, text.indexOf(to, start)).matchAll(/'([a-z0-9_]+)'/g)].map((one) => one[1]!);
}

// Codes that stand in rows are made in a few ways only; each is looked for, so that a new code cannot go without words.
test('every code a URL can end or fail with has words', () => {
  const given = /(?:errorCode: |\bcode: |\bdead\(row, |\bfailed\(row, |\bgivenUp\()'([a-z0-9_]+)'/g;
  const codes = new Set([
    ...codeFiles('src/fetch', '.ts').flatMap((text) => [...text.matchAll(given)].map((one) => one[1]!)),
    ...unionOf('src/fetch/client/result.ts', 'export type FailureKind =', ';'),
    ...unionOf('src/validate/validate-page.ts', 'reason:', ';'),
    ...unionOf('src/ingest/response.ts', "reason: 'read_timeout'", ';'),
    ...codeFiles('migrations/functions', '.sql').flatMap((text) =>
      [...text.matchAll(/error_code = (?:CASE[^\n]*?THEN )?'([a-z_]+)'/g)].map((one) => one[1]!),
    ),
  ]);
  expect(codes.size).toBeGreaterThan(30);
  // These belong to rows that are neither dead nor failed: they wait for a browser.
  codes.delete('render_always');
  const worded = new Set([...Object.keys(deadReasons), ...Object.keys(failureReasons)]);
  expect([...codes].filter((one) => !worded.has(one))).toEqual([]);
});
