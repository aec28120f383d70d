import type { FaultSpec } from '../web/index.ts';
import type { LabKind, RowState } from './lab.ts';

/** One attack: what the server does, and what must be stored of it. */
export type Attack = {
  name: string;
  faults: readonly FaultSpec[];
  kind?: LabKind;
  row: Partial<RowState>;
  /** Most requests it may cause, robots.txt included. */
  requests?: number;
};

const failed = (code: string): Partial<RowState> => ({ status: 'failed', code, tries: 1, documents: 0 });
const stored: Partial<RowState> = { status: 'fetched', code: null, documents: 1 };
const unread: Partial<RowState> = { status: 'pending', code: 'channel_parse', tries: 1 };
const read: Partial<RowState> = { status: 'pending', code: null, tries: 0 };
const parked: Partial<RowState> = { code: 'robots_unavailable', tries: 0, documents: 0 };

/** Answers that take for ever, have no end, or grow in the hand. */
const bodies: Attack[] = [
  { name: 'late', faults: [{ name: 'slow', options: { delayMs: 300 } }], row: stored },
  { name: 'no-headers', faults: [{ name: 'stall', on: ['article'] }], row: failed('timeout') },
  { name: 'slow-headers', faults: [{ name: 'drip-headers', on: ['article'] }], row: failed('timeout') },
  { name: 'dripping', faults: [{ name: 'drip', on: ['article'] }], row: failed('timeout') },
  {
    name: 'dripping-feed',
    kind: 'feed',
    faults: [{ name: 'drip', on: ['feed'] }],
    row: { code: 'channel_network' },
  },
  { name: 'endless', faults: [{ name: 'endless', on: ['article'] }], row: failed('body_too_large') },
  {
    name: 'endless-listing',
    kind: 'listing',
    faults: [{ name: 'endless', on: ['listing'] }],
    row: failed('body_too_large'),
  },
  { name: 'endless-feed', kind: 'feed', faults: [{ name: 'endless', on: ['feed'] }], row: unread },
  // Fifty megabytes are allowed here; whether they or the deadline come first is the machine's affair.
  {
    name: 'endless-sitemap',
    kind: 'sitemap',
    faults: [{ name: 'endless', on: ['sitemap'] }],
    row: { status: 'pending', tries: 1 },
  },
  { name: 'gzip-bomb', faults: [{ name: 'gzip-bomb', on: ['article'] }], row: failed('decompress_bomb') },
  { name: 'brotli-bomb', faults: [{ name: 'brotli-bomb', on: ['article'] }], row: failed('decompress_bomb') },
  { name: 'feed-bomb', kind: 'feed', faults: [{ name: 'gzip-bomb', on: ['feed'] }], row: unread },
  { name: 'sitemap-bomb', kind: 'sitemap', faults: [{ name: 'brotli-bomb', on: ['sitemap'] }], row: unread },
  {
    name: 'two-layers',
    faults: [{ name: 'stacked-encodings', on: ['article'], options: { layers: 2 } }],
    row: stored,
  },
  {
    name: 'five-layers',
    faults: [{ name: 'stacked-encodings', on: ['article'] }],
    row: failed('bad_response'),
  },
  { name: 'false-gzip', faults: [{ name: 'bad-gzip', on: ['article'] }], row: failed('bad_response') },
  {
    name: 'header-flood',
    faults: [{ name: 'header-flood', on: ['article'] }],
    row: failed('headers_too_large'),
  },
  { name: 'truncated', faults: [{ name: 'truncated', on: ['article'] }], row: failed('bad_response') },
  { name: 'cut-chunks', faults: [{ name: 'bad-chunks', on: ['article'] }], row: failed('bad_response') },
  { name: 'not-http', faults: [{ name: 'garbage', on: ['article'] }], row: failed('bad_response') },
];

const led = (location: string): FaultSpec[] => [{ name: 'fixed', options: { status: 302, location } }];
const nowhere: Partial<RowState> = { status: 'dead', code: 'bad_redirect', documents: 0 };

