import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Column,
  cutToWidth,
  displayWidth,
  oneLine,
  relativeTime,
  renderTable,
  wrapText,
} from './output.ts';

type Row = { title: string; words: number; url: string };

const columns: Column<Row>[] = [
  { title: 'TITLE', value: (row) => row.title, flexible: true },
  { title: 'WORDS', value: (row) => String(row.words), align: 'right' },
  { title: 'URL', value: (row) => row.url, flexible: true },
];

const rows: Row[] = [
  {
    title: 'A headline that goes on for rather longer than a narrow terminal has room for it',
    words: 1204,
    url: 'https://www.example.com/2026/03/04/a-headline-that-goes-on-for-rather-longer',
  },
  {
    title: '博物館の増築の費用が62パーセント増える理由と市議会の反応について',
    words: 88,
    url: 'https://例え.test/記事/12345',
  },
  { title: 'Ein Zeilen\numbruch und\u001b[31m Farbe\u0007\u009b2J', words: 3, url: 'https://example.com/b' },
  { title: 'cafe\u0301', words: 0, url: '' },
];

const linesOf = (width: number, some = rows): string[] =>
  renderTable(some, columns, width).split('\n').slice(0, -1);

describe('renderTable', () => {
  test.each([80, 100, 200])('no line is wider than a terminal of %i columns', (width) => {
    const lines = linesOf(width);
    expect(lines).toHaveLength(rows.length + 1);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  test('at 80 columns the flexible columns are cut with an ellipsis and numbers are whole', () => {
    const [header, first, second] = linesOf(80);
    expect(header).toMatch(/^TITLE +WORDS {2}URL$/);
    expect(first).toContain('…');
    expect(first).toContain(' 1204 ');
    expect(second).toContain('…');
  });

  test('at 200 columns and when piped nothing is cut', () => {
    for (const width of [200, Number.POSITIVE_INFINITY]) expect(linesOf(width).join('\n')).not.toContain('…');
  });

  test('columns stay in line when characters are two columns wide', () => {
    const starts = linesOf(200).map((line) => displayWidth(line.slice(0, line.search(/https:/))));
    expect(new Set(starts.slice(1, 4)).size).toBe(1);
  });

  test('a row is one line and nothing in it moves the cursor', () => {
    const text = linesOf(200).join('');
    expect(text).toContain('Ein Zeilen umbruch');
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  test('columns that may not be cut keep their width however narrow the terminal', () => {
    for (const line of linesOf(10, rows.slice(0, 1)).slice(1)) expect(line).toContain('1204');
  });

  test('no rows give the header alone', () => {
    expect(renderTable([], columns, 80)).toBe('TITLE  WORDS  URL\n');
  });
});

test.each([
  ['plain', 5],
  ['日本語', 6],
  ['한글', 4],
  ['ｆｕｌｌ', 8],
  ['cafe\u0301', 4],
  ['🗞', 2],
  ['–', 1],
  ['', 0],
])('%j is %i columns wide', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test.each([
  ['short', 10, 'short'],
  ['exactly ten', 11, 'exactly ten'],
  ['exactly ten', 10, 'exactly t…'],
  // The next character would need two columns and only one is left.
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
])('%j cut to %i columns is %j', (text, width, cut) => {
  expect(cutToWidth(text, width)).toBe(cut);
  expect(displayWidth(cutToWidth(text, width))).toBeLessThanOrEqual(width);
});

test('text from the web becomes one line', () => {
  expect(oneLine('a\r\n\tb\u0000c\u001b[2J')).toBe('a b c [2J');
});

test.each([
  [0, 'just now'],
  [-30, '30 s ago'],
  [-89, '89 s ago'],
  [-120, '2 min ago'],
  [7200, 'in 2 h'],
  [-172_800, '2 d ago'],
])('%i seconds from now is %j', (seconds, text) => {
  const now = Date.parse('2026-03-04T12:00:00Z');
  expect(relativeTime(new Date(now + seconds * 1000), now)).toBe(text);
});

test('no time is a dash', () => {
  expect(relativeTime(null)).toBe('–');
});

describe('columns that can be spared', () => {
  const spared: Column<Row>[] = [
    { title: 'TITLE', value: (row) => row.title, flexible: true },
    { title: 'WORDS', value: (row) => String(row.words), spare: 1 },
    { title: 'URL', value: (row) => row.url, spare: 2 },
  ];
  const titleOf = (width: number): string => renderTable(rows, spared, width).split('\n')[0]!;

  test.each([
    [200, ['TITLE', 'WORDS', 'URL']],
    [80, ['TITLE', 'WORDS']],
    [26, ['TITLE']],
  ])('at %i columns there are %j', (width, titles) => {
    expect(titleOf(width).split(/ +/)).toEqual(titles);
  });

  test('those that cannot stay, however narrow it is', () => {
    expect(titleOf(1)).toBe('TITLE');
  });

  test('a hundred thousand rows are no more than a call can take', () => {
    const many = Array.from({ length: 200_000 }, () => rows[3]!);
    expect(renderTable(many, spared, 80).length).toBeGreaterThan(200_000);
  });
});

describe('wrapText', () => {
  test.each([
    ['one two three', 7, ['one two', 'three']],
    ['a\n\nb', 10, ['a', '', 'b']],
    ['  - an indented line', 12, ['  - an', '  indented', '  line']],
    ['', 10, ['']],
    // Two columns each: they are broken where the line is full.
    ['日本語日本語', 8, ['日本語日', '本語']],
    ['see https://example.com/a/long/path now', 12, ['see', 'https://example.com/a/long/path', 'now']],
    ['never  broken \u001b[31m', Number.POSITIVE_INFINITY, ['never  broken  [31m']],
  ])('%j at %d', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  test('no line is too wide, nothing moves the cursor, and no letter is lost', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 2, max: 60 }), (text, width) => {
        fc.pre(!text.includes('://'));
        const lines = wrapText(text, width);
        const letters = (some: string): string => oneLine(some).replace(/ /g, '');
        expect(letters(lines.join(''))).toBe(letters(text));
        for (const line of lines) {
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});
