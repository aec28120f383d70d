import { type ArticleRead, type Ingested, ingest, joinPage, type PageResponse } from '../../ingest/index.ts';
import { mostArticlePages } from '../../sites/index.ts';
import type { RowContext } from './row-end.ts';

/**
 * Reads a page and, where it is an article that goes on on others, those too: one article is one document. What cannot be
 * had or is no page of it ends the reading; what is there by then is the article. `isWhole`: nothing that may come later
 * is missing.
 */
export async function readArticle(
  response: PageResponse,
  { settings, further }: Pick<RowContext, 'settings' | 'further'>,
): Promise<{ ingested: Ingested; isWhole: boolean }> {
  const ingested = await ingest(response, settings);
  if (ingested.outcome !== 'document' || further === null) return { ingested, isWhole: true };
  let article: ArticleRead = ingested;
  for (let page = 2; article.next !== null && page <= mostArticlePages; page += 1) {
    const answer = await further.ask(article.next, page);
    if (answer.outcome !== 'page') return { ingested: article, isWhole: answer.outcome === 'none' };
    const read = await ingest(answer.response, settings);
    const joined = read.outcome === 'document' ? joinPage(article, read, { page, settings }) : null;
    further.note(joined !== null);
    if (joined === null) break;
    article = joined;
  }
  return { ingested: article, isWhole: true };
}
