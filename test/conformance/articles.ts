import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Extraction, writtenDates } from '../../src/extract/index.ts';
import { parsePage } from '../../src/html/index.ts';
import { decodeBytes } from '../../src/text/index.ts';
import { validatePage } from '../../src/validate/index.ts';
import {
  countSnippets,
  type PageScore,
  type SnippetCounts,
  type Snippets,
  scorePage,
  summarize,
  summarizeSnippets,
  type TextSummary,
} from './article-metric.ts';
import { loadJson, type Part, type PartOptions } from './part.ts';
import type { Asked } from './reader.ts';
import { ReaderProcess } from './reader-process.ts';

/** What is known of a page; every part of it may be missing. */
type Reference = Snippets & {
  url?: string | null;
  articleBody?: string | null;
  title?: string | null;
  author?: string | null;
  date?: string | null;
};

// Every set is read several times, and of each turn the quickest reading counts: what else goes on, and the engine that
// compiles what has run a thousand times, can only add. Single rounds of 90 pages take ours 2.2 to 4 ms a page, the
// quickest of eight 2.2 to 2.7.
const TIMED_PAGES = 720;
const LEAST_ROUNDS = 3;
const MOST_ROUNDS = 40;
// At one page a turn ours took a fifth more and Readability no more. Pauses of a second between turns of forty, without
// any other reader, cost ours a sixth.
const PAGES_A_TURN = 40;
const WORST_PAGES = 40;

/** Letters and digits in lower case: the form in which titles and names are compared. */
export const key = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** A title is right when its letters and digits are the reference's, or one of the two only adds to the other. */
export function isRightTitle(expected: string, got: string | null): boolean {
  if (got === null) return false;
  const [wanted, given] = [key(expected), key(got)];
  if (wanted === given) return true;
  const [short, long] = wanted.length < given.length ? [wanted, given] : [given, wanted];
  return short.length >= 10 && long.includes(short);
}

const HOUR_MS = 3_600_000;

/** A date is right when its instant falls on the reference's day (or month) somewhere on earth: it names no zone. */
export function isRightDate(expected: string, got: Date | null): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?/.exec(expected) ?? [];
  if (got === null || year === undefined) return false;
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1));
  const to = day === undefined ? Date.UTC(Number(year), Number(month), 1) : from + 24 * HOUR_MS;
  return got.getTime() >= from - 14 * HOUR_MS && got.getTime() < to + 12 * HOUR_MS;
}

/** A date names the reference's day when it is written so, by whichever clock. */
export const isSameDay = (expected: string, got: Extraction): boolean =>
  writtenDates(got).publishedAt?.startsWith(expected) === true;

/** Authors are right when every name of the reference is given, whatever is written around it. */
export function isRightAuthor(expected: string, got: string[]): boolean {
  const given = got.map(key);
  const whole = given.join('');
  if (given.length === 0) return false;
  const names = expected
    .split(/,|;|\s+(?:and|&|\|)\s+|&/)
    .map(key)
    .filter((name) => name.length > 1);
  const first = names[0];
  if (first === undefined) return false;
  if (key(expected) === whole) return true;
  // Degrees and job titles follow the name: the names themselves decide.
  return given.some(
    (name) =>
      name === first ||
      (first.length > 5 && name.includes(first)) ||
      (name.length > 5 && key(expected).includes(name)),
  );
}

type Tally = { right: number; of: number };
type Tallies = Record<'title' | 'titleExact' | 'author' | 'date' | 'dateSameDay' | 'dateOrModified', Tally>;
const newTallies = (): Tallies => ({
  title: { right: 0, of: 0 },
  titleExact: { right: 0, of: 0 },
  author: { right: 0, of: 0 },
  date: { right: 0, of: 0 },
  dateSameDay: { right: 0, of: 0 },
  dateOrModified: { right: 0, of: 0 },
});
const share = (tally: Tally) => (tally.of === 0 ? null : round(tally.right / tally.of));
const round = (value: number) => Math.round(value * 10_000) / 10_000;

function count(tally: Tally, right: boolean): boolean {
  tally.of++;
  if (right) tally.right++;
  return right;
}

