import { type ArticleRead, type Ingested, ingest, joinPage, type PageResponse } from '../../ingest/index.ts';
import { mostArticlePages } from '../../sites/index.ts';
import { retryAfterOf } from '../client/index.ts';
import { type Decision, decideFailure, decideStatus, type RowFacts } from '../outcome.ts';
import type { FurtherPage, RowContext } from './row-end.ts';

type Later = Extract<FurtherPage, { outcome: 'later' }>;

/**
 * Reads a page and, where it is an article that continues on others, those too: one article is one document. What cannot be
 * had or is no page of it ends the reading; what is there by then is the article. `missing`: a page that may come later.
 */
export async function readArticle(
  response: PageResponse,
  { settings, further }: Pick<RowContext, 'settings' | 'further'>,
): Promise<{ ingested: Ingested; missing: Later | null }> {
  const ingested = await ingest(response, settings);
  if (ingested.outcome !== 'document' || further === null) return { ingested, missing: null };
  let article: ArticleRead = ingested;
  for (let page = 2; article.next !== null && page <= mostArticlePages; page += 1) {
    const answer = await further.ask(article.next, page);
    if (answer.outcome === 'later') return { ingested: article, missing: answer };
    if (answer.outcome === 'none') break;
    const read = await ingest(answer.response, settings);
    const joined = read.outcome === 'document' ? joinPage(article, read, { page, settings }) : null;
    further.note(joined !== null);
    if (joined === null) break;
    article = joined;
  }
  return { ingested: article, missing: null };
}

/** What it means that a further page did not come: the same as if the first had not, but it always costs a try. */
export function decideMissing({ result }: Later, row: RowFacts): Decision {
  const { verdict, domain } =
    result?.outcome === 'response'
      ? decideStatus(result.status, retryAfterOf(result.headers), row)
      : result?.outcome === 'failed'
        ? decideFailure(result.kind, result.detail, row)
        : decideFailure('bad_response', 'it did not come', row);
  const errorText = `a further page of the article: ${verdict.errorText}`;
  return { verdict: { ...verdict, errorText, tries: row.tries + 1 }, domain };
}
