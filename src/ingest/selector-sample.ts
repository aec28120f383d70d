import {
  extractPage,
  isWritten,
  leaveOut,
  type Selected,
  type Selectors,
  selectNodes,
  writtenDates,
} from '../extract/index.ts';
import { attribute, collapse, type PageNode, resolveUrl, textOf } from '../html/index.ts';
import { readPage } from './article.ts';
import type { IngestSettings, PageResponse } from './response.ts';

/** What one selector gave on a page. */
export type SelectorMatch = {
  /** The field it is for. */
  field: string;
  selector: string;
  outcome: 'matched' | 'no_match' | 'no_value' | 'invalid_selector';
  /** Elements it matched, counted to 1,000. */
  matches: number;
  /** What the first of them say, each cut: their text, or the attribute that the field is read from. */
  texts: string[];
  /** What is wrong with it, in words; null: nothing. */
  message: string | null;
};

/** What a page gives with a source's selectors: each by itself, and the document they make together. */
export type SelectorSample = {
  selectors: SelectorMatch[];
  matched: number;
  extraction: {
    title: string | null;
    authors: string[];
    publishedAt: string | null;
    section: string | null;
    leadImage: string | null;
    wordCount: number;
    text: string;
  };
};

const mostMatches = 1_000;
const mostTexts = 5;
const mostTextChars = 300;
const mostBodyChars = 5000;

// A slice would keep the whole page alive on its way through the thread's message.
const cut = (text: string, most: number): string => Buffer.from(text.slice(0, most), 'utf8').toString('utf8');

type Field = keyof Selectors;

/** Tries the selectors of the source in the settings on a page. */
export function sampleSelectors(response: PageResponse, settings: IngestSettings): SelectorSample {
  const selectors = settings.source?.settings.selectors ?? {};
  const page = readPage(response);
  const left = leaveOut(page, selectors);
  const tried = (Object.entries(selectors) as [Field, string][])
    // A field that was left empty has no selector, here as in a crawl.
    .filter(([, selector]) => isWritten(selector))
    .map(([field, selector]) => {
      const found =
        field === 'exclude' && left.selected !== null ? left.selected : selectNodes(left.page, selector);
      return { field, selector, found };
    })
    .map(({ field, selector, found }) => {
      const nodes = found.outcome === 'matched' ? found.nodes : [];
      const texts = nodes
        .slice(0, mostTexts)
        .map((node) => cut(collapse(saidBy(node, field, page.baseUrl)), mostTextChars));
      return { field, selector, found, matches: Math.min(nodes.length, mostMatches), texts };
    });
  const extraction = extractPage(page, { url: response.finalUrl, selectors });
  const matches = tried.map(({ field, selector, found, ...rest }): SelectorMatch => {
    const isMiss = extraction.evidence[`selector.${field}`] === 'no_value';
    const message = isMiss ? noValue[field] : messageFor(found);
    return { field, selector, outcome: isMiss ? 'no_value' : found.outcome, ...rest, message };
  });
  return {
    selectors: matches,
    matched: matches.filter((one) => one.outcome === 'matched').length,
    extraction: {
      title: extraction.title,
      authors: extraction.authors.slice(0, 20),
      publishedAt: writtenDates(extraction).publishedAt,
      section: extraction.section,
      leadImage: extraction.leadImage,
      wordCount: extraction.wordCount,
      text: cut(extraction.text, mostBodyChars),
    },
  };
}

/** What an element says for a field: images and dates stand in attributes, and so does whatever a meta element tells. */
function saidBy(node: PageNode, field: Field, baseUrl: string): string {
  const inAttribute =
    field === 'image'
      ? resolveUrl(attribute(node, 'src') ?? '', baseUrl)
      : field === 'date'
        ? (attribute(node, 'datetime') ?? attribute(node, 'content'))
        : attribute(node, 'content');
  return inAttribute || textOf(node);
}

const unread = (word: string) => `it matches, but no ${word} can be read from that`;
const noValue: Record<Field, string> = {
  title: unread('title'),
  body: unread('text'),
  author: unread('name'),
  date: unread('date'),
  section: unread('section'),
  image: unread('picture'),
  container: unread('text'),
  exclude: 'it matches the whole page, which is not left out',
};

function messageFor(found: Selected): string | null {
  switch (found.outcome) {
    case 'invalid_selector':
      return `this is no CSS selector that can be read: ${cut(found.message, mostTextChars)}`;
    case 'no_match':
      return 'no element of the page matches it';
    case 'matched':
      return null;
  }
}