/** Addresses that lead in circles, inside, or out of the web. */
const ways: Attack[] = [
  {
    name: 'circle',
    faults: [{ name: 'redirect-loop' }],
    row: { status: 'dead', code: 'redirect_loop' },
    requests: 3,
  },
  {
    name: 'staircase',
    faults: [{ name: 'redirect-endless' }],
    row: { status: 'dead', code: 'too_many_redirects' },
    requests: 7,
  },
  { name: 'to-metadata', faults: [{ name: 'redirect-private' }], row: { status: 'redirected' }, requests: 2 },
  { name: 'to-file', faults: led('file:///etc/passwd'), row: nowhere, requests: 2 },
  { name: 'to-script', faults: led('javascript:alert(1)'), row: nowhere, requests: 2 },
  { name: 'to-nowhere', faults: led('http://'), row: nowhere, requests: 2 },
  { name: 'to-monster', faults: led(`/${'long'.repeat(2_500)}`), row: nowhere, requests: 2 },
];

/** XML, HTML and JSON that mean harm to whoever reads them. */
const texts: Attack[] = [
  { name: 'xml-bomb', kind: 'feed', faults: [{ name: 'xml-bomb' }], row: read },
  { name: 'xml-bomb-sitemap', kind: 'sitemap', faults: [{ name: 'xml-bomb' }], row: { status: 'pending' } },
  { name: 'xxe', kind: 'feed', faults: [{ name: 'xxe' }], row: read },
  { name: 'xxe-sitemap', kind: 'sitemap', faults: [{ name: 'xxe' }], row: { status: 'pending' } },
  { name: 'deep-xml', kind: 'feed', faults: [{ name: 'deep-xml' }], row: { status: 'pending' } },
  { name: 'deep-xml-sitemap', kind: 'sitemap', faults: [{ name: 'deep-xml' }], row: { status: 'pending' } },
  // The text at the bottom is found.
  { name: 'deep-html', faults: [{ name: 'deep-html' }], row: stored },
  {
    name: 'deep-listing',
    kind: 'listing',
    faults: [{ name: 'deep-html' }],
    row: { documents: 0 },
    requests: 2,
  },
  { name: 'proto-feed', kind: 'feed', faults: [{ name: 'proto-keys' }], row: read },
  { name: 'proto-page', faults: [{ name: 'proto-ld' }], row: stored },
  { name: 'nuls', faults: [{ name: 'nul-bytes' }], row: stored },
  {
    name: 'nul-feed',
    kind: 'feed',
    faults: [{ name: 'nul-bytes', on: ['feed'] }],
    row: { status: 'pending' },
  },
  { name: 'html-feed', kind: 'feed', faults: [{ name: 'feed-html' }], row: unread },
  { name: 'cut-feed', kind: 'feed', faults: [{ name: 'feed-cut' }], row: read },
  { name: 'empty-feed', kind: 'feed', faults: [{ name: 'feed-empty' }], row: read },
  { name: 'million-items', kind: 'feed', faults: [{ name: 'feed-huge' }], row: unread, requests: 2 },
  { name: 'sitemap-circle', kind: 'sitemap', faults: [{ name: 'sitemap-loop' }], row: read, requests: 12 },
  { name: 'sitemap-foreign', kind: 'sitemap', faults: [{ name: 'sitemap-foreign' }], row: read, requests: 2 },
  { name: 'after-foreign-sitemap', faults: [], row: stored, requests: 2 },
  { name: 'odd-links', kind: 'listing', faults: [{ name: 'odd-links' }], row: { status: 'fetched' } },
  { name: 'odd-feed', kind: 'feed', faults: [{ name: 'feed-schemes' }], row: read },
  { name: 'literal-feed', kind: 'feed', faults: [{ name: 'feed-literals' }], row: read, requests: 2 },
];

const type = (value: string): FaultSpec[] => [{ name: 'wrong-type', options: { type: value } }];