const urlOf = (reference: Reference): string => reference.url ?? '';

type Readers = { ours: ReaderProcess<'ours'>; theirs: ReaderProcess<'readability'> };
/** The least CPU time each turn has taken so far. */
type Spent = { oursMs: number[]; theirsMs: number[] };
type Measured = { id: string; html: string; got: Extraction; other: string };

/** Both extractors over all pages, some pages at a time in turns, so that load from outside falls on both alike. */
async function* measure(
  readers: Readers,
  ids: string[],
  load: (id: string) => Asked,
  spent: Spent,
): AsyncGenerator<Measured> {
  for (let from = 0; from < ids.length; from += PAGES_A_TURN) {
    const some = ids.slice(from, from + PAGES_A_TURN);
    const pages = some.map(load);
    const got = await readers.ours.read(pages);
    const other = await readers.theirs.read(pages);
    const turn = from / PAGES_A_TURN;
    spent.oursMs[turn] = Math.min(got.cpuMs, spent.oursMs[turn] ?? Infinity);
    spent.theirsMs[turn] = Math.min(other.cpuMs, spent.theirsMs[turn] ?? Infinity);
    yield* some.map((id, i) => ({
      id,
      html: pages[i]!.html,
      got: got.values[i]!,
      other: other.values[i]!,
    }));
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Sets keep most pages in UTF-8, whatever those declare; others are in the encoding they name. */
const readPage = (bytes: Buffer): string =>
  isUtf8(bytes) ? bytes.toString('utf8') : decodeBytes(bytes, { kind: 'html' }).text;

async function runSet(
  readers: Readers,
  folder: string,
  set: string,
  options: PartOptions,
): Promise<object | null> {
  const truth = loadJson<Record<string, Reference>>(folder, 'truth.json');
  if (truth === null) return null;
  const ids = Object.keys(truth).filter((id) => existsSync(join(folder, 'pages', `${id}.html.gz`)));
  const load = (id: string): Asked => ({
    html: readPage(gunzipSync(readFileSync(join(folder, 'pages', `${id}.html.gz`)))),
    url: urlOf(truth[id]!),
  });
  if (ids.length === 0) return null;
  const ours: TextScores = { pages: [], snippets: [] };
  const theirs: TextScores = { pages: [], snippets: [] };
  const tallies = newTallies();
  let empty = 0;
  const spent: Spent = { oursMs: [], theirsMs: [] };
  let falseRejections = 0;
  let takenForListings = 0;
  const worst: { id: string; f1: number; precision: number; recall: number }[] = [];
  for await (const { id, html, got, other } of measure(readers, ids, load, spent)) {
    const reference = truth[id]!;
    const fail = (field: string, expected: unknown, value: unknown) =>
      options.fail({
        part: `articles.${set}.${field}`,
        case: `${id} ${urlOf(reference)}`,
        expected,
        got: value,
      });
    const validation = validatePage({
      page: parsePage(html, { url: urlOf(reference) }),
      extraction: got,
      bodyBytes: Buffer.byteLength(html),
      status: 200,
      headers: {},
    });
    if (validation.outcome === 'rejected') {
      falseRejections++;
      fail('validation', 'valid', `${validation.reason}: ${validation.detail}`);
    }
    if (got.pageType === 'listing') {
      takenForListings++;
      fail('pageType', 'article', `listing: ${got.evidence.pageType}`);
    }
    if (got.text === '') empty++;
    addScores(theirs, reference, other);
    const { f1, precision, recall } = addScores(ours, reference, got.text);
    worst.push({ id, f1, precision, recall });
    countFields(reference, got, tallies, fail);
  }
  const rounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, Math.ceil(TIMED_PAGES / ids.length)));
  for (let again = 1; again < rounds; again++) for await (const _ of measure(readers, ids, load, spent));
  worst.sort((a, b) => a.f1 - b.f1);
  for (const page of worst.slice(0, WORST_PAGES)) {
    options.fail({
      part: `articles.${set}.text`,
      case: `${page.id} ${urlOf(truth[page.id]!)}`,
      expected: 1,
      got: { f1: round(page.f1), precision: round(page.precision), recall: round(page.recall) },
    });
  }
  const found = summarizeSnippets(ours.snippets);
  const oursMs = sum(spent.oursMs);
  const theirsMs = sum(spent.theirsMs);
  return {
    pages: ids.length,
    ...summarizeTexts(ours),
    title: share(tallies.title),
    author: share(tallies.author),
    date: share(tallies.date),
    titleExact: share(tallies.titleExact),
    dateSameDay: share(tallies.dateSameDay),
    dateOrModified: share(tallies.dateOrModified),
    snippetF1: found === null ? null : round(found.f1),
    snippetsPresent: found === null ? null : round(found.present),
    snippetsAbsent: found === null ? null : round(found.absent),
    empty,
    falseRejections,
    takenForListings,
    cpuMsPerPage: round(oursMs / ids.length),
    cpuRatio: round(oursMs / Math.max(1e-9, theirsMs)),
    readability: { ...summarizeTexts(theirs), cpuMsPerPage: round(theirsMs / ids.length) },
  };
}

