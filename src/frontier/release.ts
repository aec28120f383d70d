import type { Queryable } from '../db/index.ts';

/** Takes a domain from the worker that holds it; answers who lost it, or null when nobody had it. The gap stays. */
export async function releaseDomain(
  db: Queryable,
  domain: { bucket: number; domainKey: bigint },
): Promise<string | null> {
  const result = await db.query<{ owner: string | null }>(
    'SELECT frontier_release($1::smallint, $2) AS owner',
    [domain.bucket, domain.domainKey.toString()],
  );
  return result.rows[0]?.owner ?? null;
}
