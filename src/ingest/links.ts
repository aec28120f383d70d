import type { Extraction } from '../extract/index.ts';
import { decidePriority, type SubmitItem } from '../frontier/index.ts';
import { discoverLinks, type Page, refreshTarget } from '../html/index.ts';
import { validatePage } from '../validate/index.ts';
import { documentFrom, extractFrom, readPage, saysNothing } from './article.ts';
import { failedReading } from './feed.ts';
import { LINKS_OF_A_LISTING } from './refusal.ts';
import { header, type Ingested, type IngestSettings, type PageFacts, type PageResponse } from './response.ts';
import { contentLinks, factsOf, isGuessed, readPageFacts } from './spider-links.ts';

// An article has a box of others at its end; a page that leads to more than this is not read for a text of its own.
const linksOfAnArticle = 12;

/**
 * A listing page is read for its links and does not become a document, unless the spider took an article for a listing; a
 * challenge or a missing page is no listing.
 */
export function ingestListing(response: PageResponse, settings: IngestSettings): Ingested {
  const page = readPage(response);
  const facts = readPageFacts(page, response, settings);
  const links = discoverLinks(page).filter((link) => !link.inNav);
  if (facts !== null && isGuessed(response) && mayBeArticle(response, facts)) {
    const extraction = extractFrom(page, response, settings);
    if (extraction.pageType === 'article') {
      const ingested = documentFrom({ page, extraction, facts }, response, settings);
      if (ingested.outcome === 'document' && !ingested.stub) return ingested;
    }
  }
  // A front page of few words may well carry a login box or report on "404 new jobs".
  if (links.length < LINKS_OF_A_LISTING) {
    const validation = validatePage({
      page,
      bodyBytes: response.body.length,
      status: response.status,
      headers: response.headers,
      minBodyBytes: settings.minBodyBytes,
    });
    const to = saysNothing(validation) ? refreshTarget(page, header(response, 'refresh')) : null;
    if (to !== null) return { outcome: 'moved', to };
    // A small site's front page may be short and have no text of its own.
    if (
      validation.outcome === 'rejected' &&
      validation.reason !== 'too_short' &&
      validation.reason !== 'no_text'
    )
      return { outcome: 'rejected', reason: validation.reason, detail: validation.detail };
  }
  return { outcome: 'links', page: facts };
}

function mayBeArticle({ finalUrl }: PageResponse, facts: PageFacts): boolean {
  if (new URL(finalUrl).pathname === '/' || facts.pagers.length > 0) return false;
  return contentLinks(facts).length <= linksOfAnArticle;
}

/** Whether what the spider took for an article is a listing: then it gives links and no document. */
export function isListing(extraction: Extraction, facts: PageFacts, minWords: number): boolean {
  if (extraction.pageType === 'listing') return true;
  if (extraction.pageType === 'article' && extraction.wordCount >= minWords) return false;
  return facts.links.filter((link) => !link.inNav).length >= LINKS_OF_A_LISTING;
}

/**
 * A page that is re-read for its links, as a feed is for its entries: articles only, whatever mode the source has. What
 * is no listing is a parse error of the channel.
 */
export function ingestPageChannel(response: PageResponse, settings: IngestSettings): Ingested {
  const page = readPage(response);
  const links = discoverLinks(page).filter((link) => !link.inNav);
  if (links.length === 0)
    return { outcome: 'channel', reading: failedReading('the page has no links'), found: [] };
  const reading = { ...failedReading(''), error: null, detail: null, format: 'page' };
  return { outcome: 'channel', reading, found: articlesOf(page, response, settings) };
}

function articlesOf(page: Page, response: PageResponse, settings: IngestSettings): SubmitItem[] {
  const rules = settings.source ?? { priority: 5, settings: {} };
  const { row } = response;
  const depth = row.depth + 1;
  return factsOf(page, response, { rules, settings })
    .links.filter((link) => link.kind === 'article')
    .map(({ url, external }) => ({
      url,
      kind: 'article',
      origin: 'spider',
      sourceId: row.sourceId,
      priority: decidePriority({ base: rules.priority, origin: 'spider', kind: 'article', depth, external }),
      depth,
      parentUrl: response.finalUrl,
      executionId: row.executionId ?? null,
      own: !external,
    }));
}
