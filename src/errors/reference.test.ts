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

test('every code that a person may meet stands in the reference', () => {
  const listed = new Set([...page('errors.md').matchAll(/`([a-z][a-z0-9_]+)`/g)].map((match) => match[1]));
  const missing = new Set<string>();
  const src = join(root, 'src');
  for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    for (const [, code] of readFileSync(join(src, name), 'utf8').matchAll(/AppError\(\s*'([a-z0-9_]+)'/g))
      if (!listed.has(code!)) missing.add(code!);
  }
  expect([...missing]).toEqual([]);
});