type TextScores = { pages: PageScore[]; snippets: SnippetCounts[] };

/** Adds what a text is worth: against the whole reference text, against its snippets; nothing where it has neither. */
function addScores(scores: TextScores, reference: Reference, text: string): PageScore | TextSummary {
  const counts = countSnippets(reference, text);
  scores.snippets.push(counts);
  const whole = reference.articleBody ?? '';
  const { with: wanted = [], without: unwanted = [] } = reference;
  if (whole === '' && (wanted.length + unwanted.length > 0 || reference.articleBody == null))
    return summarizeSnippets([counts]) ?? { precision: 1, recall: 1, f1: 1 };
  const score = scorePage(whole, text);
  scores.pages.push(score);
  return score;
}

/** The figures of a set by its texts; where its references name snippets alone, by those. */
function summarizeTexts({ pages, snippets }: TextScores): Record<string, number> {
  const { precision = 0, recall = 0, f1 = 0 } = summarizeSnippets(snippets) ?? {};
  const summary = pages.length > 0 ? summarize(pages) : { precision, recall, f1 };
  return Object.fromEntries(Object.entries(summary).map(([name, value]) => [name, round(value)]));
}

function countFields(
  reference: Reference,
  got: Extraction,
  tallies: Tallies,
  fail: (field: string, expected: string, value: unknown) => void,
): void {
  if (reference.title) count(tallies.titleExact, key(reference.title) === key(got.title ?? ''));
  if (reference.date) count(tallies.dateSameDay, isSameDay(reference.date, got));
  if (reference.date)
    count(
      tallies.dateOrModified,
      isRightDate(reference.date, got.publishedAt) || isRightDate(reference.date, got.modifiedAt),
    );
  if (reference.title && !count(tallies.title, isRightTitle(reference.title, got.title)))
    fail('title', reference.title, got.title);
  if (reference.author && !count(tallies.author, isRightAuthor(reference.author, got.authors)))
    fail('author', reference.author, got.authors);
  if (reference.date && !count(tallies.date, isRightDate(reference.date, got.publishedAt))) {
    const { publishedAt } = writtenDates(got);
    fail(
      'date',
      reference.date,
      publishedAt === null ? null : `${publishedAt} (${got.evidence.publishedAt})`,
    );
  }
}

/** Scores extraction on every article set, beside Readability in the same run. */
export const articles: Part = {
  name: 'articles',
  async run(corpusDir, options) {
    const folder = join(corpusDir, 'articles');
    if (!existsSync(folder)) return null;
    const scores: Record<string, object> = {};
    const readers: Readers = {
      ours: new ReaderProcess('ours'),
      theirs: new ReaderProcess('readability'),
    };
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        options.progress(`articles/${entry.name}`);
        const score = await runSet(readers, join(folder, entry.name), entry.name, options);
        if (score !== null) scores[entry.name] = score;
      }
    } finally {
      readers.ours.stop();
      readers.theirs.stop();
    }
    return Object.keys(scores).length === 0 ? null : { articles: scores };
  },
};
