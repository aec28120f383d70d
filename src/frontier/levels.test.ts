import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decidePriority, levelOf, type PriorityInput } from './levels.ts';
import { urlKinds, urlOrigins } from './rows.ts';

const usual: PriorityInput = { base: 5, origin: 'feed', kind: 'article', depth: 0, external: false };

describe('decidePriority', () => {
  test.each<[string, Partial<PriorityInput>, number]>([
    ['a feed item', {}, 7],
    ['a pushed item', { origin: 'push' }, 7],
    ['a sitemap entry', { origin: 'sitemap' }, 6],
    ['a wish of a person', { origin: 'manual' }, 5],
    ['a link to an article on the first page', { origin: 'spider', depth: 1 }, 5],
    ['a link to a listing on the first page', { origin: 'spider', kind: 'listing', depth: 1 }, 4],
    ['a link three pages deep', { origin: 'spider', depth: 3 }, 3],
    ['a feed item of somebody else', { external: true }, 5],
    ['an archive entry of the best source', { origin: 'archive', base: 10 }, 1],
    ['a feed item of the best source', { base: 10 }, 10],
    ['a deep foreign link of the least source', { origin: 'spider', base: 1, depth: 9, external: true }, 1],
  ])('%s', (_name, change, priority) => {
    expect(decidePriority({ ...usual, ...change })).toBe(priority);
  });

  test('depth counts only where links were followed', () => {
    expect(decidePriority({ ...usual, depth: 8 })).toBe(decidePriority(usual));
  });
});

describe('levelOf', () => {
  test.each([
    ['probe', 1, 12],
    ['channel', 10, 11],
    ['article', 7, 7],
    ['listing', 10, 10],
    ['image', 1, 1],
  ] as const)('%s of priority %i is level %i', (kind, priority, level) => {
    expect(levelOf(kind, priority)).toBe(level);
  });
});

test('every URL has a level the table takes, and polls come before every page', () => {
  const input = fc.record({
    base: fc.integer({ min: 1, max: 10 }),
    origin: fc.constantFrom(...urlOrigins),
    kind: fc.constantFrom(...urlKinds),
    depth: fc.integer({ min: 0, max: 1000 }),
    external: fc.boolean(),
  });
  fc.assert(
    fc.property(input, (one) => {
      const priority = decidePriority(one);
      const level = levelOf(one.kind, priority);
      expect(priority).toBeGreaterThanOrEqual(1);
      expect(priority).toBeLessThanOrEqual(10);
      expect(level).toBeGreaterThanOrEqual(1);
      if (one.kind !== 'probe' && one.kind !== 'channel')
        expect(level).toBeLessThan(levelOf('channel', priority));
    }),
  );
});
