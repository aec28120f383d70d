import type { Queryable } from '../db/index.ts';

const rowsAtOnce = 5000;
const domainsAtOnce = 100;

/** Goes on with reviving what an older robots.txt forbade, a portion per domain; answers how much was done. */
export async function reviveAllowed(db: Queryable): Promise<{ domains: number; revived: number }> {
  const waiting = await db.query<{ bucket: number; domain_key: bigint }>(
    `SELECT DISTINCT bucket, domain_key FROM robots WHERE revive_after IS NOT NULL LIMIT ${domainsAtOnce}`,
  );
  let revived = 0;
  for (const { bucket, domain_key } of waiting.rows) {
    const result = await db.query<{ revived: number }>(
      'SELECT frontier_revive($1::smallint, $2, $3) AS revived',
      [bucket, domain_key.toString(), rowsAtOnce],
    );
    revived += result.rows[0]!.revived;
  }
  return { domains: waiting.rows.length, revived };
}

/** Recomputes the score of every domain, bucket by bucket so that few slots are locked at a time; answers how many. */
export async function rescoreDomains(db: Queryable): Promise<number> {
  let seen = 0;
  for (let bucket = 0; bucket < 256; bucket += 1) seen += await rescoreBucket(db, bucket);
  return seen;
}

/** Recomputes the scores of one bucket; answers how many. */
export async function rescoreBucket(db: Queryable, bucket: number): Promise<number> {
  const result = await db.query<{ seen: number }>('SELECT domain_rescore($1::smallint) AS seen', [bucket]);
  return result.rows[0]!.seen;
}

/** Says which budget is configured; runs under way follow a change at once. */
export async function saveBudget(db: Queryable, maxPagesPerRun: number, actor: string): Promise<void> {
  await db.query('SELECT budget_set($1, $2)', [maxPagesPerRun, actor]);
}
