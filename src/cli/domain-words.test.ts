import { expect, it } from 'vitest';
import { type DomainRow, unknownDomain } from '../domains/index.ts';
import { restLine } from './domain-words.ts';

const hourMs = 3_600_000;
const inHours = (hours: number): Date => new Date(Date.now() + hours * hourMs);

function row(change: Partial<DomainRow>): DomainRow {
  return {
    bucket: 1,
    domainKey: -1n,
    name: 'example.test',
    status: 'active',
    reason: null,
    since: new Date(0),
    restUntil: null,
    isPermanent: false,
    nextAt: null,
    pagesKnown: 0,
    pagesCrawled: 0,
    documents: 0,
    imagesFound: 0,
    imagesStored: 0,
    yield: 0,
    averageImages: 0,
    errorRate: 0,
    errorsTotal: 0,
    errorsConsecutive: 0,
    firstSeenAt: new Date(0),
    lastCrawledAt: null,
    seedRank: null,
    dataset: null,
    score: 0,
    queued: 0,
    budgeted: 0,
    circuitOpen: false,
    circuitAt: null,
    circuitReason: null,
    leaseOwner: null,
    hasTrial: true,
    ...change,
  };
}

it.each([
  [{ status: 'active' }, null],
  [{ status: 'exhausted', reason: 'left over' }, null],
  [
    { status: 'blocked', reason: 'forbidden', restUntil: inHours(336), nextAt: inHours(20) },
    'reason: forbidden, it refuses us (403); ends in 14 d, next trial in 20 h',
  ],
  [
    { status: 'blocked', reason: 'forbidden', restUntil: inHours(336), nextAt: inHours(20), hasTrial: false },
    'reason: forbidden, it refuses us (403); ends in 14 d',
  ],
  [
    { status: 'unreachable', reason: 'dns', restUntil: inHours(6), nextAt: null },
    'reason: dns, its name cannot be resolved; ends in 6 h',
  ],
  [
    { status: 'unreachable', reason: 'connect', restUntil: inHours(-1), nextAt: inHours(-1) },
    'reason: connect, nothing answers at its address; the rest is over',
  ],
  [{ status: 'blocked', reason: 'asked us', isPermanent: true }, 'reason: asked us; until it is reset'],
  [{ status: 'blocked', reason: null, isPermanent: true }, 'reason: no reason was given; until it is reset'],
] as [Partial<DomainRow>, string | null][])('%j', (change, line) => {
  expect(restLine(row(change))).toBe(line);
});

it('an unknown domain comes with advice', () => {
  expect(unknownDomain('x.test')).toMatchObject({ code: 'domain_unknown', exitCode: 2, httpStatus: 404 });
  expect(unknownDomain('x.test').advice).toContain('outrider domain status');
});
