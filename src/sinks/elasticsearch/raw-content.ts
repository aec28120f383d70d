import { parseDate } from '../../dates/index.ts';
import type { StoredDocument } from '../../documents/index.ts';
import { urlId } from '../../url/index.ts';

/** What a record is made from. */
export type RecordSource = { document: StoredDocument; html: string | null };

/** A field of the index: how it is mapped, and what stands in it; undefined and null are left out. */
type Field = { mapping: object; of: (from: RecordSource) => unknown };
type Fields = { [name: string]: Field | Fields };

// A term may have 32,766 bytes; what is longer is kept but not found.
const keyword = { type: 'keyword', ignore_above: 8000 };
const text = { type: 'text' };
const integer = { type: 'integer' };
const date = { type: 'date', format: 'strict_date_optional_time||epoch_millis' };

const openGraph = (name: string) => (from: RecordSource) => from.document.meta.openGraph?.[`og:${name}`];
const twitter = (name: string) => (from: RecordSource) => from.document.meta.twitter?.[`twitter:${name}`];
const metaTag = (name: string) => (from: RecordSource) => from.document.meta.meta?.[name];
const jsonLd = (name: string) => (from: RecordSource) => from.document.meta.jsonLd?.[`jsonld_${name}`];
const linked = (name: string, mapping: object, read: (value: unknown) => unknown = plain): Fields => ({
  [`jsonld_${name}`]: { mapping, of: (from) => read(jsonLd(name)(from)) },
});

/** Every field of the downstream record: its mapping and its content are made from this one table. */
const fields: Fields = {
  id: { mapping: keyword, of: ({ document }) => urlId(document.domainKey, document.hash) },
  url: { mapping: keyword, of: ({ document }) => document.url },
  source_name: { mapping: keyword, of: ({ document }) => document.sourceName },
  title: { mapping: text, of: ({ document }) => document.title },
  raw_text: { mapping: text, of: ({ document }) => document.text },
  raw_html: { mapping: { type: 'text', index: false }, of: ({ html }) => html },
  author: { mapping: text, of: ({ document }) => joined(document.authors) },
  published_date: { mapping: date, of: ({ document }) => isoDate(document.publishedAt) },
  crawled_at: { mapping: date, of: ({ document }) => isoDate(document.crawledAt) },
  word_count: { mapping: integer, of: ({ document }) => document.wordCount },
  classification_status: { mapping: keyword, of: () => 'pending' },
  // A classifier's own: it is mapped for it and never written here.
  classified_at: { mapping: date, of: () => null },
  canonical_url: { mapping: keyword, of: ({ document }) => document.canonicalUrl },
  article_section: { mapping: keyword, of: ({ document }) => document.section },
  og_type: { mapping: keyword, of: openGraph('type') },
  og_title: { mapping: text, of: openGraph('title') },
  og_description: { mapping: text, of: openGraph('description') },
  og_image: { mapping: keyword, of: openGraph('image') },
  og_url: { mapping: keyword, of: openGraph('url') },
  meta_description: { mapping: text, of: metaTag('description') },
  meta_keywords: { mapping: keyword, of: ({ document }) => some(document.keywords) },
  json_ld_data: {
    ...linked('headline', text),
    ...linked('description', text),
    ...linked('article_section', keyword),
    ...linked('author', text),
    ...linked('publisher_name', keyword),
    ...linked('url', keyword),
    ...linked('image_url', keyword),
    ...linked('date_published', date, writtenDate),
    ...linked('date_created', date, writtenDate),
    ...linked('date_modified', date, writtenDate),
    ...linked('word_count', integer, wholeNumber),
    ...linked('keywords', keyword, some),
    ...linked('schema_type', keyword),
    ...linked('location', text),
    // Publishers put anything anywhere: it is kept as it came and never looked into.
    ...linked('raw', { type: 'object', enabled: false }, (value) => value),
  },
  meta: {
    twitter_card: { mapping: keyword, of: twitter('card') },
    twitter_site: { mapping: keyword, of: twitter('site') },
    og_image_width: { mapping: integer, of: (from) => wholeNumber(openGraph('image:width')(from)) },
    og_image_height: { mapping: integer, of: (from) => wholeNumber(openGraph('image:height')(from)) },
    og_site_name: { mapping: keyword, of: openGraph('site_name') },
    created_at: { mapping: date, of: ({ document }) => isoDate(document.firstSeenAt) },
    updated_at: { mapping: date, of: ({ document }) => isoDate(document.crawledAt) },
    article_opinion: { mapping: keyword, of: metaTag('article:opinion') },
    article_content_tier: { mapping: keyword, of: metaTag('article:content_tier') },
    detected_content_type: { mapping: keyword, of: ({ document }) => document.pageType },
    page_type: { mapping: keyword, of: ({ document }) => document.pageType },
  },
};

/** The index's mapping: strict, so that nothing enters it unseen. */
export function rawContentMapping(): object {
  return { dynamic: 'strict', properties: mappingOf(fields) };
}

/** The record of a document, as downstream classifiers read it. */
export function rawContentRecord(from: RecordSource): Record<string, unknown> {
  return recordOf(fields, from);
}

const mostSlugChars = 200;

/** The index of a source's documents; its slug stays when it is renamed. Documents without a source have their own. */
export function indexName(sourceSlug: string | null): string {
  const slug = (sourceSlug ?? 'unknown').toLowerCase().replace(/[^a-z0-9_]/g, '_');
  // A name may not begin with an underscore.
  return `${slug.replace(/^_+/, '').slice(0, mostSlugChars) || 'unknown'}_raw_content`;
}

const isField = (value: Field | Fields): value is Field => typeof value.of === 'function';

function mappingOf(table: Fields): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, value]) => [
      name,
      isField(value) ? value.mapping : { dynamic: 'strict', properties: mappingOf(value) },
    ]),
  );
}

function recordOf(table: Fields, from: RecordSource): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(table)) {
    const content = isField(value) ? value.of(from) : recordOf(value, from);
    if (content !== undefined && content !== null) record[name] = content;
  }
  return record;
}

function plain(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function some(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return texts.length === 0 ? undefined : texts;
}

function joined(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ');
}

function wholeNumber(value: unknown): number | undefined {
  const number =
    typeof value === 'string' && /^\d{1,9}(?:\s*px)?$/.test(value.trim())
      ? Number.parseInt(value, 10)
      : value;
  return typeof number === 'number' && Number.isInteger(number) && Math.abs(number) < 2 ** 31
    ? number
    : undefined;
}

/** Years of more than four digits are written in a way that the index does not read. */
function isoDate(value: Date | null): string | undefined {
  if (value === null) return undefined;
  const text = value.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined;
}

// One date that nobody can read would make the whole document be refused.
function writtenDate(value: unknown): string | undefined {
  return typeof value === 'string' ? isoDate(parseDate(value)) : undefined;
}
