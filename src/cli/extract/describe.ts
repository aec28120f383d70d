import { type Explanation, type Extraction, writtenDates } from '../../extract/index.ts';
import { cutToWidth, displayWidth, oneLine, textWidth, wrapText } from '../output.ts';

/** Everything that is told of a page. */
export type Told = {
  verdict: { outcome: 'valid' } | { outcome: 'rejected'; reason: string; detail: string };
  extraction: Extraction;
  explanation: Explanation | null;
  /** Where it is taken to be from, and who says so. */
  address: { url: string; from: string };
  /** Status and type, where a server was asked. */
  answer: string | null;
  /** Where the article goes on. */
  next: string | null;
  /** Where the page sends its readers by itself. */
  to: string | null;
};

const NAME_WIDTH = 12;
// Wider than that a block's line is hard to read, and piped text has no width of its own.
const BLOCK_WIDTH = 100;

/** The answer for a person. */
export function describePage(told: Told): string {
  const { extraction, explanation, verdict } = told;
  const lines = fieldsOf(told).flatMap(([name, value]) => field(name, value));
  for (const [name, did] of Object.entries(extraction.evidence))
    if (name.startsWith('selector.')) lines.push(...field(name, did, 20));
  if (explanation !== null) return `${[...lines, ...explained(explanation)].join('\n')}\n`;
  // What is no text may do anything to a terminal, and says nothing to a person.
  const isText = verdict.outcome === 'valid' || verdict.reason !== 'no_text';
  return isText && extraction.text !== ''
    ? `${lines.join('\n')}\n\n${extraction.text}\n`
    : `${lines.join('\n')}\n`;
}

function fieldsOf({ verdict, extraction, address, answer, next, to }: Told): [string, string][] {
  const { publishedAt, modifiedAt } = writtenDates(extraction);
  const fields: [string, string | null][] = [
    ['verdict', verdict.outcome === 'valid' ? 'valid' : `rejected: ${verdict.reason} (${verdict.detail})`],
    ['answer', answer],
    ['address', `${address.url} (${address.from})`],
    ['title', extraction.title ?? '–'],
    ['authors', extraction.authors.join(', ') || '–'],
    ['published', publishedAt ?? '–'],
    ['modified', modifiedAt ?? '–'],
    ['section', extraction.section ?? '–'],
    ['description', extraction.description ?? '–'],
    ['keywords', extraction.keywords.slice(0, 12).join(' · ') || '–'],
    ['canonical', extraction.canonicalUrl ?? '–'],
    ['image', extraction.leadImage ?? '–'],
    ['images', extraction.images.length > 1 ? String(extraction.images.length) : null],
    [
      'language',
      extraction.language === null ? '–' : `${extraction.language} (${extraction.evidence.language})`,
    ],
    ['page type', `${extraction.pageType} (${extraction.evidence.pageType})`],
    ['words', String(extraction.wordCount)],
    ['confidence', extraction.confidence.toFixed(2)],
    ['text by', extraction.evidence.text ?? '–'],
    ['goes on at', next],
    ['leads to', to],
  ];
  return fields.filter((one): one is [string, string] => one[1] !== null);
}

/** A name and its value, which goes on below itself where the terminal ends. */
function field(name: string, value: string, width = NAME_WIDTH): string[] {
  const [first = '', ...more] = wrapText(oneLine(value), textWidth() - width);
  return [`${name.padEnd(width)}${first}`, ...more.map((line) => ' '.repeat(width) + line)];
}

function explained({ extraction, candidates, blocks, bar }: Explanation): string[] {
  const width = Math.min(textWidth(), BLOCK_WIDTH + 9);
  const lines: string[] = ['', 'evidence:'];
  for (const [name, from] of Object.entries(extraction.evidence))
    if (!name.startsWith('selector.')) lines.push(...field(`  ${name}`, from, 16));
  for (const [name, list] of Object.entries(candidates)) {
    lines.push('', `${name}:`);
    if (list.length === 0) lines.push('  nothing was offered');
    for (const [i, { value, from }] of list.entries())
      lines.push(...field(`  ${i === 0 ? 'won' : 'lost'}`, `${oneLine(value)}  (${oneLine(from)})`, 7));
  }
  lines.push('', `blocks (kept above ${bar.toFixed(2)}, runs count):`);
  for (const { kept, chance, text, why } of blocks) {
    lines.push(`  ${kept ? '+' : '-'} ${chance.toFixed(2)} ${cutToWidth(oneLine(text), width - 9)}`);
    if (why.length > 0) lines.push(...listed(why, width - 9).map((line) => ' '.repeat(9) + line));
  }
  return lines;
}

/** Reasons behind each other, as many in a line as fit. */
function listed(reasons: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const reason of reasons) {
    const last = lines.at(-1);
    const both = last === undefined ? reason : `${last}, ${reason}`;
    if (last !== undefined && displayWidth(both) <= width) lines[lines.length - 1] = both;
    else lines.push(reason);
  }
  return lines;
}
