import { expect, test } from 'vitest';
import { beginningsOf, excludedOf } from './snippets.ts';

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

test.each([
  ['ferry', null],
  ['two-way', null],
  ['ferry -bridge', 'bridge'],
  ['-bridge --tunnel', 'bridge or tunnel'],
  ['ferry -"over the bridge" -e-mail', '"over the bridge" or e-mail'],
  ['ferry -"never ended', '"never ended"'],
  ['ferry or -bridge', null],
  ['"ferry or boat" -bridge', 'bridge'],
  ['ferry - bridge', null],
  ['-', null],
])('what %s excludes', (query, excluded) => {
  expect(excludedOf(query)).toBe(excluded);
});
