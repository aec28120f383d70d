import { Type } from 'typebox';
import { answer, count, date, oneOf, orNull, serial, writtenDate } from './schemas.ts';

/** How a verdict on a document stands. */
export const classification = oneOf(['pending', 'classified', 'failed'] as const);

const documentId = Type.String({ description: '16 hex digits of the domain, a dash, 64 of the address' });
const words = Type.Array(Type.String());
const open = Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }));

/** The fields of a document as it leaves for programs. */
export const recordFields = {
  id: documentId,
  version: serial,
  url: Type.String(),
  canonical_url: orNull(Type.String()),
  source: orNull(Type.String()),
  title: orNull(Type.String()),
  text: Type.String(),
  authors: words,
  published_at: orNull(writtenDate),
  modified_at: orNull(writtenDate),
  first_seen_at: date,
  crawled_at: date,
  language: orNull(Type.String()),
  section: orNull(Type.String()),
  description: orNull(Type.String()),
  keywords: words,
  lead_image: orNull(Type.String()),
  word_count: count,
  page_type: Type.String(),
  content_hash: Type.String(),
  classification_status: classification,
  classified_at: orNull(date),
  labels: open,
};

const sourceFields = {
  sourceId: orNull(serial),
  source: orNull(Type.String({ description: 'short name of the source' })),
  sourceName: orNull(Type.String()),
};

/** A document as lists show it. */
export const hitShape = answer({
  id: documentId,
  url: Type.String(),
  title: orNull(Type.String()),
  language: orNull(Type.String()),
  publishedAt: orNull(date),
  crawledAt: date,
  wordCount: count,
  ...sourceFields,
  classificationStatus: classification,
  snippet: Type.String({
    description: 'the beginning, or in a search the passage that answers it, with its words between « and »',
  }),
  copies: count,
});

/** A version of a document, without its text. */
export const versionShape = answer({
  version: serial,
  crawledAt: date,
  title: orNull(Type.String()),
  contentHash: Type.String(),
});

/** A document with everything that is known of it. */
export const wholeShape = answer({
  ...recordFields,
  source_name: orNull(Type.String()),
  last_seen_at: date,
  confidence: Type.Number({ description: 'how sure the extraction is, 0 to 1' }),
  meta: Type.Unsafe<object>(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'what else the page said of itself, and in `evidence` what each field was taken from',
      },
    ),
  ),
  copies: Type.Array(
    answer({
      id: documentId,
      url: Type.String(),
      title: orNull(Type.String()),
      ...sourceFields,
      publishedAt: orNull(date),
      firstSeenAt: date,
      first: Type.Boolean({ description: 'who published it first' }),
      exact: Type.Boolean({ description: 'the same text to the letter' }),
    }),
    { description: 'the documents of its cluster, itself among them, at most 100' },
  ),
  copyCount: Type.Integer({ minimum: 0, description: 'documents of its cluster, counted to 1,000' }),
  versions: Type.Array(versionShape),
  sightings: Type.Array(
    answer({
      ...sourceFields,
      channelId: orNull(serial),
      origin: Type.String(),
      parentUrl: orNull(Type.String()),
      seenAt: date,
    }),
  ),
});
