import { extractPage, type Selectors, selectNodes } from '../extract/index.ts';
import { collapse, textOf } from '../html/index.ts';
import { readPage } from './article.ts';
import type { IngestSettings, PageResponse } from './response.ts';

/** What one selector gave on a page. */
export type SelectorMatch = {
  /** The field it is for. */
  field: string;
  selector: string;
  outcome: 'matched' | 'no_match' | 'invalid_selector';
  /** Elements it matched, counted to 1,000. */
  matches: number;
  /** Texts of the first of them, each cut. */
  texts: string[];
  /** Why it cannot be read. */
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

const mostTexts = 5;
const mostTextChars = 300;
const mostBodyChars = 5000;

// A slice would keep the whole page alive on its way through the thread's message.
const cut = (text: string, most: number): string => Buffer.from(text.slice(0, most), 'utf8').toString('utf8');

/** Tries the selectors of the source in the settings on a page. */
export function sampleSelectors(response: PageResponse, settings: IngestSettings): SelectorSample {
  const selectors = settings.source?.settings.selectors ?? {};
  const page = readPage(response);
  const tried = (Object.entries(selectors) as [keyof Selectors, string][]).map(
    ([field, selector]): SelectorMatch => {
      const found = selectNodes(page, selector);
      const nodes = found.outcome === 'matched' ? found.nodes : [];
      return {
        field,
        selector,
        outcome: found.outcome,
        matches: nodes.length,
        texts: nodes.slice(0, mostTexts).map((node) => cut(collapse(textOf(node)), mostTextChars)),
        message: found.outcome === 'invalid_selector' ? cut(found.message, mostTextChars) : null,
      };
    },
  );
  // After that: reading removes what "exclude" names from the page.
  const extraction = extractPage(page, { url: response.finalUrl, selectors });
  return {
    selectors: tried,
    matched: tried.filter((one) => one.outcome === 'matched').length,
    extraction: {
      title: extraction.title,
      authors: extraction.authors.slice(0, 20),
      publishedAt: extraction.publishedAt?.toISOString() ?? null,
      section: extraction.section,
      leadImage: extraction.leadImage,
      wordCount: extraction.wordCount,
      text: cut(extraction.text, mostBodyChars),
    },
  };
}
