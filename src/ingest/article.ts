import { brotliCompressSync, constants } from 'node:zlib';
import { contentHash, type Extraction, type ExtractOptions, extractPage } from '../extract/index.ts';
import type { SettleDocument } from '../frontier/index.ts';
import { type Page, parsePage, refreshTarget } from '../html/index.ts';
import { withoutArticlePages } from '../sites/index.ts';
import { openText } from '../text/index.ts';
import { type Validation, validatePage } from '../validate/index.ts';
import { nextPageOf } from './article-pages.ts';
import { findImages, imageModeOf } from './images.ts';
import { isListing } from './links.ts';
import { header, type Ingested, type IngestSettings, type PageFacts, type PageResponse } from './response.ts';
import { isGuessed, readPageFacts } from './spider-links.ts';

/** Decodes and parses a page once; every handler that needs HTML starts here. */
export function readPage(response: Pick<PageResponse, 'body' | 'headers' | 'finalUrl'>): Page {
  const source = openText(response.body, { contentType: header(response, 'content-type'), kind: 'html' });
  return parsePage(source, { url: response.finalUrl });
}

// Below this the extractor says itself that it may have missed the article.
const lowConfidence = 0.4;

/** Whether Readability should read the page too: the extractor found something and does not trust it. */
export function needsSecondOpinion(ingested: Ingested): boolean {
  return ingested.outcome === 'document' && ingested.document.confidence < lowConfidence;
}

/**
 * The same for a page that is only shown: Readability is asked about what passes validation without it. On a page that
 * is rejected it finds what readers are not shown (templates, notices), or the gate itself.
 */
export function wantsSecondOpinion(
  page: Page,
  options: Pick<ExtractOptions, 'url' | 'selectors'>,
  response: Pick<PageResponse, 'body' | 'status' | 'headers'>,
  minBodyBytes: number,
): boolean {
  const extraction = extractPage(page, options);
  if (extraction.confidence >= lowConfidence) return false;
  return validate(page, extraction, response, minBodyBytes).outcome === 'valid';
}

function validate(
  page: Page,
  extraction: Extraction,
  { body, status, headers }: Pick<PageResponse, 'body' | 'status' | 'headers'>,
  minBodyBytes: number,
): Validation {
  return validatePage({ page, extraction, bodyBytes: body.length, status, headers, minBodyBytes });
}

/**
 * An article page: validate, extract, and make the document. Nothing rejected becomes one, and no listing that the spider
 * took for an article. `allowFallback` asks Readability where our own reader is unsure, which may take for ever: only on
 * a thread that can be ended.
 */
export function ingestArticle(
  response: PageResponse,
  settings: IngestSettings,
  { allowFallback = false } = {},
): Ingested {
  const page = readPage(response);
  const extraction = extractFrom(page, response, settings, allowFallback);
  const facts = readPageFacts(page, response, settings);
  const isWrong = facts !== null && isGuessed(response) && isListing(extraction, facts, settings.minWords);
  return isWrong
    ? { outcome: 'links', page: facts }
    : documentFrom({ page, extraction, facts }, response, settings);
}

/** What the extractor makes of a page, with the source's selectors. */
export function extractFrom(
  page: Page,
  response: PageResponse,
  settings: IngestSettings,
  allowFallback = false,
): Extraction {
  const selectors = settings.source?.settings.selectors;
  return extractPage(page, {
    url: response.finalUrl,
    allowFallback,
    ...(selectors === undefined ? {} : { selectors }),
  });
}

/** Whether a page that may lead on elsewhere has nothing to say itself; a challenge or a login has. */
export function saysNothing(validation: Validation): boolean {
  return (
    validation.outcome === 'valid' ||
    validation.reason === 'too_short' ||
    validation.reason === 'no_text' ||
    validation.reason === 'needs_javascript'
  );
}

