import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, unifiedDiff } from './line-diff.ts';

const text = (...lines: string[]): string => lines.join('\n');
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}`);

describe('unifiedDiff', () => {
  it.each([
    ['nothing', text('a', 'b'), text('a', 'b'), ''],
    ['a line more at the end', text('a'), text('a', 'b'), '@@ -1 +1,2 @@\n a\n+b\n'],
    ['a line less at the start', text('a', 'b'), text('b'), '@@ -1,2 +1 @@\n-a\n b\n'],
    ['another line', text('a', 'b', 'c'), text('a', 'x', 'c'), '@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n'],
    [
      'two places far apart',
      text(...numbers(1, 20)),
      text('new', ...numbers(1, 19), 'last'),
      '@@ -1,3 +1,4 @@\n+new\n line 1\n line 2\n line 3\n@@ -17,4 +18,4 @@\n line 17\n line 18\n line 19\n-line 20\n+last\n',
    ],
    [
      'two places close to each other',
      text(...numbers(1, 8)),
      text('x', ...numbers(2, 7), 'y'),
      `@@ -1,8 +1,8 @@\n-line 1\n+x\n${numbers(2, 7)
        .map((line) => ` ${line}\n`)
        .join('')}-line 8\n+y\n`,
    ],
  ])('%s', (_name, before, after, expected) => {
    expect(unifiedDiff(before, after).unified).toBe(expected);
  });

  it('counts lines that went and came', () => {
    expect(unifiedDiff(text('a', 'b', 'c'), text('b', 'x', 'y'))).toMatchObject({ removed: 2, added: 2 });
  });
});

describe('diffLines', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd d'), { maxLength: 30 });

  it('tells both texts whole, whatever they are', () => {
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const { runs } = diffLines(text(...a), text(...b));
        const side = (other: string) => runs.filter((run) => run.kind !== other).flatMap((run) => run.lines);
        expect(side('added').join('\n')).toBe(text(...a));
        expect(side('removed').join('\n')).toBe(text(...b));
      }),
    );
  });

  it('finds the fewest differences', () => {
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const [left, right] = [text(...a).split('\n'), text(...b).split('\n')];
        const { runs } = diffLines(text(...a), text(...b));
        const different = runs.filter((run) => run.kind !== 'same').flatMap((run) => run.lines).length;
        expect(different).toBe(left.length + right.length - 2 * longestShared(left, right));
      }),
    );
  });

  it('answers coarsely where texts have nothing in common', () => {
    const a = Array.from({ length: 20_000 }, (_, n) => `a ${n}`);
    const b = Array.from({ length: 20_000 }, (_, n) => `b ${n}`);
    const { runs, isCoarse } = diffLines(text('head', ...a), text('head', ...b));
    expect(isCoarse).toBe(true);
    expect(runs.map((run) => [run.kind, run.lines.length])).toEqual([
      ['same', 1],
      ['removed', 20_000],
      ['added', 20_000],
    ]);
  });

  it('finds one change in a very long text', () => {
    const a = Array.from({ length: 200_000 }, (_, n) => `line ${n}`);
    const b = a.map((line, n) => (n === 100_000 ? 'another' : line));
    expect(diffLines(a.join('\n'), b.join('\n')).runs.map((run) => run.kind)).toEqual([
      'same',
      'removed',
      'added',
      'same',
    ]);
  });
});

/** The length of the longest common subsequence, the slow and plain way. */
function longestShared(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [j, other] of b.entries())
      next.push(line === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    row = next;
  }
  return row[b.length]!;
}