/** Headers that say something else than the body, or too much. */
const labels: Attack[] = [
  { name: 'other-charset', faults: [{ name: 'charset-lie' }], row: stored },
  {
    name: 'utf-16',
    faults: [{ name: 'charset-lie', options: { declared: 'utf-16le', actual: 'utf-16le' } }],
    row: stored,
  },
  { name: 'unknown-charset', faults: [{ name: 'charset-unknown' }], row: stored },
  { name: 'half-a-charset', faults: type('text/html; charset="'), row: stored },
  { name: 'odd-case', faults: type('TEXT/HTML;CHARSET=UTF-8;;x='), row: stored },
  { name: 'no-type', faults: [{ name: 'no-type' }], row: stored },
  { name: 'no-type-feed', kind: 'feed', faults: [{ name: 'no-type', on: ['feed'] }], row: read },
  { name: 'no-type-sitemap', kind: 'sitemap', faults: [{ name: 'no-type', on: ['sitemap'] }], row: read },
  {
    name: 'video',
    faults: type('video/mp4'),
    row: { status: 'dead', code: 'unsupported_type', documents: 0 },
  },
  { name: 'nonsense-type', faults: type('nonsense'), row: { status: 'dead', code: 'unsupported_type' } },
  { name: 'monster-validators', faults: [{ name: 'monster-validators' }], row: { ...stored, etag: null } },
  { name: 'unasked-304', faults: [{ name: 'unasked-304', on: ['article'] }], row: failed('bad_response') },
  { name: 'challenge', faults: [{ name: 'challenge' }], row: failed('challenge') },
  {
    name: 'soft-404',
    faults: [{ name: 'soft-404' }],
    row: { status: 'dead', code: 'soft_404', documents: 0 },
  },
  {
    name: 'retry-after-ages',
    faults: [{ name: 'too-many', on: ['article'], options: { retryAfter: '1000000000000' } }],
    row: { status: 'failed', tries: 0 },
    requests: 2,
  },
  {
    name: 'retry-after-garbage',
    faults: [{ name: 'too-many', on: ['article'], options: { retryAfter: '-5e999 soon' } }],
    row: { status: 'failed', tries: 0 },
    requests: 2,
  },
];

const robots = (name: string, options: NonNullable<FaultSpec['options']> = {}): FaultSpec[] => [
  { name, on: name === 'robots-redirect' ? ['robots', 'other'] : ['robots'], options },
];
const says = (text: string): FaultSpec[] => robots('fixed', { text, type: 'text/plain' });

/** robots.txt in every broken form; the article is what they are about. */
const rules: Attack[] = [
  { name: 'robots-html', faults: robots('robots-html'), row: stored },
  { name: 'robots-binary', faults: robots('robots-binary'), row: stored },
  { name: 'robots-mess', faults: robots('robots-mess'), row: stored },
  { name: 'robots-huge', faults: robots('robots-huge'), row: stored },
  { name: 'robots-longer', faults: robots('robots-huge', { kb: 6_000 }), row: stored },
  { name: 'robots-empty', faults: says(''), row: stored },
  { name: 'robots-nuls', faults: says('\u0000'.repeat(5_000)), row: stored },
  { name: 'robots-one-line', faults: says('User-agent: * Disallow: / '.repeat(20_000)), row: stored },
  { name: 'robots-agents', faults: says(`${'User-agent: a\n'.repeat(20_000)}Disallow: /\n`), row: stored },
  { name: 'robots-stars', faults: says(`User-agent: *\nDisallow: /${'*a'.repeat(5_000)}$\n`), row: stored },
  {
    name: 'robots-delays',
    faults: says('User-agent: *\nCrawl-delay: -5\nCrawl-delay: 1e999\nCrawl-delay: soon\n'),
    row: stored,
  },
  { name: 'robots-endless', faults: robots('endless', { type: 'text/plain' }), row: stored },
  { name: 'robots-bomb', faults: robots('gzip-bomb'), row: stored },
  { name: 'robots-404', faults: robots('status', { status: 404 }), row: stored },
  { name: 'robots-403', faults: robots('status', { status: 403 }), row: stored },
  { name: 'robots-five-hops', faults: robots('robots-redirect'), row: stored },
  { name: 'robots-many-hops', faults: robots('robots-redirect', { hops: 50 }), row: stored, requests: 8 },
  {
    name: 'robots-deny-all',
    faults: robots('robots-deny-all'),
    // The whole domain is closed: it rests, and the row waits for another robots.txt.
    row: { status: 'pending', code: null, documents: 0 },
    requests: 1,
  },
  { name: 'robots-429', faults: robots('status', { status: 429 }), row: parked, requests: 1 },
  { name: 'robots-500', faults: robots('status', { status: 500 }), row: parked, requests: 1 },
  { name: 'robots-stall', faults: robots('stall'), row: parked, requests: 1 },
  { name: 'robots-reset', faults: robots('reset'), row: parked, requests: 2 },
  { name: 'robots-cut', faults: robots('truncated'), row: parked, requests: 1 },
  { name: 'robots-false-gzip', faults: robots('bad-gzip'), row: parked, requests: 1 },
  { name: 'robots-flood', faults: robots('header-flood'), row: parked, requests: 1 },
  { name: 'robots-garbage', faults: robots('garbage'), row: parked, requests: 1 },
];

/** Every attack, each on a publisher of its name. */
export const attacks: readonly Attack[] = [...bodies, ...ways, ...texts, ...labels, ...rules];
