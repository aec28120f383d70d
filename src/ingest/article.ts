import { gzipSync } from 'node:zlib';
import { contentHash, type Extraction, extractPage } from '../extract/index.ts';
import type { SettleDocument, SubmitItem } from '../frontier/index.ts';
import { type Page, parsePage } from '../html/index.ts';
import { decodeBytes } from '../text/index.ts';
import { validatePage } from '../validate/index.ts';
import { findSpiderLinks } from './links.ts';
import { header, type Ingested, type IngestSettings, type PageResponse } from './response.ts';

/** Decodes and parses a page once; every handler that needs HTML starts here. */
export function readPage(response: PageResponse): Page {
  const { text } = decodeBytes(response.body, {
    contentType: header(response, 'content-type'),
    kind: 'html',
  });
  return parsePage(text, { url: response.finalUrl });
}

/** An article page: validate, extract, and make the document. Nothing rejected becomes one. */
export function ingestArticle(response: PageResponse, settings: IngestSettings): Ingested {
  const page = readPage(response);
  const extraction = extractPage(page, {
    url: response.finalUrl,
    selectors: settings.source?.settings.selectors ?? {},
  });
  const validation = validatePage({
    page,
    extraction,
    bodyBytes: response.body.length,
    status: response.status,
    headers: response.headers,
  });
  if (validation.outcome === 'rejected')
    return { outcome: 'rejected', reason: validation.reason, detail: validation.detail };
  const stub =
    extraction.wordCount < settings.minWords || (extraction.title === null && extraction.text === '');
  const found: SubmitItem[] = findSpiderLinks(page, response, settings);
  return { outcome: 'document', document: documentOf(response, extraction, stub, settings), stub, found };
}

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
      images: extraction.images,
      evidence: extraction.evidence,
    },
    text: extraction.text,
    raw: settings.keepHtml === 'none' ? null : rawOf(response),
  };
}

// Kept as it came when it came compressed; plain bodies are gzipped, fastest level: disk is cheap, this thread is not.
function rawOf(response: PageResponse): SettleDocument['raw'] {
  const contentType = header(response, 'content-type') ?? null;
  if (
    response.wireBody !== null &&
    response.contentEncoding !== null &&
    response.contentEncoding !== 'identity'
  ) {
    return { body: response.wireBody, encoding: response.contentEncoding, contentType };
  }
  return { body: gzipSync(response.body, { level: 1 }), encoding: 'gzip', contentType };
}
