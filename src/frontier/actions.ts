import type { Queryable } from '../db/index.ts';
import { saveAudit } from '../switches/index.ts';
import { urlId } from '../url/index.ts';
import { listUrls, type UrlFilter, type UrlSort } from './list.ts';
import { rowsToJson } from './rows.ts';

/** What a person may do with URLs. */
export const urlActions = ['retry', 'remove', 'set_priority'] as const;
export type UrlAction = (typeof urlActions)[number];

/** An action, with the priority where one is to be set, and who wants it. */
export type UrlAct = { action: UrlAction; priority?: number; actor: string };

/** What became of a row; `unknown`: there is none. */
export type UrlActOutcome =
  | 'retried'
  | 'removed'
  | 'changed'
  | 'unchanged'
  | 'unknown'
  | `refused:${'probe' | 'channel' | 'channel_gone' | 'source_gone' | 'held' | 'in_flight'}`;

type UrlKey = { bucket: number; domainKey: bigint; hash: Buffer };

/**
 * Acts on rows, domain by domain in key order, each domain in a transaction of its own. Leases stay whole: see
 * frontier_act. Answers in the order of the rows.
 */
export async function actOnUrls(
  db: Queryable,
  rows: readonly UrlKey[],
  act: UrlAct,
): Promise<UrlActOutcome[]> {
  const domains = new Map<bigint, UrlKey[]>();
  for (const row of rows) domains.set(row.domainKey, [...(domains.get(row.domainKey) ?? []), row]);
  const outcomes = new Map<string, UrlActOutcome>();
  const inOrder = [...domains.values()].sort(
    ([a], [b]) => a!.bucket - b!.bucket || (a!.domainKey < b!.domainKey ? -1 : 1),
  );
  for (const of of inOrder) {
    const { bucket, domainKey } = of[0]!;
    const result = await db.query<{ hash: Buffer; outcome: UrlActOutcome }>(
      'SELECT url_hash AS hash, outcome FROM frontier_act($1::smallint, $2, $3, $4, $5::smallint, $6)',
      [bucket, domainKey.toString(), of.map((row) => row.hash), act.action, act.priority ?? null, act.actor],
    );
    for (const row of result.rows) outcomes.set(urlId(domainKey, row.hash), row.outcome);
  }
  return rows.map((row) => outcomes.get(urlId(row.domainKey, row.hash)) ?? 'unknown');
}

/** Acts on one row and writes down who did it. */
export async function actOnUrl(db: Queryable, key: UrlKey, act: UrlAct): Promise<UrlActOutcome> {
  const [outcome] = await actOnUrls(db, [key], act);
  if (outcome === 'retried' || outcome === 'removed' || outcome === 'changed')
    await saveAudit(db, {
      actor: act.actor,
      action: `url_${act.action}`,
      subject: urlId(key.domainKey, key.hash),
      detail: act.priority === undefined ? {} : { priority: act.priority },
    });
  return outcome!;
}

/** Acts on the rows somebody chose, and writes down who did it. */
export async function actOnIds(
  db: Queryable,
  keys: readonly UrlKey[],
  act: UrlAct,
): Promise<Omit<BulkOutcome, 'cursor'>> {
  const outcomes = countOf(await actOnUrls(db, keys, act));
  await saveAudit(db, {
    actor: act.actor,
    action: `urls_${act.action}`,
    subject: 'frontier',
    detail: {
      ids: keys.map((key) => urlId(key.domainKey, key.hash)),
      ...(act.priority === undefined ? {} : { priority: act.priority }),
      outcomes,
    },
  });
  return { matched: keys.length - (outcomes.unknown ?? 0), outcomes };
}

function countOf(names: readonly UrlActOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** What a bulk action came to; a cursor means that there is more. */
export type BulkOutcome = { matched: number; outcomes: Record<string, number>; cursor: string | null };

/** Acts on up to `limit` rows that match, and writes down who did it and to what. */
export async function actOnFilter(
  db: Queryable,
  filter: UrlFilter,
  act: UrlAct & { limit: number; sort?: UrlSort; cursor?: string | null; shown: object },
): Promise<BulkOutcome> {
  const page = await listUrls(db, filter, {
    limit: act.limit,
    ...(act.sort === undefined ? {} : { sort: act.sort }),
    cursor: act.cursor ?? null,
  });
  const outcomes = countOf(await actOnUrls(db, page.rows, act));
  if (page.rows.length > 0)
    await saveAudit(db, {
      actor: act.actor,
      action: `urls_${act.action}`,
      subject: 'frontier',
      detail: {
        // An address may hold what PostgreSQL's text cannot.
        filter: (JSON.parse(rowsToJson([act.shown])) as object[])[0],
        ...(act.priority === undefined ? {} : { priority: act.priority }),
        outcomes,
      },
    });
  return { matched: page.rows.length, outcomes, cursor: page.cursor };
}
