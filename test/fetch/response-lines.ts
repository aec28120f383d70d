import type { FaultSpec } from '../web/index.ts';
import type { DomainState, LabKind, RowState } from './lab.ts';

/** One line of the table: what the server does, and how the row stands after each round of tries. */
export type Line = {
  name: string;
  faults: readonly FaultSpec[];
  kind?: LabKind;
  /** Of the row, after the first try, the second, the third. */
  after: readonly Expected[];
  /** Outcomes of the crawl log, robots.txt left out. */
  outcomes: readonly string[];
  domain?: Partial<DomainState>;
};

/** How a row must stand. */
export type Expected = Partial<Omit<RowState, 'dueS'>> & {
  /** Least and most seconds until it is due; null: not due again by itself. */
  due?: readonly [number, number] | null;
};

const minute = 60;
const hour = 60 * minute;
// The schedule of spec 04 with its jitter, and what a slow machine takes from the answer to the settle.
const afterOne = { due: [0.75 * minute, 3 * minute] } as const;
const afterTwo = { due: [3.5 * minute, 9 * minute] } as const;
const none = { documents: 0, version: null };

const status = (code: number, more: Record<string, string | number> = {}): FaultSpec[] => [
  { name: 'status', on: ['article', 'listing', 'feed', 'sitemap'], options: { status: code, ...more } },
];

/** Three tries, each of them failing, the last one for good. */
const thrice = (code: string, last: string, more: Partial<RowState> = {}): Expected[] => [
  { status: 'failed', code, tries: 1, ...afterOne, ...none, ...more },
  { status: 'failed', code, tries: 2, ...afterTwo, ...none, ...more },
  { status: 'dead', code: last, tries: 3, due: null, ...none, ...more },
];
const times = (outcome: string, count: number): string[] => Array<string>(count).fill(outcome);
const dead = (code: string, more: Partial<RowState> = {}): Expected[] => [
  { status: 'dead', code, tries: 1, due: null, ...none, ...more },
];

const answered: Line[] = [
  {
    name: 'fine',
    faults: [],
    after: [
      { status: 'fetched', code: null, tries: 0, http: 200, documents: 1, version: 1, validation: 'valid' },
    ],
    outcomes: ['response'],
    domain: { crawled: 1, documents: 1, errors: 0, inRow: 0 },
  },
  {
    name: 'no-type',
    faults: [{ name: 'no-type', on: ['article'] }],
    after: [{ status: 'fetched', code: null, documents: 1 }],
    outcomes: ['response'],
  },
  {
    name: 'no-content',
    faults: [{ name: 'empty', options: { status: 204 } }],
    after: dead('empty', { http: 204 }),
    outcomes: ['response'],
  },
  {
    name: 'no-body',
    faults: [{ name: 'empty' }],
    after: dead('empty', { http: 200 }),
    outcomes: ['response'],
  },
  {
    name: 'pdf',
    faults: [{ name: 'endless', on: ['article'], options: { type: 'application/pdf' } }],
    after: dead('unsupported_type', { http: 200 }),
    outcomes: ['unsupported_type'],
  },
  {
    name: 'listing-fine',
    kind: 'listing',
    faults: [],
    after: [{ status: 'fetched', code: null, http: 200, ...none }],
    // The front page, the five sections in its navigation, the six articles, and four guesses at a second page, since
    // nothing says how it would be addressed; one of them is not there.
    outcomes: times('response', 16),
    domain: { documents: 6, errors: 1 },
  },
  {
    name: 'listing-pdf',
    kind: 'listing',
    faults: [{ name: 'wrong-type', on: ['listing'] }],
    after: dead('unsupported_type', { http: 200 }),
    outcomes: ['unsupported_type'],
  },
];

const rejected = (reason: string): Partial<RowState> => ({
  http: 200,
  validation: 'rejected',
  rejection: reason,
});

