import type { Page } from '../html/index.ts';
import { classifyUrl } from '../url/index.ts';
import type { Block } from './blocks.ts';
import { leadsAway } from './headline.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';

/** What kind of page it is, for those who deliver or crawl on. */
export type PageType = 'article' | 'stub' | 'listing' | 'other';

// Below this nothing is delivered as a document (spec: documents, fifty words).
const STUB_WORDS = 50;
// A text without a single sentence of this many words is a table, a menu or a form.
const SENTENCE_WORDS = 20;
// So many linked headlines beside a text that is none make a listing.
const MANY_TEASERS = 8;
const LISTING_TYPES = /^(?:CollectionPage|ItemList|SearchResultsPage|Blog|ImageGallery|CategoryCodeSet)$/i;

type Input = {
  page: Page;
  tags: MetaTags;
  ld: LdFacts;
  blocks: Block[];
  kept: Block[];
  wordCount: number;
  confidence: number;
  hasTitle: boolean;
};

/** Decides the page type by structured data, the address, the length of the text and what stands in its midst. */
export function decidePageType(input: Input): { type: PageType; why: string } {
  const { tags, ld, blocks, wordCount } = input;
  const isDeclared =
    ld.isArticle ||
    /^article/i.test(tags.openGraph['og:type'] ?? '') ||
    tags.meta['article:published_time'] !== undefined;
  const address = classifyUrl(input.page.url, {});
  const isFront = address.reason === 'front page';
  const isOwn = isDeclared && !isFront;
  const isBare = wordCount < STUB_WORDS || isFront || ld.types.some((type) => LISTING_TYPES.test(type));
  if (!isOwn && isBare && blocks.filter(isTeaser).length >= MANY_TEASERS)
    return { type: 'listing', why: 'many linked headlines' };
  if (wordCount < STUB_WORDS)
    return { type: isOwn || (input.hasTitle && wordCount > 0) ? 'stub' : 'other', why: 'few words' };
  const signs = signsOfListing(input, address.kind === 'listing');
  const points = signs.reduce((sum, [worth]) => sum + worth, 0);
  const isNamed = address.kind === 'article';
  if (!(isOwn && isNamed) && points >= (isOwn || isNamed ? NAMED_POINTS : LISTING_POINTS))
    return { type: 'listing', why: signs.map(([, sign]) => sign).join(', ') };
  if (isOwn) return { type: 'article', why: 'declared' };
  const longest = input.kept.reduce((most, block) => Math.max(most, block.words), 0);
  return longest >= SENTENCE_WORDS
    ? { type: 'article', why: 'a text' }
    : { type: 'other', why: 'no sentences' };
}

// Points that make a page a listing, and one that its head or its address calls an article; one that both call so is one.
// Chosen on 3,079 articles and 175 listings.
const LISTING_POINTS = 3;
const NAMED_POINTS = 4;
// So many of a kind among the paragraphs are no accident.
const SEVERAL = 3;

/**
 * What speaks for a listing, with what it is worth. Teasers around the text tell nothing, as articles have as many of
 * them; those in its midst do.
 */
function signsOfListing(input: Input, isListingAddress: boolean): [worth: number, sign: string][] {
  const { page, blocks, kept, confidence } = input;
  const from = blocks.indexOf(kept[0]!) - HEADING_BLOCKS;
  const to = blocks.lastIndexOf(kept.at(-1)!);
  let headings = 0;
  let teasers = 0;
  let mores = 0;
  for (let i = Math.max(0, from); i <= to; i++) {
    const block = blocks[i]!;
    if (block.linkChars <= block.chars * 0.5) continue;
    if (isTeaser(block)) teasers++;
    if (isLinkedHeading(block) && headings < SEVERAL && leadsAway(block.owner, page)) headings++;
    if (block.words <= MORE_WORDS && MORE.test(block.text)) mores++;
  }
  const signs: [number, string][] = [];
  if (isListingAddress) signs.push([2, 'the address of a listing']);
  if (headings >= SEVERAL) signs.push([2, 'linked headings in the text']);
  if (mores >= SEVERAL) signs.push([2, '"read more" in the text']);
  if (teasers >= SEVERAL) signs.push([1, 'linked headlines in the text']);
  if (confidence < 0.6) signs.push([2, 'hardly a text']);
  else if (confidence < 0.8) signs.push([1, 'a doubtful text']);
  return signs;
}

// The heading of the first teaser stands before its text.
const HEADING_BLOCKS = 2;

/** One linked headline, and nothing else. */
const isTeaser = (block: Block) => block.words >= 5 && block.linkChars > block.chars * 0.8;
const isLinkedHeading = ({ owner, chars, linkChars }: Block) =>
  /^h[1-4]$/.test(owner.tag) && chars >= 12 && linkChars > chars * 0.8;

const MORE_WORDS = 6;
const MORE =
  /^(?:(?:read|see|view|learn|find out)\s)?more\b(?!.*comment)|continue reading|keep reading|full (?:story|article)|weiterlesen|\bmehr\b|lire la suite|leer más|leggi|lees (?:verder|meer)|läs mer|czytaj|подробнее|читать|続き|全文/i;
