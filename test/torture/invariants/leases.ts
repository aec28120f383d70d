import {
  type AccessRecord,
  findForbiddenRequests,
  findPolitenessViolations,
  productToken,
} from '../../web/index.ts';
import type { Ledger } from '../ledger.ts';
import { delayMs } from '../stage.ts';
import { type Ground, lifeOf } from './ground.ts';

const numbered =
  (number: number) =>
  ({ watcher }: Ground): string[] =>
    watcher.problems.filter((problem) => problem.startsWith(`(${number})`)).map((one) => one.slice(4));

/** (2) At most one live lease per domain, epochs only grow. */
export const checkOneLease = numbered(2);

/** (6) Nothing stays leased beyond its lease, the domain's delay and five seconds. */
export const checkRecovery = numbered(6);

/** (3) No request comes before the last answer's headers, or its failure, and the delay; a freeze may explain one. */
export function checkPoliteness({ stage, log }: Pick<Ground, 'stage' | 'log'>): string[] {
  const delays = new Map(stage.web.publishers.map((one) => [one.domain, one.robots.crawlDelayS * 1000]));
  const hasty = findPolitenessViolations(asOthersSaw(log, stage.ledger), {
    delayMs: (domain) => Math.max(delayMs, delays.get(domain) ?? 0),
  }).filter(
    // Who hangs up knows it before the server does: its next request seems to follow early by that much.
    ({ previous, gapMs, wantedMs }) => !(previous.headersSentAtMs < 0 && gapMs > wantedMs / 2),
  );
  if (hasty.length <= stage.ledger.freezes) return [];
  return hasty.map(
    ({ previous, request, gapMs, wantedMs }) =>
      `${request.host}${request.path} by ${lifeOf(request)} came ${Math.round(gapMs)} ms after ${previous.path} by ${lifeOf(previous)} (${previous.status}), wanted ${wantedMs}; freezes explain ${stage.ledger.freezes}`,
  );
}

/**
 * Who waits for an answer that never comes hangs up at its deadline, but not while it is frozen, and nobody else knows of
 * it: to those who take over its domains the request failed when it froze, on each domain it had one on.
 */
function asOthersSaw(log: readonly AccessRecord[], ledger: Ledger): AccessRecord[] {
  return log.map((request) => {
    if (request.headersSentAtMs >= 0) return request;
    const { startedAtMs, endedAtMs } = request;
    const toMs = endedAtMs < 0 ? Number.POSITIVE_INFINITY : endedAtMs;
    const frozeAtMs = ledger.frozeAt(lifeOf(request), { fromMs: startedAtMs, toMs });
    return frozeAtMs === null ? request : { ...request, endedAtMs: Math.max(frozeAtMs, startedAtMs) };
  });
}

/** (4) A settle that came late changed nothing: its transaction wrote no row, document or delivery. */
export async function checkStaleSettles({ db }: Ground): Promise<string[]> {
  const { rows } = await db.query<{ what: string; url: string }>(
    `WITH late AS (SELECT DISTINCT xmin::text AS tx FROM crawl_log WHERE stale)
     SELECT 'row' AS what, f.url FROM url_frontier f JOIN late ON late.tx = f.xmin::text
     UNION ALL SELECT 'document', d.url FROM documents d JOIN late ON late.tx = d.xmin::text
     UNION ALL SELECT 'delivery', encode(o.url_hash, 'hex') FROM outbox o JOIN late ON late.tx = o.xmin::text
     LIMIT 50`,
  );
  return rows.map(({ what, url }) => `a late settle wrote the ${what} of ${url}`);
}

/** (7) No request that robots.txt forbids, none before it was known. */
export function checkRobots({ stage, log }: Ground): string[] {
  return findForbiddenRequests(log, { publishers: stage.web.publishers, token: productToken }).map(
    ({ request, why }) => `${request.host}${request.path}: ${why}`,
  );
}

/** (8) Nobody went where nobody may go. */
export function checkTrespasses({ stage }: Ground): string[] {
  const count = stage.trespasses();
  return count === 0 ? [] : [`${count} connections to an address that is not public`];
}
