/** A run of lines that two texts share, or that one of them has alone. */
export type LineRun = { kind: 'same' | 'removed' | 'added'; lines: string[] };

/** How two texts differ; `isCoarse`: they differ too much to be compared line by line, so a whole stretch is replaced. */
export type LineDiff = { runs: LineRun[]; isCoarse: boolean };

// Time grows with lines times differences, memory with the square of the differences: 2,000 of them cost 16 MB and
// some 50 ms on texts of 20,000 lines. A text that differs in more has been rewritten.
const mostDifferences = 2000;
const mostLines = 50_000;

/**
 * Compares two texts line by line (Myers 1986, the greedy algorithm), bounded. Our own, because the libraries bound
 * nothing or answer nothing at all when their bound is met; a coarse answer is one too.
 */
export function diffLines(before: string, after: string): LineDiff {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const runs = [
    { kind: 'same', lines: a.slice(0, start) } as const,
    ...middle.runs,
    { kind: 'same', lines: a.slice(a.length - end) } as const,
  ];
  return { runs: runs.filter((run) => run.lines.length > 0), isCoarse: middle.isCoarse };
}

function compare(a: readonly string[], b: readonly string[]): LineDiff {
  const replaced: LineRun[] = [
    { kind: 'removed', lines: [...a] },
    { kind: 'added', lines: [...b] },
  ];
  if (a.length === 0 || b.length === 0) return { runs: replaced, isCoarse: false };
  if (a.length + b.length > mostLines) return { runs: replaced, isCoarse: true };
  const { left, right } = numberLines(a, b);
  const trace = findTrace(left, right);
  return trace === null ? { runs: replaced, isCoarse: true } : { runs: runsOf(trace, a, b), isCoarse: false };
}

/** Equal lines get equal numbers: long lines are then compared once and not at every step. */
function numberLines(a: readonly string[], b: readonly string[]): { left: Int32Array; right: Int32Array } {
  const numbers = new Map<string, number>();
  const numberOf = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  return { left: Int32Array.from(a, numberOf), right: Int32Array.from(b, numberOf) };
}

/** How far each diagonal reaches after each difference; null: there are too many differences. */
function findTrace(a: Int32Array, b: Int32Array): Int32Array[] | null {
  const most = Math.min(a.length + b.length, mostDifferences);
  // Index k + most + 1 is diagonal k, with a place to look at on either side.
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d += 1) {
    for (let k = -d; k <= d; k += 2) {
      const at = k + most + 1;
      const isDown = k === -d || (k !== d && reach[at - 1]! < reach[at + 1]!);
      let x = isDown ? reach[at + 1]! : reach[at - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach[at] = x;
      if (x >= a.length && x - k >= b.length) {
        trace.push(reach.slice(most + 1 - d, most + 2 + d));
        return trace;
      }
    }
    trace.push(reach.slice(most + 1 - d, most + 2 + d));
  }
  return null;
}

/** Walks back from the ends to the beginnings, and turns the way round. */
function runsOf(trace: readonly Int32Array[], a: readonly string[], b: readonly string[]): LineRun[] {
  const back: LineRun[] = [];
  const note = (kind: LineRun['kind'], line: string): void => {
    const last = back.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else back.push({ kind, lines: [line] });
  };
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const before = d === 0 ? null : trace[d - 1]!;
    const reachOf = (k: number): number => before?.[k + d - 1] ?? -1;
    const k = x - y;
    const isDown = k === -d || (k !== d && reachOf(k - 1) < reachOf(k + 1));
    // Where the step before ended; the first one began at the very beginning.
    const fromX = before === null ? 0 : reachOf(isDown ? k + 1 : k - 1);
    const fromY = before === null ? 0 : fromX - (isDown ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      note('same', a[x]!);
    }
    if (before !== null) {
      if (isDown) note('added', b[fromY]!);
      else note('removed', a[fromX]!);
    }
    [x, y] = [fromX, fromY];
  }
  return back.reverse().map(({ kind, lines }) => ({ kind, lines: lines.reverse() }));
}

/** A unified diff as `diff -u` writes it, without its two head lines, and how many lines went and came. */
export type UnifiedDiff = { unified: string; removed: number; added: number; isCoarse: boolean };

const signs = { same: ' ', removed: '-', added: '+' } as const;
const contextLines = 3;

/** Compares two texts and writes what differs with three lines around it. */
export function unifiedDiff(before: string, after: string): UnifiedDiff {
  const { runs, isCoarse } = diffLines(before, after);
  const count = (kind: LineRun['kind']): number =>
    runs.reduce((sum, run) => sum + (run.kind === kind ? run.lines.length : 0), 0);
  const hunks: string[] = [];
  let hunk: Hunk | null = null;
  // Lines of either text before the run at hand.
  let [atA, atB] = [0, 0];
  const close = (): void => {
    if (hunk !== null) hunks.push(hunkText(hunk));
    hunk = null;
  };
  for (const [index, { kind, lines }] of runs.entries()) {
    if (kind === 'same') {
      const isLast = index === runs.length - 1;
      if (hunk !== null) hunk.lines.push(...lines.slice(0, contextLines).map((line) => ` ${line}`));
      // A gap short enough to be context of both sides joins two hunks.
      if (hunk !== null && !isLast && lines.length <= 2 * contextLines)
        hunk.lines.push(...lines.slice(contextLines).map((line) => ` ${line}`));
      else close();
      atA += lines.length;
      atB += lines.length;
      continue;
    }
    if (hunk === null) {
      const above = index === 0 ? [] : runs[index - 1]!.lines.slice(-contextLines);
      hunk = {
        startA: atA - above.length,
        startB: atB - above.length,
        lines: above.map((line) => ` ${line}`),
      };
    }
    for (const line of lines) hunk.lines.push(`${signs[kind]}${line}`);
    if (kind === 'removed') atA += lines.length;
    else atB += lines.length;
  }
  close();
  return { unified: hunks.join(''), removed: count('removed'), added: count('added'), isCoarse };
}

type Hunk = { startA: number; startB: number; lines: string[] };

function hunkText({ startA, startB, lines }: Hunk): string {
  const lengthA = lines.filter((line) => !line.startsWith('+')).length;
  const lengthB = lines.filter((line) => !line.startsWith('-')).length;
  // An empty side names the line before it, as diff does.
  const range = (start: number, length: number): string =>
    `${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
  return `@@ -${range(startA, lengthA)} +${range(startB, lengthB)} @@\n${lines.join('\n')}\n`;
}
