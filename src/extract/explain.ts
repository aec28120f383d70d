import { writeMoment } from '../dates/index.ts';
import { indexAfter, type Page } from '../html/index.ts';
import { listAuthors } from './authors.ts';
import { BLOCK_MODEL } from './block-model.ts';
import { type Block, readBlocks } from './blocks.ts';
import { isByline } from './bylines.ts';
import { comparable } from './comparable.ts';
import {
  decideExtraction,
  type Extraction,
  type ExtractOptions,
  type Findings,
  readFindings,
  writtenDates,
} from './extract-page.ts';
import { FEATURE_COUNT, FEATURE_NAMES } from './feature-names.ts';
import type { Features } from './features.ts';
import { isLayoutLine } from './layout-lines.ts';
import { offsetOf, publishedDates } from './page-dates.ts';
import { priorAgainst } from './priors.ts';
import { type Judgement, judgeBlocks } from './select-blocks.ts';
import { listTitles } from './title.ts';

/** A value that was offered for a field, and by what. */
export type Candidate = { value: string; from: string };

/** A block of the page and what became of it. */
export type BlockStory = { text: string; words: number; chance: number; kept: boolean; why: string[] };

/** An extraction with everything that spoke for and against it. */
export type Explanation = {
  extraction: Extraction;
  /** What was offered for each field, the winner first. */
  candidates: Record<'title' | 'authors' | 'publishedAt', Candidate[]>;
  /** What each selector of the source did. */
  selectors: Record<string, string>;
  /** The chance a block needed to be kept. */
  bar: number;
  blocks: BlockStory[];
};

const MAX_CANDIDATES = 20;

/** Extracts a page and tells which evidence won for each field and why blocks were dropped. */
export function explainPage(source: Page, options: ExtractOptions = {}): Explanation {
  const findings = readFindings(source, options, BLOCK_MODEL);
  const extraction = decideExtraction(findings);
  const { page, tags, ld, headline, marks, body, evidence } = findings;
  const judgement = judgeBlocks(
    page,
    body.blocks,
    { tags, ld, headline, classes: marks.classes },
    BLOCK_MODEL,
  );
  return {
    extraction,
    candidates: listCandidates(findings, extraction),
    selectors: Object.fromEntries(
      Object.entries(evidence)
        .filter(([name]) => name.startsWith('selector.'))
        .map(([name, did]) => [name.slice('selector.'.length), did]),
    ),
    bar: judgement.bar,
    blocks: tellBlocks(findings, extraction, judgement),
  };
}

function listCandidates(findings: Findings, extraction: Extraction): Explanation['candidates'] {
  const { tags, ld, bylines, evidence } = findings;
  const titles: Candidate[] = [...listTitles(findings)];
  const authors = [...listAuthors(tags, ld, bylines)].map(({ names, from }) => ({
    value: names.join(', '),
    from,
  }));
  const dates = [...publishedDates(findings)].map((found) => ({
    value: writeMoment(found.date, offsetOf(found, findings.near.habits)),
    from: `${found.from}: ${found.raw.slice(0, 60)}`,
  }));
  // A selector is no candidate among others: it came first and won.
  const chosen = (value: string | null, from: string | undefined, list: Candidate[]) =>
    value !== null && from?.startsWith('selector') ? [{ value, from: 'selector' }, ...list] : list;
  return {
    title: distinct(chosen(extraction.title, evidence.title, titles)),
    authors: distinct(chosen(extraction.authors.join(', ') || null, evidence.authors, authors)),
    publishedAt: distinct(chosen(writtenDates(extraction).publishedAt, evidence.publishedAt, dates)),
  };
}

