import type { TextLine } from './text-lines.ts';

/** A record of a CSV file with the line it begins on, or what is wrong there. */
export type CsvRecord =
  | { outcome: 'cells'; line: number; cells: string[]; text: string }
  | { outcome: 'bad'; line: number; reason: string; text: string };

const mostCells = 500;

/**
 * Reads RFC 4180 records from lines. A quotation mark that nobody closes costs its own line and not the rest of the
 * file: what it swallowed is read again.
 */
export async function* readCsv(
  lines: AsyncIterable<TextLine>,
  options: { separator: string; most: number },
): AsyncGenerator<CsvRecord> {
  const { separator, most } = options;
  let open: TextLine[] = [];
  let chars = 0;
  let isOpen = false;
  const step = function* (line: TextLine): Generator<CsvRecord> {
    const waiting = [line];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      open.push(next);
      chars += next.text.length + 1;
      isOpen = endsInQuotes(next.text, separator, isOpen);
      if (isOpen && chars <= most && !next.cut) continue;
      const [first, ...rest] = open;
      const wasOpen = isOpen;
      open = [];
      chars = 0;
      isOpen = false;
      if (first!.cut || next.cut) yield bad(first!, `longer than ${most} characters`);
      else if (wasOpen) yield bad(first!, 'a quotation mark is never closed');
      else {
        const text = [first!, ...rest].map((one) => one.text).join('\n');
        yield { outcome: 'cells', line: first!.line, cells: parseCells(text, separator), text };
        continue;
      }
      waiting.unshift(...rest);
    }
  };
  for await (const line of lines) yield* step(line);
  while (open.length > 0) {
    const [first, ...rest] = open;
    open = [];
    chars = 0;
    isOpen = false;
    yield bad(first!, 'a quotation mark is never closed');
    for (const line of rest) yield* step(line);
  }
}

const bad = (line: TextLine, reason: string): CsvRecord => ({
  outcome: 'bad',
  line: line.line,
  reason,
  text: line.text,
});

/** Whether a line ends inside a quoted cell; only a mark at the start of a cell opens one. */
function endsInQuotes(text: string, separator: string, wasOpen: boolean): boolean {
  let inQuotes = wasOpen;
  let atStart = !wasOpen;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (inQuotes) {
      if (char !== '"') continue;
      if (text[at + 1] === '"') at += 1;
      else inQuotes = false;
    } else if (char === '"' && atStart) inQuotes = true;
    atStart = !inQuotes && char === separator;
  }
  return inQuotes;
}

/** The cells of one record. */
export function parseCells(text: string, separator: string): string[] {
  const cells: string[] = [];
  let at = 0;
  while (cells.length < mostCells) {
    let cell = '';
    if (text[at] === '"') {
      let end = at + 1;
      for (; end < text.length; end += 1) {
        if (text[end] !== '"') continue;
        if (text[end + 1] !== '"') break;
        end += 1;
      }
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    }
    // What stands behind a closing mark belongs to the cell all the same: people edit these files by hand.
    const next = text.indexOf(separator, at);
    cells.push(unguarded(cell + text.slice(at, next < 0 ? text.length : next)));
    if (next < 0) return cells;
    at = next + 1;
  }
  return cells;
}

/** Writes one record. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => quoted(guarded(cell))).join(',')}\r\n`;
}

const quoted = (cell: string): string =>
  /[",\r\n;\t]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

// A spreadsheet takes a cell that begins so for a formula, and titles come from the web: an apostrophe makes it text,
// and reading takes it away again.
const guarded = (cell: string): string => (/^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);
