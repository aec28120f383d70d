/** Precision, recall and F1 of one page, with its counts. */
export type PageScore = {
  precision: number;
  recall: number;
  f1: number;
  exact: boolean;
  predicted: number;
  expected: number;
};

const WORD = /[\p{L}\p{N}_]+/gu;
const RUN = 4;

const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

/** How often each run of four words occurs; a shorter text is one run. */
function countRuns(words: string[]): Map<string, number> {
  const runs = new Map<string, number>();
  if (words.length === 0) return runs;
  for (let i = 0; i <= Math.max(0, words.length - RUN); i++) {
    const run = words.slice(i, i + RUN).join(' ');
    runs.set(run, (runs.get(run) ?? 0) + 1);
  }
  return runs;
}

const total = (runs: Map<string, number>) => [...runs.values()].reduce((sum, count) => sum + count, 0);

/** Compares an extracted text with the reference: multisets of four-word runs, case-sensitive. */
export function scorePage(reference: string, extracted: string): PageScore {
  const [wantedWords, foundWords] = [wordsOf(reference), wordsOf(extracted)];
  const [wanted, found] = [countRuns(wantedWords), countRuns(foundWords)];
  let shared = 0;
  for (const [run, count] of found) shared += Math.min(count, wanted.get(run) ?? 0);
  const [expected, predicted] = [total(wanted), total(found)];
  const perfect = shared === expected && shared === predicted;
  const precision = perfect ? 1 : predicted === 0 ? 0 : shared / predicted;
  const recall = perfect ? 1 : expected === 0 ? 0 : shared / expected;
  const f1 = precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
  const exact =
    wantedWords.length === foundWords.length && wantedWords.every((word, i) => word === foundWords[i]);
  return { precision, recall, f1, exact, predicted, expected };
}

const mean = (values: number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The published figures of a set: means over pages, F1 of the two means, and the share of exact texts. */
export function summarize(pages: PageScore[]): {
  precision: number;
  recall: number;
  f1: number;
  meanPageF1: number;
  exact: number;
} {
  const precision = mean(pages.filter((page) => page.predicted > 0).map((page) => page.precision));
  const recall = mean(pages.filter((page) => page.expected > 0).map((page) => page.recall));
  return {
    precision,
    recall,
    f1: precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0,
    meanPageF1: mean(pages.map((page) => page.f1)),
    exact: mean(pages.map((page) => (page.exact ? 1 : 0))),
  };
}

/** Sentences a text must hold and lines it must not, as the third benchmark's references name them. */
export type Snippets = { with?: readonly string[]; without?: readonly string[] };
/** How many snippets were kept, lost, let through and left out. */
export type SnippetCounts = { kept: number; lost: number; leaked: number; absent: number };

// References straighten quotes and dashes on some pages and not on others: 223 of 3,013 snippets differ in nothing else.
const plain = (text: string) =>
  text.replace(/\s+/g, ' ').replace(/[‘’‚]/g, "'").replace(/[“”„]/g, '"').replace(/[–—]/g, '-').trim();

/** Counts the snippets of one page in its text as trafilatura's own evaluation does, but for white space and quotes. */
export function countSnippets(reference: Snippets, extracted: string): SnippetCounts {
  const text = plain(extracted);
  const found = (snippets: readonly string[] = []) =>
    snippets.filter((snippet) => text.includes(plain(snippet))).length;
  const kept = found(reference.with);
  const leaked = found(reference.without);
  return {
    kept,
    lost: (reference.with?.length ?? 0) - kept,
    leaked,
    absent: (reference.without?.length ?? 0) - leaked,
  };
}

/** Precision and recall with the F1 of the two. */
export type TextSummary = { precision: number; recall: number; f1: number };

/** Shares of snippets rightly present and rightly absent, and the figures over all of them; null where there are none. */
export function summarizeSnippets(
  pages: readonly SnippetCounts[],
): (TextSummary & { present: number; absent: number }) | null {
  const sum = (name: keyof SnippetCounts) => pages.reduce((total, page) => total + page[name], 0);
  const [kept, lost, leaked, absent] = [sum('kept'), sum('lost'), sum('leaked'), sum('absent')];
  if (kept + lost === 0) return null;
  return {
    present: kept / (kept + lost),
    absent: leaked + absent === 0 ? 1 : absent / (leaked + absent),
    precision: kept + leaked === 0 ? 0 : kept / (kept + leaked),
    recall: kept / (kept + lost),
    f1: (2 * kept) / (2 * kept + lost + leaked),
  };
}