function distinct(candidates: Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates
    .filter(({ value, from }) => {
      const key = `${from}\n${value}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, MAX_CANDIDATES);
}

function tellBlocks(findings: Findings, extraction: Extraction, judgement: Judgement): BlockStory[] {
  const { blocks, kept, elsewhere } = findings.body;
  const chosen = new Set(elsewhere === undefined ? kept : []);
  const title = comparable(extraction.title ?? '');
  const others = (elsewhere?.blocks ?? []).map(({ text, words }): BlockStory => {
    const byline = isByline(text, extraction.authors);
    return { text, words, chance: 1, kept: !byline, why: byline ? ['only names the author'] : [] };
  });
  const own = blocks.map((block, i): BlockStory => {
    const byline = findings.evidence.text !== 'selector' && isByline(block.text, extraction.authors);
    const isKept = chosen.has(block) && !byline;
    return {
      text: block.text,
      words: block.words,
      chance: Math.round(judgement.chances[i]! * 1_000) / 1_000,
      kept: isKept,
      why: isKept ? [] : reasons(block, i, judgement, { byline, title, by: findings.evidence.text }),
    };
  });
  return [...others, ...withExcluded(own, findings), ...whatIsCut(findings)];
}

/** That the page goes on behind what was read of it. */
function whatIsCut({ evidence: { truncated } }: Findings): BlockStory[] {
  if (truncated === undefined) return [];
  return [
    { text: '…', words: 0, chance: 0, kept: false, why: [`the page has more ${truncated} than are read`] },
  ];
}

/** The blocks of the page with those the source excludes between them, where they stood. */
function withExcluded(own: BlockStory[], { excluded: { from, nodes }, body }: Findings): BlockStory[] {
  if (nodes.length === 0) return own;
  const stories: BlockStory[] = [];
  let told = 0;
  let gone = 0;
  for (const node of nodes) {
    const place = node.index - gone;
    gone += indexAfter(node) - node.index;
    while (told < own.length && body.blocks[told]!.from < place) stories.push(own[told++]!);
    for (const { text, words } of readBlocks(from, node))
      stories.push({ text, words, chance: 0, kept: false, why: ["left out by the source's exclude"] });
  }
  return [...stories, ...own.slice(told)];
}

type Beside = { byline: boolean; title: string; by: string | undefined };

function reasons(block: Block, i: number, judgement: Judgement, { byline, title, by }: Beside): string[] {
  const { features, chances, bar, nextStory } = judgement;
  if (byline) return ['only names the author'];
  if (by === 'json-ld articleBody') return ['the text was taken from the JSON-LD, which has more of it'];
  if (by === 'readability') return ['not in what Readability found'];
  if (i >= nextStory) return ['of the next story'];
  if (isLayoutLine(block)) return ['a label of the layout'];
  if (features.wanted[i] === 0)
    return [block.words <= 5 ? 'a short link far from any paragraph, or in a menu' : 'in a menu or footer'];
  const found = signs(features, i);
  if (block.inControl) found.push('a button or label');
  if (title !== '' && comparable(block.text) === title) found.push('repeats the title');
  const prior = priorAgainst(features, i, block);
  if (prior !== null) found.unshift(prior.name);
  if (chances[i]! >= bar) found.unshift('likely by itself, but stands among lines that are not');
  return found.length === 0 ? ['nothing about it looks like this article'] : found;
}

const index = new Map(FEATURE_NAMES.map((name, at) => [name, at]));
// Names further up than this belong to the whole page rather than to the block.
const NEAR_LEVELS = 4;
// As odds in logarithms: names around which one text of ten belongs to an article.
const SELDOM_TEXT = -2.2;
const TELLING_NAMES =
  /^(?:name|in):(?:nav|side|foot|comment|related|card|share|ad|signup|author|meta|caption|cookie|toc|hidden|shop|aside|footer|figure|form|header)$/;

/** What about the row of a block speaks against it, in words. */
function signs({ rows }: Features, i: number): string[] {
  const value = (name: string) => rows[i * FEATURE_COUNT + (index.get(name) ?? 0)] ?? 0;
  const found: string[] = [];
  for (const name of FEATURE_NAMES) {
    if (TELLING_NAMES.test(name) && value(name) <= NEAR_LEVELS)
      found.push(name.startsWith('in:') ? `inside <${name.slice(3)}>` : `named like "${name.slice(5)}"`);
    else if (name.startsWith('says:') && value(name) === 1) found.push(`reads like "${name.slice(5)}"`);
  }
  if (value('linkShare') > 0.5) found.push(`${Math.round(100 * value('linkShare'))} % link text`);
  if (value('repeated') > 1) found.push(`stands ${value('repeated')} times on the page`);
  if (value('inside85') === 0) found.push('outside the main text');
  if (value('classHint') < SELDOM_TEXT) found.push('class names around it seldom hold articles');
  return found;
}
