import type { Queryable } from '../db/index.ts';
import { borrowTurn } from '../domains/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { identifyUrl, type UrlIdentity } from '../url/index.ts';
import type { HttpClient, HttpResult } from './client/index.ts';
import { ChainCookies } from './cookies.ts';
import { RobotsGate } from './robots-gate.ts';

/** One page that somebody waits for, outside of the frontier. */
export type PageSample =
  | {
      outcome: 'page';
      url: string;
      identity: UrlIdentity;
      status: number;
      headers: Record<string, string>;
      body: Buffer;
    }
  /** The domain is being fetched or rests: its turn cannot be borrowed now. */
  | { outcome: 'busy'; domain: string }
  | { outcome: 'disallowed'; url: string; line: number | null }
  | { outcome: 'failed'; url: string; reason: string };

export type SampleOptions = {
  db: Queryable;
  client: Pick<HttpClient, 'request' | 'requestStream'>;
  clock: Clock;
  productToken: string;
  defaultDelayMs: number;
};

const maxHops = 5;
// A borrowed turn covers ten seconds (domain_borrow); everything asked of a domain must have its headers by then.
const turnMs = 9000;

/** A turn of a domain: until when it holds, and when the next request may begin. */
type Turn = { domainKey: bigint; until: number; nextAt: number };

/**
 * Fetches a page as politely as the crawl does: under a borrowed turn of its domain, after robots.txt, and with the
 * domain's gap between requests. Several requests of one domain share a turn as far as its seconds reach.
 */
export async function samplePage(address: string, options: SampleOptions): Promise<PageSample> {
  const { db, client, clock } = options;
  const gate = new RobotsGate({
    db,
    productToken: options.productToken,
    monotonic: () => clock.monotonic(),
    defaultDelayMs: options.defaultDelayMs,
  });
  let url = address;
  let turn = null as Turn | null;
  const cookies = new ChainCookies();
  for (let hop = 0; hop <= maxHops; hop += 1) {
    const identified = identifyUrl(url);
    if (identified.outcome === 'rejected') return { outcome: 'failed', url, reason: identified.reason };
    const { identity } = identified;
    if (turn?.domainKey !== identity.domainKey) {
      if (!(await borrowTurn(db, identity, options.defaultDelayMs)))
        return { outcome: 'busy', domain: identity.domain };
      const now = clock.monotonic();
      turn = { domainKey: identity.domainKey, until: now + turnMs, nextAt: now };
    }
    const held = turn;
    let gapMs = options.defaultDelayMs;
    /** Waits for the gap; how long a request may take then, or null when the turn is over. */
    const begin = async (): Promise<number | null> => {
      if (held.nextAt > held.until) return null;
      await clock.wait(Math.max(0, held.nextAt - clock.monotonic()));
      return Math.max(1000, held.until - clock.monotonic());
    };
    const ended = (): void => {
      held.nextAt = clock.monotonic() + gapMs;
    };
    const answer = await gate.check(identity, identity.fetchUrl, async (robotsUrl, headers) => {
      const timeoutMs = (await begin()) ?? 1000;
      try {
        return await client.requestStream({ url: robotsUrl, headers, timeoutMs });
      } finally {
        ended();
      }
    });
    if (answer.answer === 'blocked') return { outcome: 'disallowed', url, line: answer.line };
    if (answer.answer !== 'allowed')
      return { outcome: 'failed', url, reason: 'robots.txt could not be read' };
    gapMs = Math.max(gapMs, answer.crawlDelayMs ?? 0);
    const timeoutMs = await begin();
    if (timeoutMs === null) return { outcome: 'busy', domain: identity.domain };
    const cookie = cookies.headerFor(identity.fetchUrl);
    const headers: Record<string, string> = cookie === null ? {} : { cookie };
    const result: HttpResult = await client.request({ url: identity.fetchUrl, headers, timeoutMs });
    ended();
    if (result.outcome === 'response') {
      const { status, headers, body } = result;
      return { outcome: 'page', url: identity.fetchUrl, identity, status, headers, body };
    }
    if (result.outcome !== 'redirect')
      return {
        outcome: 'failed',
        url,
        reason: result.outcome === 'failed' ? `${result.kind}: ${result.detail}` : result.outcome,
      };
    cookies.take(identity.fetchUrl, result.headers['set-cookie']);
    url = result.location;
  }
  return { outcome: 'failed', url: address, reason: `it leads on more than ${maxHops} times` };
}
