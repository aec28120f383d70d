import { writeMoment } from '../dates/index.ts';
import type { Queryable } from '../db/index.ts';
import { parseUrlId, urlId } from '../url/index.ts';

/** How a classifier's verdict on a document stands. */
export type ClassificationStatus = 'pending' | 'classified' | 'failed';

/** A document as it is stored, with the source it belongs to. */
export type StoredDocument = {
  domainKey: bigint;
  hash: Buffer;
  version: number;
  url: string;
  canonicalUrl: string | null;
  title: string | null;
  text: string;
  authors: string[];
  publishedAt: Date | null;
  modifiedAt: Date | null;
  firstSeenAt: Date;
  lastSeenAt: Date;
  crawledAt: Date;
  language: string | null;
  section: string | null;
  description: string | null;
  keywords: string[];
  leadImage: string | null;
  wordCount: number;
  pageType: 'article' | 'stub' | 'listing' | 'other';
  confidence: number;
  contentHash: Buffer;
  classificationStatus: ClassificationStatus;
  classifiedAt: Date | null;
  labels: Record<string, unknown>;
  meta: DocumentMeta;
  sourceId: number | null;
  sourceSlug: string | null;
  sourceName: string | null;
};

/** How far the clocks that a document's dates were written by are ahead of UTC, in minutes; null: nobody says. */
export type DateOffsets = { published: number | null; modified: number | null };

/** What else a page said of itself, read as a whole. */
export type DocumentMeta = {
  openGraph?: Record<string, string>;
  twitter?: Record<string, string>;
  meta?: Record<string, string>;
  jsonLd?: Record<string, unknown>;
  images?: unknown[];
  /** What each field was taken from. */
  evidence?: Record<string, string>;
  /** Minutes that the clocks of its dates are ahead of UTC, where they are. */
  offsets?: DateOffsets;
};

/** The columns of a StoredDocument, of a document d and its source s. */
export const storedColumns = `d.domain_key AS "domainKey", d.url_hash AS hash, d.version, d.url, d.canonical_url AS "canonicalUrl", d.title,
  d.text, d.authors, d.published_at AS "publishedAt", d.modified_at AS "modifiedAt", d.first_seen_at AS "firstSeenAt",
  d.last_seen_at AS "lastSeenAt", d.crawled_at AS "crawledAt", d.language, d.section, d.description, d.keywords,
  d.lead_image AS "leadImage", d.word_count AS "wordCount", d.page_type AS "pageType", d.confidence,
  d.content_hash AS "contentHash", d.classification_status AS "classificationStatus", d.classified_at AS "classifiedAt",
  d.labels, d.meta, d.source_id AS "sourceId", s.slug AS "sourceSlug", s.name AS "sourceName"`;

/** A document as it leaves for files and programs; names as they are in JSON. */
export type DocumentRecord = {
  id: string;
  version: number;
  url: string;
  canonical_url: string | null;
  source: string | null;
  title: string | null;
  text: string;
  authors: string[];
  /** By the clock of the page, where it names one: the first ten characters are the day that its readers see. */
  published_at: string | null;
  modified_at: string | null;
  first_seen_at: Date;
  crawled_at: Date;
  language: string | null;
  section: string | null;
  description: string | null;
  keywords: string[];
  lead_image: string | null;
  word_count: number;
  page_type: string;
  content_hash: string;
  classification_status: ClassificationStatus;
  classified_at: Date | null;
  labels: Record<string, unknown>;
};

/** The record of a stored document. */
export function documentRecord(stored: StoredDocument): DocumentRecord {
  const { published = null, modified = null } = stored.meta.offsets ?? {};
  return {
    id: urlId(stored.domainKey, stored.hash),
    version: stored.version,
    url: stored.url,
    canonical_url: stored.canonicalUrl,
    source: stored.sourceSlug,
    title: stored.title,
    text: stored.text,
    authors: stored.authors,
    published_at: stored.publishedAt && writeMoment(stored.publishedAt, published),
    modified_at: stored.modifiedAt && writeMoment(stored.modifiedAt, modified),
    first_seen_at: stored.firstSeenAt,
    crawled_at: stored.crawledAt,
    language: stored.language,
    section: stored.section,
    description: stored.description,
    keywords: stored.keywords,
    lead_image: stored.leadImage,
    word_count: stored.wordCount,
    page_type: stored.pageType,
    content_hash: stored.contentHash.toString('hex'),
    classification_status: stored.classificationStatus,
    classified_at: stored.classifiedAt,
    labels: stored.labels,
  };
}

/** One document by its id; null where there is none. */
export async function loadDocument(db: Queryable, id: string): Promise<StoredDocument | null> {
  const key = parseUrlId(id);
  if (key === null) return null;
  const result = await db.query<StoredDocument>(
    `SELECT ${storedColumns} FROM documents d LEFT JOIN sources s ON s.id = d.source_id
      WHERE d.bucket = ($1::bigint & 255)::smallint AND d.domain_key = $1 AND d.url_hash = $2`,
    [key.domainKey.toString(), key.hash],
  );
  return result.rows[0] ?? null;
}
