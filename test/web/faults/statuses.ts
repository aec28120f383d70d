import { allPages, type Exchange, type Reply } from '../exchange.ts';
import { shareOf } from '../random.ts';
import type { ExpectedOutcome, FaultDefinition, FaultOptions } from './fault.ts';

function errorReply(status: number, headers: Record<string, string> = {}): Reply {
  const body = Buffer.from(`<!DOCTYPE html><title>${status}</title><h1>${status}</h1>\n`);
  return { status, type: 'text/html; charset=utf-8', body, headers };
}

/** Seconds, a date (of the real clock, as clients compare with theirs) or any text given. */
function retryAfter(options: FaultOptions): Record<string, string> {
  const text = options.text('retryAfter');
  if (text === '') return {};
  if (text.startsWith('date+'))
    return { 'Retry-After': new Date(Date.now() + Number(text.slice(5)) * 1000).toUTCString() };
  return { 'Retry-After': text };
}

function tooMany(exchange: Exchange, options: FaultOptions): 'answered' {
  exchange.send(errorReply(429, retryAfter(options)));
  return 'answered';
}

/** Answers with an error status, always or now and then. */
export const statusFaults: readonly FaultDefinition[] = [
  {
    name: 'status',
    says: 'Answers with a status and nothing else.',
    on: allPages,
    options: { status: 500, retryAfter: '' },
    expects: (options) => expectedOf(options.number('status')),
    apply: (exchange, options) => {
      exchange.send(errorReply(options.number('status'), retryAfter(options)));
      return 'answered';
    },
  },
  {
    name: 'too-many',
    says: '429 with Retry-After: seconds, garbage, or date+N for a date N seconds ahead.',
    on: allPages,
    options: { retryAfter: '5' },
    apply: tooMany,
  },
  {
    name: 'rate-limit',
    says: '429 to every request that comes sooner than minGapMs after the one before.',
    on: allPages,
    options: { minGapMs: 1_000, retryAfter: '3' },
    apply: (exchange, options, state) => {
      const nowMs = performance.now();
      const early = nowMs - state.lastAtMs < options.number('minGapMs');
      state.lastAtMs = nowMs;
      return early ? tooMany(exchange, options) : 'pass';
    },
  },
  {
    name: 'forbidden',
    says: '403 to every request.',
    on: allPages,
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'forbidden' }),
    apply: (exchange) => {
      exchange.send(errorReply(403));
      return 'answered';
    },
  },
  {
    name: 'flaky',
    says: 'An error status for a share of requests, chosen by a hash of address and attempt: the next try of an address gets through, in whatever order the addresses are asked.',
    on: allPages,
    options: { status: 503, rate: 0.3 },
    apply: (exchange, options, state) => {
      const address = `${exchange.path}?${exchange.query}`;
      const { attempt, refused } = state.addresses.get(address) ?? { attempt: 0, refused: false };
      const refuses = !refused && shareOf('flaky', address, attempt) < options.number('rate');
      state.addresses.set(address, { attempt: attempt + 1, refused: refuses });
      if (!refuses) return 'pass';
      exchange.send(errorReply(options.number('status')));
      return 'answered';
    },
  },
  {
    name: 'unasked-304',
    says: '304 to a request without validators.',
    on: ['feed', 'sitemap', 'listing', 'article'],
    options: {},
    apply: (exchange) => {
      exchange.send({ status: 304, type: 'text/html', body: Buffer.alloc(0) });
      return 'answered';
    },
  },
];

function expectedOf(status: number): ExpectedOutcome {
  const reasons: Readonly<Record<number, string>> = {
    401: 'forbidden',
    403: 'forbidden',
    404: 'not_found',
    410: 'gone',
    451: 'legal',
  };
  if (status === 204) return { outcome: 'dead', reason: 'empty' };
  if (status === 429) return { outcome: 'document' };
  return { outcome: 'dead', reason: reasons[status] ?? (status >= 500 ? 'max_retries' : `http_${status}`) };
}
