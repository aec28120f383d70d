import type { Block } from './blocks.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';

/** What kind of page it is, for those who deliver or crawl on. */
export type PageType = 'article' | 'stub' | 'listing' | 'other';

// Below this nothing is delivered as a document (spec: documents, fifty words).
const STUB_WORDS = 50;
const LISTING_TYPES = /^(?:CollectionPage|ItemList|SearchResultsPage|Blog|ImageGallery|CategoryCodeSet)$/i;

/** Blocks that are one linked headline each: the mark of a listing. */
export function countTeasers(blocks: Block[]): number {
  let teasers = 0;
  for (const block of blocks) if (block.words >= 5 && block.linkChars > block.chars * 0.8) teasers++;
  return teasers;
}

/** Decides the page type by structured data, text length and link density. */
export function decidePageType(input: {
  url: string;
  tags: MetaTags;
  ld: LdFacts;
  blocks: Block[];
  kept: Block[];
  wordCount: number;
  hasTitle: boolean;
}): PageType {
  const { tags, ld, wordCount } = input;
  const declared =
    ld.isArticle ||
    /^article/i.test(tags.openGraph['og:type'] ?? '') ||
    tags.meta['article:published_time'] !== undefined;
  const teasers = countTeasers(input.blocks);
  const home = /^https?:\/\/[^/]+\/?(?:[?#]|$)/i.test(input.url);
  const longest = input.kept.reduce((most, block) => Math.max(most, block.words), 0);
  if (declared && !home) return wordCount >= STUB_WORDS ? 'article' : 'stub';
  const listed = ld.types.some((type) => LISTING_TYPES.test(type));
  if (teasers >= 8 && (home || listed || wordCount < 20 * teasers || longest < 40)) return 'listing';
  if (wordCount >= STUB_WORDS) return longest >= 20 ? 'article' : 'other';
  return input.hasTitle && wordCount > 0 ? 'stub' : 'other';
}