/** The document of a page that was extracted, if it is valid. */
export function documentFrom(
  read: { page: Page; extraction: Extraction; facts: PageFacts | null },
  response: PageResponse,
  settings: IngestSettings,
): Ingested {
  const { page, extraction, facts } = read;
  const validation = validate(page, extraction, response, settings.minBodyBytes);
  const stub =
    extraction.wordCount < settings.minWords || (extraction.title === null && extraction.text === '');
  const to = stub && saysNothing(validation) ? refreshTarget(page, header(response, 'refresh')) : null;
  if (to !== null) return { outcome: 'moved', to };
  if (validation.outcome === 'rejected')
    return { outcome: 'rejected', reason: validation.reason, detail: validation.detail };
  const { finalUrl, articlePage = 1 } = response;
  return {
    outcome: 'document',
    document: documentOf(response, extraction, stub, settings),
    stub,
    found: findImages(extraction.images, response, settings),
    next:
      settings.source?.settings.pages === 'first'
        ? null
        : nextPageOf(page, extraction, { url: finalUrl, page: articlePage }),
    page: facts === null || stub ? facts : ofArticle(facts),
  };
}

/** What an article has to say to the spider: its further pages are no articles. */
const ofArticle = (facts: PageFacts): PageFacts => ({
  ...facts,
  kind: 'article',
  links: withoutArticlePages(facts.links, facts.url),
});

function documentOf(
  response: PageResponse,
  extraction: Extraction,
  stub: boolean,
  settings: IngestSettings,
): SettleDocument {
  return {
    hash: response.finalHash,
    url: response.finalUrl,
    sourceId: response.row.sourceId,
    wordCount: extraction.wordCount,
    confidence: extraction.confidence,
    publishedAt: extraction.publishedAt,
    modifiedAt: extraction.modifiedAt,
    contentHash: contentHash(extraction.text),
    pageType: stub ? 'stub' : extraction.pageType,
    language: extraction.language,
    canonicalUrl: extraction.canonicalUrl,
    title: extraction.title,
    section: extraction.section,
    description: extraction.description,
    leadImage: extraction.leadImage,
    authors: extraction.authors,
    keywords: extraction.keywords,
    meta: {
      openGraph: extraction.openGraph,
      twitter: extraction.twitter,
      meta: extraction.meta,
      jsonLd: extraction.jsonLd,
      images: imageModeOf(settings) === 'off' ? [] : extraction.images,
      evidence: extraction.evidence,
      offsets: offsetsOf(extraction),
    },
    text: extraction.text,
    raw: settings.keepHtml === 'none' ? null : rawOf(response),
    hold: settings.source?.settings.copies === 'hold',
  };
}

/** Most pages name UTC or nothing, and have nothing to keep. */
function offsetsOf({ publishedOffset: published, modifiedOffset: modified }: Extraction) {
  return published || modified ? { published, modified } : undefined;
}

/** The bytes as they came, when they came compressed. */
export function packedRaw(response: PageResponse): SettleDocument['raw'] {
  const { wireBody, contentEncoding } = response;
  if (wireBody === null || contentEncoding === null || contentEncoding === 'identity') return null;
  return {
    body: wireBody,
    encoding: contentEncoding,
    contentType: header(response, 'content-type') ?? null,
  };
}

// Fastest level: disk is cheap, this thread is not. A page of 83 kB takes 0.26 ms and 18.4 kB; gzip took 0.6 ms and 18.1.
function rawOf(response: PageResponse): SettleDocument['raw'] {
  const packed = packedRaw(response);
  if (packed !== null) return packed;
  const contentType = header(response, 'content-type') ?? null;
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const body = brotliCompressSync(response.body, {
    // One buffer that holds what most pages become.
    chunkSize: 64 * 1024,
    params: { [BROTLI_PARAM_QUALITY]: 0, [BROTLI_PARAM_SIZE_HINT]: response.body.length },
  });
  return { body, encoding: 'br', contentType };
}
