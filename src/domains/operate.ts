import type { Queryable } from '../db/index.ts';

/** A domain by its key. */
export type DomainKey = { bucket: number; domainKey: bigint };

/** Blocks a domain for good, until it is reset; false when it is not known. */
export async function blockDomain(
  db: Queryable,
  key: DomainKey,
  by: { reason: string; actor: string },
): Promise<boolean> {
  return ask(db, 'SELECT domain_block($1::smallint, $2, $3, $4) AS done', key, [by.reason, by.actor]);
}

const rowsAtOnce = 5000;

/**
 * Ends a block or a rest and forgets what led to it; listings are due again, with `all` known articles too. Answers how
 * many rows were made due, or null when the domain is not known.
 */
export async function resetDomain(
  db: Queryable,
  key: DomainKey,
  by: { reason: string; actor: string; all?: boolean },
): Promise<number | null> {
  const known = await ask(db, 'SELECT domain_reset($1::smallint, $2, $3, $4) AS done', key, [
    by.reason,
    by.actor,
  ]);
  if (!known) return null;
  let requeued = 0;
  // A portion at a time: a domain of a million URLs must not be locked for the whole of it.
  for (let after: Buffer | null = Buffer.alloc(0); after !== null; ) {
    const result: { rows: { last: Buffer | null; requeued: number }[] } = await db.query(
      'SELECT last, requeued FROM domain_requeue($1::smallint, $2, $3, $4, $5)',
      [key.bucket, key.domainKey.toString(), by.all ?? false, after, rowsAtOnce],
    );
    requeued += result.rows[0]!.requeued;
    after = result.rows[0]!.last;
  }
  return requeued;
}

/** What an operator decides of one domain; null: as configured. */
export type DomainChoice = { delayMs: number | null; budget: number | null; pool: string | null };

/** Sets a domain's own delay, budget and group of fetchers; false when it is not known. */
export async function configureDomain(
  db: Queryable,
  key: DomainKey,
  choice: DomainChoice,
  defaultBudget: number,
): Promise<boolean> {
  return ask(db, 'SELECT domain_configure($1::smallint, $2, $3, $4, $5, $6) AS done', key, [
    choice.delayMs,
    choice.budget,
    choice.pool,
    defaultBudget,
  ]);
}

async function ask(db: Queryable, sql: string, key: DomainKey, values: unknown[]): Promise<boolean> {
  const result = await db.query<{ done: boolean }>(sql, [key.bucket, key.domainKey.toString(), ...values]);
  return result.rows[0]?.done ?? false;
}

/**
 * Takes one request's turn of a domain that nobody holds, for a robots.txt that leads there. false: it is leased, rests,
 * or its gap has not passed.
 */
export async function borrowTurn(
  db: Queryable,
  domain: DomainKey & { domain: string; registrableDomain: string | null },
  defaultDelayMs: number,
): Promise<boolean> {
  return ask(db, 'SELECT domain_borrow($1::smallint, $2, $3, $4, $5) AS done', domain, [
    domain.domain,
    domain.registrableDomain,
    defaultDelayMs,
  ]);
}
