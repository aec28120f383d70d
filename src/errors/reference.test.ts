import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EXIT } from './index.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const page = (name: string): string => readFileSync(join(root, 'docs/reference', name), 'utf8');

test('every exit code stands in the reference, by its name, and no other', () => {
  const rows = [...page('exit-codes.md').matchAll(/^\| (\d+) \| (?:`(\w+)`)? ?\|/gm)];
  const told = Object.fromEntries(
    rows.filter((row) => row[2] !== undefined).map((row) => [row[2]!, Number(row[1])]),
  );
  expect(told).toEqual({ ...EXIT });
  // What a shell says of a second Ctrl-C is no constant of ours.
  expect(rows.filter((row) => row[2] === undefined).map((row) => row[1])).toEqual(['130']);
});

/** The code of the engine, without its tests. */
function sources(): string[] {
  const src = join(root, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(src, name), 'utf8'));
}

/** Codes that rows of the reference are about. */
const rowCodes = (): string[] =>
  [...page('errors.md').matchAll(/^\| (`[^|]*) \|/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`([a-z0-9_]+)`/g)].map((one) => one[1]!),
  );

test('every code that a person may meet stands in the reference', () => {
  const listed = new Set(rowCodes());
  const thrown = sources().flatMap((text) =>
    [...text.matchAll(/(?:AppError\(\s*|sendProblem\([^;]{0,60}?)'([a-z0-9_]+)'/g)].map((one) => one[1]!),
  );
  expect(new Set(thrown).size).toBeGreaterThan(50);
  expect([...new Set(thrown)].filter((one) => !listed.has(one))).toEqual([]);
});

test('every code of the reference is one of the program, and stands there once', () => {
  const codes = rowCodes();
  expect(codes.filter((one, index) => codes.indexOf(one) !== index)).toEqual([]);
  const text = sources().join('\n');
  expect(codes.filter((one) => !text.includes(`'${one}'`))).toEqual([]);
});
