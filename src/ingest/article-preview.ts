import { type ArticleHtml, articleHtml } from '../extract/index.ts';
import { readPage } from './article.ts';
import type { IngestSettings, PageResponse } from './response.ts';

// A page that is shown to a person; the longest articles have a fifth of it.
const maxBytes = 1_000_000;

/** The article of a page as harmless HTML, chosen as its document was. */
export function previewArticle(response: PageResponse, settings: IngestSettings): ArticleHtml {
  const selectors = settings.source?.settings.selectors;
  return articleHtml(readPage(response), {
    url: response.finalUrl,
    maxBytes,
    ...(selectors === undefined ? {} : { selectors }),
  });
}
