import { type LeasedUrl, levelOf, type SettleItem, type SubmitItem } from '../../frontier/index.ts';
import { identifyUrl } from '../../url/index.ts';
import type { Arrival } from '../exchange.ts';
import type { Verdict } from '../outcome.ts';
import { decideLedAstray } from './led-astray.ts';
import { type Answered, ended, type RowContext, type RowEnd } from './row-end.ts';

const redirected = (row: LeasedUrl): Verdict => ({
  status: 'redirected',
  dueInMs: null,
  tries: row.tries,
  errorCode: null,
  errorText: null,
});

const lasting = new Set([301, 308]);

/** The end of a row that leads to another domain: to be fetched under that one's lease. */
export function concludeLeft(
  row: LeasedUrl,
  arrival: Extract<Arrival, { end: 'left' }>,
  context: RowContext,
): RowEnd {
  const { identity, status } = arrival;
  const fetched: Partial<SettleItem> = { httpStatus: status, fetched: true };
  const astray = decideLedAstray(
    row,
    { to: identity, isLasting: lasting.has(status) },
    { tries: row.tries, maxTries: context.maxTries },
  );
  if (astray !== null) return ended(row, astray.verdict, fetched, astray.domain);
  return {
    ...ended(row, redirected(row), { ...fetched, redirectedTo: identity.fetchUrl }),
    found: [leaving(row, arrival)],
  };
}

// Each is a request of its own, under its own lease.
const mostHops = 5;

/** The end of a row whose page only says where to go on: it is submitted, as what another domain has would be. */
export function concludeRefresh(row: LeasedUrl, status: number, to: string, context: RowContext): RowEnd {
  const identified = identifyUrl(to);
  const dead = (errorCode: string, errorText: string): RowEnd =>
    ended(
      row,
      { status: 'dead', dueInMs: null, tries: row.tries + 1, errorCode, errorText },
      { httpStatus: status, fetched: true },
    );
  if (identified.outcome === 'rejected')
    return dead('bad_redirect', `leads to an address that cannot be fetched (${identified.reason})`);
  const { identity } = identified;
  if (row.hops >= mostHops) return dead('too_many_redirects', `more than ${mostHops} pages that lead on`);
  if (!identity.hash.equals(row.hash))
    return concludeLeft(row, { end: 'left', identity, hops: row.hops + 1, status }, context);
  // The same key, as from http to https: this row is the one, at a better address.
  if (identity.fetchUrl === row.url || row.tries + 1 >= context.maxTries)
    return dead('redirect_loop', `leads in a circle through ${identity.fetchUrl}`);
  const soon: Verdict = {
    status: 'pending',
    dueInMs: 1000,
    tries: row.tries + 1,
    errorCode: null,
    errorText: null,
  };
  return ended(row, soon, { httpStatus: status, fetched: true, url: identity.fetchUrl });
}

const leaving = (row: LeasedUrl, arrival: Extract<Arrival, { end: 'left' }>): SubmitItem => ({
  url: arrival.identity.fetchUrl,
  kind: row.kind,
  origin: 'redirect',
  sourceId: row.sourceId,
  priority: row.priority,
  depth: row.depth,
  hops: arrival.hops,
  executionId: row.executionId,
  parentUrl: row.url,
  own: false,
});

/** A redirect inside the domain: the original is `redirected`, and what the response came to is the target's. */
export function withTarget(row: LeasedUrl, arrival: Answered, end: RowEnd): RowEnd {
  if (arrival.moved === 'no') return end;
  const item = end.items[0]!;
  if (arrival.identity.hash.equals(row.hash)) {
    // The same key (http to https, a slash): only the address to fetch changes, and only when it is meant to last.
    return arrival.moved === 'permanently' ? { ...end, items: [{ ...item, url: arrival.url }] } : end;
  }
  const original: SettleItem = {
    hash: row.hash,
    kind: row.kind,
    fetched: true,
    ...redirected(row),
    redirectedTo: arrival.url,
    // Pages name an image by the address they know: it leads to the same bytes.
    ...(row.kind === 'image' && item.contentHash ? { contentHash: item.contentHash } : {}),
    httpStatus: arrival.moved === 'permanently' ? 301 : 302,
  };
  const target: SettleItem = {
    ...item,
    hash: arrival.identity.hash,
    target: {
      url: arrival.url,
      origin: 'redirect',
      sourceId: row.sourceId,
      priority: row.priority,
      level: levelOf(row.kind, row.priority),
      depth: row.depth,
      hops: row.hops,
      parentUrl: row.url,
      executionId: row.executionId,
    },
  };
  return { ...end, items: [original, target] };
}
