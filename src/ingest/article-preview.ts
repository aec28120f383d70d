import { type ArticleHtml, articleHtml } from '../extract/index.ts';
import { readPage } from './article.ts';
import type { IngestSettings, PageResponse } from './response.ts';

// Shown to a person with some lines around it, together less than 1 MB.
const maxBytes = 900_000;

/** The article of a page as harmless HTML, chosen as its document was. */
export function previewArticle(response: PageResponse, settings: IngestSettings): ArticleHtml {
  const selectors = settings.source?.settings.selectors;
  return articleHtml(readPage(response), {
    url: response.finalUrl,
    maxBytes,
    ...(selectors === undefined ? {} : { selectors }),
  });
}
