// Scores titles, authors and dates alone: node dist/test/conformance/training/fields.js CORPUS [--misses FIELD] [--half 0|1]
// A second instead of minutes, and by halves of sites: a rule made while looking at one half is judged by the other.
import { parseArgs } from 'node:util';
import { type Extraction, extractPage, writtenDates } from '../../../src/extract/index.ts';
import { parsePage } from '../../../src/html/index.ts';
import { isRightAuthor, isRightDate, isRightTitle, isSameDay, key } from '../articles.ts';
import { foldOf, loadPages, type TruthPage } from './corpus.ts';

const HALVES = 2;
const FIELDS = ['title', 'titleExact', 'author', 'date', 'dateSameDay'] as const;
type Field = (typeof FIELDS)[number];

/** Whether each field that the reference has is right. */
function judge(page: TruthPage, got: Extraction): Partial<Record<Field, boolean>> {
  const { title, author, date } = page;
  return {
    ...(title
      ? { title: isRightTitle(title, got.title), titleExact: key(title) === key(got.title ?? '') }
      : {}),
    ...(author ? { author: isRightAuthor(author, got.authors) } : {}),
    ...(date
      ? {
          date: isRightDate(date, got.publishedAt),
          dateSameDay: isSameDay(date, got),
        }
      : {}),
  };
}

function describe(page: TruthPage, got: Extraction, field: Field): string {
  const [wanted, given, from] =
    field === 'author'
      ? [page.author, got.authors.join('; '), got.evidence.authors]
      : field === 'title' || field === 'titleExact'
        ? [page.title, got.title, got.evidence.title]
        : [page.date, writtenDates(got).publishedAt, got.evidence.publishedAt];
  return `${page.set}/${page.id} ${page.url}\n  wanted ${wanted}\n  got    ${given ?? 'nothing'} (${from ?? 'no evidence'})`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { misses: { type: 'string' }, half: { type: 'string' } },
});
const corpus = positionals[0];
if (corpus === undefined) throw new Error('usage: fields.js CORPUS [--misses FIELD] [--half 0|1]');

const tallies = new Map<string, { right: number; of: number }>();
for (const page of loadPages([corpus])) {
  if (!page.title && !page.author && !page.date) continue;
  const half = foldOf(page.site, HALVES);
  const got = extractPage(parsePage(page.html, { url: page.url }));
  for (const [field, right] of Object.entries(judge(page, got)) as [Field, boolean][]) {
    for (const name of [`${page.set} all`, `${page.set} half ${half}`]) {
      const tally = tallies.get(`${name} ${field}`) ?? { right: 0, of: 0 };
      tallies.set(`${name} ${field}`, { right: tally.right + (right ? 1 : 0), of: tally.of + 1 });
    }
    const asked = values.misses === field && (values.half === undefined || Number(values.half) === half);
    if (!right && asked) console.log(describe(page, got, field));
  }
}
for (const [name, { right, of }] of [...tallies].sort())
  console.log(`${name.padEnd(28)}${right}/${of}  ${(right / of).toFixed(4)}`);
