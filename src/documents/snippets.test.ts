import { expect, test } from 'vitest';
import { beginningsOf } from './snippets.ts';

test.each([
  ['ferry', ['ferr']],
  ['ferries', ['ferr']],
  ['The SEA', ['the', 'sea']],
  ['ferry -bridge', ['ferr']],
  ['"crossed the strait"', ['cros', 'the', 'str']],
  ['harbour or port', ['harb', 'port']],
  ['two-way', ['two', 'way']],
  ['Fähren', ['fähr']],
  ['same same', ['same']],
  ['', []],
  ['-"', []],
])('%s', (query, beginnings) => {
  const found = beginningsOf(query);
  expect(found).toHaveLength(beginnings.length);
  // A beginning may be longer than is written here, never another.
  for (const [index, beginning] of found.entries())
    expect(beginning.startsWith(beginnings[index]!), `${beginning} for ${beginnings[index]}`).toBe(true);
});
