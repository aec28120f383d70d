import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { countSnippets, scorePage, summarize, summarizeSnippets } from './article-metric.ts';
import { articles, isRightAuthor, isRightDate, isRightTitle } from './articles.ts';

describe('article metric', () => {
  it('counts shared runs of four words', () => {
    expect(scorePage('a b c d e', 'a b c d e')).toMatchObject({
      precision: 1,
      recall: 1,
      f1: 1,
      exact: true,
    });
    expect(scorePage('a b c d e', 'a b c d')).toMatchObject({ precision: 1, recall: 0.5, exact: false });
    expect(scorePage('a b c d', 'x a b c d')).toMatchObject({ precision: 0.5, recall: 1 });
    expect(scorePage('a b c d', '')).toMatchObject({ precision: 0, recall: 0, f1: 0, predicted: 0 });
  });

  it('leaves empty predictions out of the precision only', () => {
    const summary = summarize([scorePage('a b c d', 'a b c d'), scorePage('a b c d', '')]);
    expect(summary).toMatchObject({ precision: 1, recall: 0.5, meanPageF1: 0.5, exact: 0.5 });
  });
});

describe('snippets', () => {
  it('counts what must be there and what must not, whatever white space and quotes', () => {
    const reference = { with: ["one's  two", 'three'], without: ['Home', 'Read more'] };
    expect(countSnippets(reference, 'zero\n\none’s two. Home')).toEqual({
      kept: 1,
      lost: 1,
      leaked: 1,
      absent: 1,
    });
    expect(countSnippets({}, 'any text')).toEqual({ kept: 0, lost: 0, leaked: 0, absent: 0 });
  });

  it('sums them over pages', () => {
    const pages = [
      { kept: 3, lost: 0, leaked: 1, absent: 3 },
      { kept: 0, lost: 1, leaked: 0, absent: 0 },
    ];
    expect(summarizeSnippets(pages)).toEqual({
      present: 0.75,
      absent: 0.75,
      precision: 0.75,
      recall: 0.75,
      f1: 0.75,
    });
    expect(summarizeSnippets([{ kept: 0, lost: 0, leaked: 0, absent: 0 }])).toBeNull();
  });
});

describe('a set of pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-set-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const story = Array.from(
    { length: 6 },
    (_, i) => `Der Wärter ging am ${i + 1}. Abend die Treppe hinauf und schrieb auf, was er sah.`,
  );
  const page = `<html><head><meta charset="iso-8859-1"><title>Lampen</title></head><body><nav>Start</nav><h1>Lampen</h1>${story.map((line) => `<p>${line}</p>`).join('')}</body></html>`;

  it('may name snippets alone, and leave out addresses; pages are read in the encoding they declare', async () => {
    const set = join(folder, 'articles', 'mine');
    mkdirSync(join(set, 'pages'), { recursive: true });
    writeFileSync(join(set, 'pages', 'latin.html.gz'), gzipSync(Buffer.from(page, 'latin1')));
    writeFileSync(join(set, 'pages', 'utf8.html.gz'), gzipSync(Buffer.from(page, 'utf8')));
    writeFileSync(join(set, 'pages', 'none.html.gz'), gzipSync(Buffer.from(page, 'utf8')));
    const reference = { with: [story[0], 'nowhere to be found'], without: ['Start'] };
    writeFileSync(
      join(set, 'truth.json'),
      JSON.stringify({
        latin: reference,
        utf8: { ...reference, articleBody: '' },
        none: { without: ['Start'] },
      }),
    );
    const scores = await articles.run(folder, { fail: () => undefined, progress: () => undefined });
    expect(scores).toMatchObject({
      articles: {
        mine: { pages: 3, precision: 1, recall: 0.5, f1: 0.6667, snippetF1: 0.6667, empty: 0, title: null },
      },
    });
  });
});

describe('fields', () => {
  it('compares titles, authors and dates', () => {
    expect(isRightTitle('A Story of Lamps', 'a story of lamps!')).toBe(true);
    expect(isRightTitle('A Story of Lamps', 'Another one')).toBe(false);
    expect(isRightAuthor('Ada Lund and Jon Berg', ['Ada Lund', 'Jon Berg'])).toBe(true);
    expect(isRightAuthor('Ada Lund', ['Jon Berg'])).toBe(false);
    expect(isRightAuthor('Ada Lund', [])).toBe(false);
    expect(isRightDate('2024-03-05', new Date('2024-03-06T03:00:00Z'))).toBe(true);
    expect(isRightDate('2024-03-05', new Date('2024-03-07T03:00:00Z'))).toBe(false);
    expect(isRightDate('2024-03-05', null)).toBe(false);
    expect(isRightDate('2024-03', new Date('2024-03-31T03:00:00Z'))).toBe(true);
    expect(isRightDate('2024-03', new Date('2024-04-02T03:00:00Z'))).toBe(false);
    expect(isRightDate('in spring', new Date('2024-03-31T03:00:00Z'))).toBe(false);
  });
});
