import type { Queryable } from '../db/index.ts';
import { canonicalDomain, domainIdentity } from '../url/index.ts';

/** How one of a source's selectors did on its newest documents. */
export type SelectorRate = {
  /** The field it is for: title, body, author … */
  field: string;
  documents: number;
  /** On how many of them it gave a value; one that matches an element without any is a miss. */
  matched: number;
  /** When a page matched last; null when none did. */
  lastMatchAt: Date | null;
  /** What it did on the newest document: matched, no_match, no_value or invalid_selector with the reason. */
  latest: string;
};

/**
 * Counts what a source's selectors did on its newest documents in its own domain: a redesign shows as a falling share.
 * Index: documents_pkey (bucket, domain_key); there is none by source, as only an operator's question needs it. Only
 * the newest rows have their evidence read: it lies out of line.
 */
export async function loadSelectorRates(
  db: Queryable,
  source: { id: number; url: string },
  limit = 1_000,
): Promise<SelectorRate[]> {
  const domain = canonicalDomain(source.url);
  if (domain === null) return [];
  const { bucket, domainKey } = domainIdentity(domain);
  const result = await db.query<SelectorRate>(
    `WITH newest AS MATERIALIZED (
       SELECT meta, crawled_at FROM documents
        WHERE bucket = $1 AND domain_key = $2 AND source_id = $3 ORDER BY crawled_at DESC LIMIT $4)
     SELECT substr(e.key, 10) AS field, count(*)::integer AS documents,
            count(*) FILTER (WHERE e.value = 'matched')::integer AS matched,
            max(crawled_at) FILTER (WHERE e.value = 'matched') AS "lastMatchAt",
            (array_agg(e.value ORDER BY crawled_at DESC))[1] AS latest
       FROM newest, jsonb_each_text(meta -> 'evidence') e
      WHERE e.key LIKE 'selector.%' GROUP BY 1 ORDER BY 1`,
    [bucket, domainKey.toString(), source.id, limit],
  );
  return result.rows;
}
