// The blocks of the scripts that part no words by spaces, as patterns of PostgreSQL and of JavaScript write them alike:
// Thai, Lao, Tibetan, Burmese, Khmer, kana with their marks, Chinese characters.
const LETTERS =
  '\\u0E01-\\u0EFF\\u0F40-\\u0FBC\\u1000-\\u109F\\u1780-\\u17D3\\u3005-\\u3007\\u3041-\\u309F\\u30A1-\\u30FA\\u30FC-\\u30FF\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF';
// A list of words may not exceed 1 MB with all that is in it besides.
const mostPairedChars = 10_000;
const mostPartedChars = 40_000;

const replaced = (text: string, pattern: string, by: string): string =>
  `regexp_replace(${text}, '${pattern}', '${by}', 'g')`;
const pairs = (runs: string): string => replaced(runs, `([${LETTERS}])([${LETTERS}])`, '\\1\\2 ');

/**
 * What a text is found by beyond its words where a whole clause is one to the server: every two letters that stand beside
 * each other, and the words of other scripts between them. SQL for a list of words; `text` is an expression.
 */
export function pairsOf(text: string): string {
  const runs = `left(${replaced(text, `[^${LETTERS}]+`, ' ')}, ${mostPairedChars})`;
  const fromSecond = replaced(runs, `(^| )[${LETTERS}]`, '\\1');
  const others = replaced(`left(${text}, ${mostPartedChars})`, `[${LETTERS}]+`, ' ');
  return `CASE WHEN ${text} ~ '[${LETTERS}]' THEN
            to_tsvector('simple', ${pairs(runs)}) || to_tsvector('simple', ${pairs(fromSecond)}) || to_tsvector('simple', ${others})
          ELSE ''::tsvector END`;
}

const RUN = new RegExp(`[${LETTERS}]{2,}`, 'gu');
const PART = /-*"[^"]*"?|\S+/gu;

/** A query by those pairs: of "東京都" a text must have "東京" and "京都". Anything else stays as it is. */
export function pairedQuery(query: string): string {
  return query.replace(PART, (part) => {
    if (part.search(RUN) < 0) return part;
    // Only side by side are they what is excluded.
    if (part.startsWith('-')) return `-"${part.replace(/[-"]/g, '').replace(RUN, besideOf)}"`;
    return part.replaceAll('"', ' ').replace(RUN, (run) => ` ${overlappingOf(run)} `);
  });
}

/** The runs of a query that a text is to have, for marking them. */
export function runsOf(query: string): string[] {
  const asked = [...query.matchAll(PART)].map(([part]) => part).filter((part) => !part.startsWith('-'));
  return [...new Set(asked.flatMap((part) => part.match(RUN) ?? []))].slice(0, 8);
}

const overlappingOf = (run: string): string =>
  Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)).join(' ');
const besideOf = (run: string): string =>
  Array.from({ length: run.length >> 1 }, (_, at) => run.slice(2 * at, 2 * at + 2)).join(' ');
