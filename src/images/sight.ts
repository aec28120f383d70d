import type { Queryable } from '../db/index.ts';
import { loadHostRules, type SubmitItem } from '../frontier/index.ts';
import { identifyUrl, type UrlIdentity } from '../url/index.ts';

type RowKey = Pick<UrlIdentity, 'bucket' | 'domainKey' | 'hash'>;

/** An image address on a page. */
export type Sighting = {
  image: RowKey;
  page: Pick<UrlIdentity, 'domainKey' | 'hash'>;
  sourceId: number | null;
  executionId: bigint | null;
};

const mostHops = 5;
const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/**
 * Notes that pages show images whose addresses were submitted before. Addresses known to lead to another domain are
 * followed, so that the page is linked with the image that is stored there. Idempotent, as submitting is.
 */
export async function sightImages(db: Queryable, sightings: readonly Sighting[], skewMs = 0): Promise<void> {
  const rules = await loadHostRules(db);
  let left = sightings;
  for (let hop = 0; hop <= mostHops && left.length > 0; hop += 1) {
    const asked = left;
    const rows = asked.map(({ image, page, sourceId, executionId }, ord) => ({
      ord,
      bucket: image.bucket,
      domain_key: image.domainKey.toString(),
      url_hash: hex(image.hash),
      page_domain_key: page.domainKey.toString(),
      page_hash: hex(page.hash),
      source_id: sourceId ?? undefined,
      execution_id: executionId?.toString(),
    }));
    const moved = await db.query<{ ord: number; redirected_to: string }>(
      `SELECT ord, redirected_to FROM image_sight($1, $2 * interval '1 millisecond')`,
      [JSON.stringify(rows), skewMs],
    );
    left = moved.rows.flatMap((row) => {
      const identified = identifyUrl(row.redirected_to, { rules });
      return identified.outcome === 'ok' ? [{ ...asked[row.ord]!, image: identified.identity }] : [];
    });
  }
}

/**
 * Notes the images among what a row submitted: those that a page shows, and the one that an image's address leads to,
 * which is shown by every page that shows the address. `parent` is what the page or the address is known by where
 * that may be older than the rules of its domain.
 */
export async function sightSubmitted(
  db: Queryable,
  items: readonly SubmitItem[],
  executionId: bigint | null,
  parent?: RowKey,
): Promise<void> {
  const rules = await loadHostRules(db);
  const sightings: Sighting[] = [];
  const keyOf = (url: string): RowKey | null => {
    const identified = identifyUrl(url, { rules });
    return identified.outcome === 'ok' ? identified.identity : null;
  };
  for (const { kind, origin, url, parentUrl, sourceId } of items) {
    if (kind !== 'image' || parentUrl == null) continue;
    const [image, page] = [keyOf(url), parent ?? keyOf(parentUrl)];
    if (image === null || page === null) continue;
    if (origin === 'redirect')
      for (const one of await loadSightings(db, page)) sightings.push({ ...one, image });
    else sightings.push({ image, page, sourceId, executionId });
  }
  if (sightings.length > 0) await sightImages(db, sightings);
}

// The pages of one address: a picture of a site's head may have many, and the newest of them will do.
const mostCopied = 1000;

async function loadSightings(db: Queryable, image: RowKey): Promise<Omit<Sighting, 'image'>[]> {
  const result = await db.query<{
    domainKey: bigint;
    hash: Buffer;
    sourceId: number | null;
    executionId: bigint | null;
  }>(
    `SELECT page_domain_key AS "domainKey", page_hash AS hash, source_id AS "sourceId", execution_id AS "executionId"
       FROM image_sightings WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3
      ORDER BY last_seen_at DESC LIMIT ${mostCopied}`,
    [image.bucket, image.domainKey.toString(), image.hash],
  );
  return result.rows.map(({ domainKey, hash, ...rest }) => ({ page: { domainKey, hash }, ...rest }));
}
