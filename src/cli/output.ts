import { paint } from './style.ts';

/** Prints data for programs: one JSON document. BigInts become numbers where they fit, dates ISO text. */
export function printJson(value: unknown): void {
  process.stdout.write(
    `${JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? Number(one) : one), 2)}\n`,
  );
}

/** A column of a table: what it shows of a row, and what becomes of it in a narrow terminal. */
export type Column<T> = {
  title: string;
  value: (row: T) => string;
  align?: 'right';
  /** May be cut to fit the terminal. */
  flexible?: boolean;
  /** May be left out where there is no room, the highest first; `--json` has it all the same. */
  spare?: number;
};

const ellipsis = '…';

/** Columns a character takes in a terminal; good enough for the scripts we meet. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const isWide =
      (code >= 0x1100 && code <= 0x115f) ||
      (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      code >= 0x1f300;
    const isMark = code >= 0x300 && code <= 0x36f;
    width += isMark ? 0 : isWide ? 2 : 1;
  }
  return width;
}

/** Text from the web, safe to print: one line, no control characters. */
export const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');

/** Cuts text to a width, with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let out = '';
  let used = 0;
  for (const character of text) {
    const next = displayWidth(character);
    if (used + next > width - 1) break;
    out += character;
    used += next;
  }
  return out + ellipsis;
}

/** Columns of the terminal; without end where the output is piped, so that nothing is cut for programs. */
export const terminalWidth = (): number => process.stdout.columns ?? Number.POSITIVE_INFINITY;

// Longer lines are hard to read, however wide the terminal.
const widestText = 100;

/** How wide running text is set; piped text is not broken at all. */
export const textWidth = (): number =>
  process.stdout.isTTY ? Math.min(terminalWidth(), widestText) : Number.POSITIVE_INFINITY;

/** Breaks text between words; lines of its own stay, an address is never broken. Answers no empty list. */
export function wrapText(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return text.split('\n').map(oneLine);
  return text.split('\n').flatMap((paragraph) => {
    const indent = /^ */.exec(paragraph)![0];
    // Deeper than half the line there would be no room for words.
    const lead = indent.length * 2 > width ? '' : indent;
    const lines: string[] = [];
    let line = '';
    let used = 0;
    for (const word of oneLine(paragraph)
      .trim()
      .split(/ +/)
      .flatMap((one) => splitWord(one, width - lead.length))) {
      const size = displayWidth(word);
      if (line !== '' && used + 1 + size > width) {
        lines.push(line);
        line = '';
      }
      used = line === '' ? lead.length + size : used + 1 + size;
      line = line === '' ? lead + word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

// Scripts without blanks are broken anywhere; an address never, because a person wants to copy it whole.
function splitWord(word: string, width: number): string[] {
  if (displayWidth(word) <= width || word.includes('://')) return [word];
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const character of word) {
    const size = displayWidth(character);
    if (part !== '' && used + size > width) {
      parts.push(part);
      part = '';
      used = 0;
    }
    part += character;
    used += size;
  }
  return [...parts, part];
}

/** Prints rows as a table that fits the terminal; piped output is not cut. */
export function printTable<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  width = terminalWidth(),
): void {
  const [title, ...lines] = renderTable(rows, columns, width).split('\n');
  process.stdout.write([paint('bold', title!), ...lines].join('\n'));
}

/** The table as text. Columns that can be spared go before those that stay become too narrow to read. */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], width: number): string {
  const kept = [...columns];
  while (leastWidth(rows, kept) > width) {
    const spare = Math.max(...kept.map((column) => column.spare ?? 0));
    if (spare === 0) break;
    kept.splice(
      kept.findIndex((column) => column.spare === spare),
      1,
    );
  }
  return renderColumns(rows, kept, width);
}

const gap = 2;
// A headline or an address still says something at this width, and hardly below.
const readable = 24;

function leastWidth<T>(rows: readonly T[], columns: readonly Column<T>[]): number {
  const widths = columns.map((column) => {
    const widest = rows.reduce(
      (most, row) => Math.max(most, displayWidth(oneLine(column.value(row)))),
      displayWidth(column.title),
    );
    return column.flexible ? Math.min(widest, readable) : widest;
  });
  return widths.reduce((sum, one) => sum + one + gap, -gap);
}

function renderColumns<T>(rows: readonly T[], columns: readonly Column<T>[], width: number): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  // Not Math.max(...cells): a hundred thousand arguments are more than a call can take.
  const widths = columns.map((column, index) =>
    cells.reduce((most, line) => Math.max(most, displayWidth(line[index]!)), displayWidth(column.title)),
  );
  let excess = widths.reduce((sum, one) => sum + one + gap, -gap) - width;
  while (excess > 0) {
    // The widest flexible column gives way first.
    let widest = -1;
    for (const [index, column] of columns.entries())
      if (column.flexible && widths[index]! > 12 && (widest < 0 || widths[index]! > widths[widest]!))
        widest = index;
    if (widest < 0) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  const pad = (text: string, index: number): string => {
    const cut = cutToWidth(text, widths[index]!);
    const space = ' '.repeat(Math.max(0, widths[index]! - displayWidth(cut)));
    return columns[index]!.align === 'right' ? space + cut : cut + space;
  };
  const lines = [columns.map((column) => column.title), ...cells].map((line) =>
    line.map(pad).join(' '.repeat(gap)).trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** "3 min ago", "in 2 h": how long from now, in words. */
export function relativeTime(date: Date | string | null, now = Date.now()): string {
  if (date === null) return '–';
  const seconds = Math.round((new Date(date).getTime() - now) / 1000);
  const size = Math.abs(seconds);
  const [amount, unit] =
    size < 90
      ? [size, 's']
      : size < 5400
        ? [size / 60, 'min']
        : size < 129_600
          ? [size / 3600, 'h']
          : [size / 86_400, 'd'];
  if (size < 1) return 'just now';
  const text = `${Math.round(amount)} ${unit}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}
