import type { Queryable } from '../db/index.ts';
import { identifyUrl, urlId } from '../url/index.ts';
import { decidePriority } from './levels.ts';
import { previewSubmit, type SubmitAnswer, submit } from './submit.ts';

/** A URL that a person wants fetched. */
export type WishedUrl = { url: string; priority?: number; kind?: 'article' | 'listing' };

/** What became of it, and the id under which it is known. */
export type WishAnswer = { url: string; answer: SubmitAnswer; id: string | null };

/** The source of URLs that a person submits and whose domain belongs to none. */
export const manualSource = 'manual';

const base = 5;

/**
 * Submits what a person wishes: for the source that is named, else for the one whose address lies in the URL's domain,
 * else for the source `manual`, which is made when it is first needed. A dry run answers the same and writes nothing.
 */
export async function submitByHand(
  db: Queryable,
  wishes: readonly WishedUrl[],
  options: { source?: { id: number; priority: number }; dryRun?: boolean } = {},
): Promise<WishAnswer[]> {
  const sources =
    options.source === undefined ? await findSources(db, wishes, options.dryRun ?? false) : null;
  const items = wishes.map((wish, index) => {
    const source = options.source ?? sources?.[index] ?? null;
    return {
      url: wish.url,
      kind: wish.kind ?? ('article' as const),
      origin: 'manual' as const,
      sourceId: source?.id ?? null,
      priority:
        wish.priority ??
        decidePriority({
          base: source?.priority ?? base,
          origin: 'manual',
          kind: 'article',
          depth: 0,
          external: false,
        }),
      own: true,
    };
  });
  const results = await (options.dryRun ? previewSubmit(db, items) : submit(db, items));
  return results.map(({ answer, identity, hash }, index) => ({
    url: wishes[index]!.url,
    answer,
    id: identity === null || hash === null ? null : urlId(identity.domainKey, hash),
  }));
}

type Owner = { id: number; priority: number };

async function findSources(
  db: Queryable,
  wishes: readonly WishedUrl[],
  isDry: boolean,
): Promise<(Owner | null)[]> {
  const domains = wishes.map(({ url }) => {
    const identified = identifyUrl(url);
    return identified.outcome === 'ok' ? identified.identity.domain : null;
  });
  const known = await loadOwners(db, [...new Set(domains.filter((one) => one !== null))]);
  const isOrphan = domains.some((domain) => domain !== null && !known.has(domain));
  const manual = isOrphan ? await findManual(db, isDry) : null;
  return domains.map((domain) => (domain === null ? null : (known.get(domain) ?? manual)));
}

/** The first source added for each domain. Index: sources_url_prefix, four probes for each domain. */
async function loadOwners(db: Queryable, domains: readonly string[]): Promise<Map<string, Owner>> {
  const result = await db.query<Owner & { domain: string }>(
    `SELECT DISTINCT ON (d.domain) d.domain, s.id, s.priority
       FROM unnest($1::text[]) AS d(domain)
      CROSS JOIN unnest(ARRAY['https://', 'https://www.', 'http://', 'http://www.']) AS w(way)
       JOIN LATERAL (SELECT s.id, s.priority FROM sources s
                      WHERE s.url ~>=~ (w.way || d.domain || '/') AND s.url ~<~ (w.way || d.domain || '0')
                      ORDER BY s.url USING ~<~ LIMIT 20) s ON true
      ORDER BY d.domain, s.id`,
    [domains],
  );
  return new Map(result.rows.map(({ domain, ...owner }) => [domain, owner]));
}

// Its address is reserved (RFC 2606): it can never be fetched, and no other source has it.
async function findManual(db: Queryable, isDry: boolean): Promise<Owner | null> {
  if (!isDry)
    await db.query(
      `INSERT INTO sources (slug, name, url) VALUES ($1, 'Submitted by hand', 'https://manual.invalid/') ON CONFLICT DO NOTHING`,
      [manualSource],
    );
  const result = await db.query<Owner>('SELECT id, priority FROM sources WHERE slug = $1', [manualSource]);
  return result.rows[0] ?? null;
}
