import type { LeasedUrl } from '../frontier/index.ts';
import type { FailureKind } from './client/index.ts';
import { type FurtherPage, responseOf } from './conclude/index.ts';
import type { Arrival } from './exchange.ts';

const mostDomains = 10_000;
// What a site numbers below its articles may be comments or lists of others; after so many of them it is believed to.
const triesInVain = 3;

/** Remembers of which domains articles continue on further pages, so that others are not asked for them in vain. */
export class ArticlePages {
  readonly #known = new Map<bigint, { joined: number; inVain: number }>();

  note(domainKey: bigint, isPage: boolean): void {
    const { joined, inVain } = this.#known.get(domainKey) ?? { joined: 0, inVain: 0 };
    this.#known.delete(domainKey);
    this.#known.set(domainKey, isPage ? { joined: joined + 1, inVain } : { joined, inVain: inVain + 1 });
    if (this.#known.size > mostDomains) this.#known.delete(this.#known.keys().next().value!);
  }

  mayAsk(domainKey: bigint): boolean {
    const known = this.#known.get(domainKey);
    return known === undefined || known.joined > 0 || known.inVain < triesInVain;
  }
}

// What a bomb or an address that is refused may be another time is not worth asking for.
const passing: ReadonlySet<FailureKind> = new Set([
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'proxy',
  'no_proxy',
  'bad_response',
  'render_timeout',
  'render_crashed',
]);

/** What asking for a further page of an article came to. */
export function furtherPageOf(row: LeasedUrl, arrival: Arrival, articlePage: number): FurtherPage {
  if (arrival.end === 'handed_back') return { outcome: 'later', result: null };
  if (arrival.end === 'gate' && arrival.gate.answer !== 'blocked') return { outcome: 'later', result: null };
  if (arrival.end !== 'answered') return { outcome: 'none' };
  const { result } = arrival;
  if (result.outcome === 'failed')
    return passing.has(result.kind) ? { outcome: 'later', result } : { outcome: 'none' };
  if (result.outcome !== 'response') return { outcome: 'none' };
  if (result.status === 200 && result.body.length > 0)
    return { outcome: 'page', response: { ...responseOf(row, { ...arrival, result }), articlePage } };
  return result.status >= 500 || result.status === 429 ? { outcome: 'later', result } : { outcome: 'none' };
}
