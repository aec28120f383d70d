import { expect } from 'vitest';
import { loadBalances } from '../e2e/crawl-state.ts';
import type { Outrider } from '../process/outrider.ts';
import { findForbiddenRequests, findPolitenessViolations, productToken } from '../web/index.ts';
import type { Lab } from './lab.ts';

/** What must hold after any crawl: one log row for each request, sums that agree, nobody hurried. */
export async function checkCrawl(lab: Lab, delayMs: number): Promise<void> {
  const log = lab.web.log.read();
  expect(await countLogged(lab)).toEqual(countServed(log.map(({ host }) => host)));
  for (const [what, one, other] of await loadBalances(lab.database.pool))
    expect([what, one]).toEqual([what, other]);
  const { publishers } = lab.web;
  expect(findForbiddenRequests(log, { publishers, token: productToken })).toEqual([]);
  expect(findPolitenessViolations(log, { delayMs: () => delayMs })).toEqual([]);
}

/** The fetcher lives until it is told to end, and gives back what it held. */
export async function checkEnd(lab: Lab, fetcher: Outrider): Promise<void> {
  expect(fetcher.isRunning).toBe(true);
  expect((await fetcher.stop('SIGTERM')).code, fetcher.stderr).toBe(0);
  const left = await lab.database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL');
  expect(left.rowCount).toBe(0);
}

/** Requests by host as the crawl log has them; what never reached a server is left out. */
async function countLogged(lab: Lab): Promise<Record<string, number>> {
  const result = await lab.database.pool.query<{ host: string; requests: number }>(
    `SELECT d.name AS host, count(*)::integer AS requests FROM crawl_log l JOIN domains d USING (bucket, domain_key)
      WHERE l.outcome NOT IN ('tls', 'dns', 'connect', 'refused_address', 'refused_port') GROUP BY 1`,
  );
  return Object.fromEntries(result.rows.map(({ host, requests }) => [host, requests]));
}

function countServed(hosts: readonly string[]): Record<string, number> {
  const served: Record<string, number> = {};
  for (const host of hosts) {
    const name = host.replace(/^www\./, '');
    served[name] = (served[name] ?? 0) + 1;
  }
  return served;
}