const refused: Line[] = [
  ...(['challenge', 'access-denied', 'login-wall'] as const).map((name): Line => {
    const reason = name.replace('-', '_');
    return {
      name,
      faults: [{ name }],
      after: thrice(reason, reason, rejected(reason)),
      outcomes: times(reason, 3),
      domain: { documents: 0, errors: 3, inRow: 3 },
    };
  }),
  {
    name: 'listing-challenge',
    kind: 'listing',
    faults: [{ name: 'challenge', on: ['listing'] }],
    after: thrice('challenge', 'challenge', rejected('challenge')),
    outcomes: times('challenge', 3),
  },
  {
    name: 'soft-404',
    faults: [{ name: 'soft-404' }],
    after: dead('soft_404', rejected('soft_404')),
    outcomes: ['soft_404'],
  },
  {
    name: 'listing-soft-404',
    kind: 'listing',
    faults: [{ name: 'soft-404', on: ['listing'] }],
    after: dead('soft_404', rejected('soft_404')),
    outcomes: ['soft_404'],
  },
  {
    name: 'too-short',
    faults: [
      { name: 'fixed', options: { text: '<!DOCTYPE html><title>Short</title><p>One sentence of news.</p>' } },
    ],
    after: dead('too_short', rejected('too_short')),
    outcomes: ['too_short'],
  },
  {
    name: 'no-text',
    faults: [
      {
        name: 'fixed',
        options: { text: `<!DOCTYPE html><title>Empty</title>${'<div class="box"></div>'.repeat(100)}` },
      },
    ],
    after: dead('no_text', rejected('no_text')),
    outcomes: ['no_text'],
  },
  {
    name: 'js-only',
    faults: [{ name: 'js-only' }],
    after: [{ status: 'needs_render', due: null, ...none, ...rejected('needs_javascript') }],
    outcomes: ['needs_javascript'],
    domain: { documents: 0, errors: 0 },
  },
];

const statuses: Line[] = [
  ...[400, 405, 406, 414].map(
    (code): Line => ({
      name: `status-${code}`,
      faults: status(code),
      after: dead(`http_${code}`, { http: code }),
      outcomes: ['response'],
      domain: { documents: 0, errors: 1 },
    }),
  ),
  ...[401, 403].map(
    (code): Line => ({
      name: `status-${code}`,
      faults: status(code),
      after: thrice('forbidden', 'forbidden', { http: code }),
      outcomes: times('response', 3),
      domain: { documents: 0, errors: 3, inRow: 3 },
    }),
  ),
  ...(
    [
      [404, 'not_found'],
      [410, 'gone'],
      [451, 'legal'],
    ] as const
  ).flatMap(([code, reason]): Line[] => [
    {
      name: `status-${code}`,
      faults: status(code),
      after: dead(reason, { http: code }),
      outcomes: ['response'],
    },
    {
      name: `listing-${code}`,
      kind: 'listing',
      faults: status(code),
      after: dead(reason, { http: code }),
      outcomes: ['response'],
    },
  ]),
  ...[408, 425, 500, 502, 503, 504, 520].map(
    (code): Line => ({
      name: `status-${code}`,
      faults: status(code),
      after: thrice(`http_${code}`, 'max_retries', { http: code }),
      outcomes: times('response', 3),
    }),
  ),
  {
    name: 'listing-500',
    kind: 'listing',
    faults: status(500),
    after: thrice('http_500', 'max_retries', { http: 500 }),
    outcomes: times('response', 3),
  },
  {
    name: 'recovering',
    faults: [{ name: 'status', on: ['article'], options: { status: 500 }, untilRequest: 1 }],
    after: [
      { status: 'failed', code: 'http_500', tries: 1, ...afterOne, ...none },
      { status: 'fetched', code: null, tries: 0, http: 200, documents: 1 },
    ],
    outcomes: ['response', 'response'],
    domain: { documents: 1, inRow: 0 },
  },
];

/** A server that asks for time: the URL keeps its tries, the domain waits. */
const slowDown = (code: number, retryAfter: string, due: readonly [number, number]): Omit<Line, 'name'> => ({
  faults: status(code, { retryAfter }),
  after: [
    {
      status: 'failed',
      code: code === 429 ? 'rate_limited' : 'unavailable',
      tries: 0,
      http: code,
      due,
      ...none,
    },
  ],
  outcomes: ['response'],
  domain: { documents: 0, hold: 'retry_after' },
});

const patience: Line[] = [
  { name: 'wait-seconds', ...slowDown(429, '300', [290, 360]) },
  { name: 'wait-date', ...slowDown(429, 'date+600', [540, 660]) },
  { name: 'wait-unsaid', ...slowDown(429, '', [30, 11 * minute]) },
  { name: 'wait-503', ...slowDown(503, '300', [290, 360]) },
  { name: 'wait-503-date', ...slowDown(503, 'date+600', [540, 660]) },
  { name: 'wait-ages', ...slowDown(429, '1000000000000', [23 * hour, 25 * hour]) },
  { name: 'wait-long-date', ...slowDown(429, 'date+1000000000', [23 * hour, 25 * hour]) },
  { name: 'wait-garbage', ...slowDown(429, 'soon, or 10^12; DROP TABLE', [30, 11 * minute]) },
  {
    name: 'wait-then-fine',
    faults: [{ name: 'too-many', on: ['article'], options: { retryAfter: '1' }, untilRequest: 2 }],
    after: [{ status: 'fetched', code: null, tries: 0, http: 200, documents: 1 }],
    outcomes: times('response', 3),
    // Starts at the delay and doubles with the second.
    domain: { documents: 1, inRow: 0, penaltyMs: 200 },
  },
];

