import { type Lexicon, lexicons } from './lexicon/index.ts';
import type { Publisher } from './publisher.ts';
import { hashOf, type Random, randomFrom, shareOf } from './random.ts';
import type { Item } from './timeline.ts';

const hourMs = 3_600_000;
const updatedShare = 1 / 8;

/** What an article says, before any page is made of it. */
export interface Story {
  author: string;
  section: { slug: string; name: string };
  /** Paragraphs and subheadings in reading order. */
  blocks: readonly { kind: 'p' | 'h2'; text: string }[];
  words: number;
}

/** Over how many pages an article goes; a short one over fewer, so that none of them is empty. */
export const partsOf = ({ articleParts = 1 }: Publisher, { blocks }: Pick<Story, 'blocks'>): number =>
  Math.max(1, Math.min(articleParts, Math.floor(blocks.length / 2)));

type Slots = (string | { slot: string })[];

/** The headline alone: listings and feeds need hundreds of them, and no text. */
export function headlineOf(seed: number, publisher: Publisher, item: Item): string {
  const lexicon = lexicons[publisher.language];
  const random = randomFrom(hashOf(seed, publisher.domain, 'title', item.id));
  return capitalise(fill(random.pick(patternsOf(lexicon).titles), lexicon, random));
}

/** The section of an item. */
export function sectionOf(seed: number, publisher: Publisher, item: Item): { slug: string; name: string } {
  const { sections } = lexicons[publisher.language];
  return sections[hashOf(seed, publisher.domain, 'section', item.id) % sections.length] as {
    slug: string;
    name: string;
  };
}

/** When an item was revised, oldest first: once, later by 2 to 30 hours, for one in eight, or as often as its publisher edits. */
export function revisionsOf(seed: number, publisher: Publisher, item: Item, nowMs: number): number[] {
  const { editsEveryH, domain } = publisher;
  if (editsEveryH === undefined) {
    const once = revisedAt(seed, publisher, item);
    return once === undefined || once > nowMs ? [] : [once];
  }
  const times: number[] = [];
  const random = randomFrom(hashOf(seed, domain, 'edits', item.id));
  for (let at = item.atMs; ; ) {
    at += -Math.log(1 - random.next()) * editsEveryH * hourMs;
    if (at > nowMs) return times;
    times.push(at);
  }
}

function revisedAt(seed: number, publisher: Publisher, item: Item): number | undefined {
  if (shareOf(seed, publisher.domain, 'revised', item.id) >= updatedShare) return undefined;
  return item.atMs + Math.floor((2 + 28 * shareOf(seed, publisher.domain, 'revision', item.id)) * hourMs);
}

/** Writes the article: 150 to 900 words of its own, and one paragraph more, the newest, once it is revised. */
export function writeStory(
  seed: number,
  publisher: Publisher,
  item: Item,
  options: { revisions?: number } = {},
): Story {
  const lexicon = lexicons[publisher.language];
  const random = randomFrom(hashOf(seed, publisher.domain, 'story', item.id));
  const author = `${random.pick(lexicon.firstNames)} ${random.pick(lexicon.lastNames)}`;
  // Skewed to the short side, as news is: the mean is about 390.
  const target = 170 + Math.floor(560 * random.next() ** 1.6);
  const blocks: { kind: 'p' | 'h2'; text: string }[] = [];
  let words = 0;
  while (words < target) {
    if (blocks.length > 2 && random.next() < 0.12) {
      blocks.push({ kind: 'h2', text: random.pick(lexicon.headings) });
    }
    const text = writeParagraph(lexicon, random, 2 + random.int(4));
    words += countWords(text, lexicon);
    blocks.push({ kind: 'p', text });
  }
  const { revisions = 0 } = options;
  if (revisions > 0) {
    const news = randomFrom(hashOf(seed, publisher.domain, `revision ${revisions}`, item.id));
    const more = writeParagraph(lexicon, news, 2);
    words += countWords(more, lexicon);
    blocks.push({ kind: 'p', text: `${lexicon.furniture.updated}: ${more}` });
  }
  return {
    author,
    section: sectionOf(seed, publisher, item),
    blocks,
    words,
  };
}

/** One sentence of the publisher's language, for what stands around articles. */
export function writeSentence(publisher: Publisher, random: Random): string {
  const lexicon = lexicons[publisher.language];
  return fill(random.pick(patternsOf(lexicon).sentences), lexicon, random);
}

/** The plain text an extractor should find. */
export function textOf(story: Story): string {
  return story.blocks.map((block) => block.text).join('\n\n');
}

function writeParagraph(lexicon: Lexicon, random: Random, sentences: number): string {
  const { sentences: patterns } = patternsOf(lexicon);
  let text = fill(random.pick(patterns), lexicon, random);
  for (let i = 1; i < sentences; i++) text += lexicon.gap + fill(random.pick(patterns), lexicon, random);
  return text;
}

/** An estimate by length (six characters a word with its space, two in Japanese): counting flattened every text twice. */
function countWords(text: string, lexicon: Lexicon): number {
  return Math.round(text.length / (lexicon.gap === '' ? 2 : 6));
}

const compiled = new Map<string, { titles: Slots[]; sentences: Slots[] }>();

function patternsOf(lexicon: Lexicon): { titles: Slots[]; sentences: Slots[] } {
  let patterns = compiled.get(lexicon.code);
  if (patterns === undefined) {
    patterns = { titles: lexicon.titles.map(compile), sentences: lexicon.sentences.map(compile) };
    compiled.set(lexicon.code, patterns);
  }
  return patterns;
}

function compile(pattern: string): Slots {
  return pattern
    .split(/(\{[A-Z]\})/)
    .map((part) => (/^\{.\}$/.test(part) ? { slot: part[1] as string } : part));
}

function fill(pattern: Slots, lexicon: Lexicon, random: Random): string {
  let text = '';
  for (const part of pattern) text += typeof part === 'string' ? part : wordFor(part.slot, lexicon, random);
  return text;
}

function wordFor(slot: string, lexicon: Lexicon, random: Random): string {
  switch (slot) {
    case 'S':
      return random.pick(lexicon.subjects);
    case 'A':
      return random.pick(lexicon.actions);
    case 'P':
      return random.pick(lexicon.places);
    case 'T':
      return random.pick(lexicon.days);
    case 'R':
      return random.pick(lexicon.reasons);
    case 'Q':
      return random.pick(lexicon.quotes);
    case 'H':
      return lexicon.gap === ''
        ? random.pick(lexicon.lastNames)
        : `${random.pick(lexicon.firstNames)} ${random.pick(lexicon.lastNames)}`;
    case 'G':
      return random.pick(lexicon.topics);
    default:
      return String(2 + random.int(96));
  }
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