const network: Line[] = [
  // One round: each takes as long as the deadline, and the others show the rest of the way.
  ...['stall', 'drip'].map(
    (name): Line => ({
      name,
      faults: [{ name, on: ['article'] }],
      after: [{ status: 'failed', code: 'timeout', tries: 1, ...afterOne, ...none }],
      outcomes: ['timeout'],
      domain: { documents: 0, errors: 1, inRow: 1 },
    }),
  ),
  ...(
    [
      ['truncated', 'bad_response'],
      ['garbage', 'bad_response'],
      ['bad-chunks', 'bad_response'],
      ['bad-gzip', 'bad_response'],
      ['redirect-bare', 'bad_response'],
      ['header-flood', 'headers_too_large'],
      ['endless', 'body_too_large'],
      ['gzip-bomb', 'decompress_bomb'],
      ['brotli-bomb', 'decompress_bomb'],
    ] as const
  ).map(
    ([name, kind]): Line => ({
      name,
      faults: [{ name, on: ['article'] }],
      after: thrice(kind, 'max_retries'),
      outcomes: times(kind, 3),
      domain: { documents: 0, errors: 3, inRow: 3 },
    }),
  ),
  {
    name: 'reset',
    faults: [{ name: 'reset', on: ['article'] }],
    after: thrice('reset', 'max_retries'),
    // The first round has a connection left from robots.txt and asks twice, see reset-once.
    outcomes: times('reset', 4),
    domain: { documents: 0, errors: 4, inRow: 4 },
  },
  {
    // The connection was kept alive since robots.txt: it may have died of age, so one more turn costs no try.
    name: 'reset-once',
    faults: [{ name: 'reset', on: ['article'], untilRequest: 1 }],
    after: [{ status: 'fetched', code: null, tries: 0, documents: 1 }],
    outcomes: ['reset', 'response'],
    domain: { documents: 1, errors: 1, inRow: 0 },
  },
];

/** A poll: never dead, always due again. */
const poll = (
  name: string,
  faults: readonly FaultSpec[],
  kind: string,
  due: readonly [number, number],
): Line => ({
  name,
  kind: 'feed',
  faults,
  after: [{ status: 'pending', code: `channel_${kind}`, tries: 1, due, ...none }],
  outcomes: ['response'],
});
const backoff = [25 * minute, 40 * minute] as const;
const polls: Line[] = [
  {
    name: 'poll-fine',
    kind: 'feed',
    faults: [],
    after: [{ status: 'pending', code: null, tries: 0, http: 200, due: [13 * minute, 20 * minute], ...none }],
    outcomes: times('response', 7),
    domain: { documents: 6, errors: 0 },
  },
  {
    name: 'poll-sitemap',
    kind: 'sitemap',
    faults: [],
    after: [{ status: 'pending', code: null, tries: 0, http: 200, due: [13 * minute, 20 * minute], ...none }],
    outcomes: times('response', 7),
  },
  poll('poll-403', status(403), '403', backoff),
  poll('poll-404', status(404), '404', backoff),
  poll('poll-410', status(410), '410', [71 * hour, 73 * hour]),
  poll('poll-500', status(500), '5xx', backoff),
  poll('poll-html', [{ name: 'feed-html' }], 'parse', backoff),
  {
    ...poll('poll-429', status(429, { retryAfter: '7200' }), '429', [115 * minute, 130 * minute]),
    domain: { hold: 'retry_after' },
  },
  {
    ...poll('poll-reset', [{ name: 'reset', on: ['feed'] }], 'network', backoff),
    outcomes: ['reset', 'reset'],
  },
  {
    ...poll('poll-bomb', [{ name: 'gzip-bomb', on: ['feed'] }], 'parse', backoff),
    outcomes: ['decompress_bomb'],
  },
];

/** Every line, each to be played by a publisher of its name. */
export const lines: readonly Line[] = [
  ...answered,
  ...refused,
  ...statuses,
  ...patience,
  ...network,
  ...polls,
];
