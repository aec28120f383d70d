import { Type } from 'typebox';
import { type DomainRow, domainStatuses } from '../domains/index.ts';
import { oneOf } from './fields.ts';
import { maybe, time } from './shapes.ts';

/** A domain's name in any spelling. */
export const named = Type.Object({ name: Type.String({ minLength: 1, maxLength: 300 }) });

/** A domain in a list. */
export const domainItem = Type.Object({
  key: Type.String(),
  name: Type.String(),
  status: oneOf(domainStatuses),
  reason: maybe(Type.String()),
  since: time,
  restUntil: maybe(time),
  isPermanent: Type.Boolean(),
  nextAt: maybe(time),
  pagesKnown: Type.Number(),
  pagesCrawled: Type.Number(),
  documents: Type.Number(),
  imagesFound: Type.Number(),
  imagesStored: Type.Number(),
  yield: Type.Number(),
  averageImages: Type.Number(),
  errorRate: Type.Number(),
  errorsTotal: Type.Number(),
  errorsConsecutive: Type.Integer(),
  firstSeenAt: time,
  lastCrawledAt: maybe(time),
  seedRank: maybe(Type.Integer()),
  dataset: maybe(Type.String()),
  score: Type.Number(),
  queued: Type.Integer(),
  budgeted: Type.Integer(),
});

/** A move of a domain. */
export const domainEvent = Type.Object({
  at: time,
  from: maybe(oneOf(domainStatuses)),
  to: oneOf(domainStatuses),
  reason: Type.String(),
  actor: Type.String(),
});

/** One domain with everything about it. */
export const domainCard = Type.Object({
  ...domainItem.properties,
  now: time,
  parentDomain: maybe(Type.String()),
  entryUrl: maybe(Type.String()),
  firstBlockedAt: maybe(time),
  blockCount: Type.Integer(),
  unreachableCount: Type.Integer(),
  depthReached: Type.Integer(),
  top: maybe(Type.Integer()),
  hold: maybe(Type.String()),
  pool: Type.String(),
  wakeAt: maybe(time),
  lastGoodAt: maybe(time),
  lease: maybe(Type.Object({ owner: Type.String(), until: time, inFlight: Type.Integer() })),
  delay: Type.Object({
    totalMs: Type.Integer(),
    robotsMs: maybe(Type.Integer()),
    configuredMs: maybe(Type.Integer()),
    sourceMs: maybe(Type.Integer()),
    penaltyMs: Type.Integer(),
  }),
  budget: Type.Object({
    max: maybe(Type.Integer()),
    configured: maybe(Type.Integer()),
    left: maybe(Type.Integer()),
    until: maybe(time),
    isOpen: Type.Boolean(),
  }),
  circuit: Type.Object({
    isOpen: Type.Boolean(),
    refusals: Type.Array(Type.String()),
    opens: Type.Array(Type.Object({ at: time, reason: Type.String() })),
    networkFailures: Type.Integer(),
    networkSince: maybe(time),
  }),
  scoreTerms: Type.Object({
    rank: Type.Number(),
    yield: Type.Number(),
    remaining: Type.Number(),
    errors: Type.Number(),
    waiting: Type.Number(),
  }),
  shift: Type.Integer(),
  explanation: Type.Object({
    state: Type.String(),
    sentences: Type.Array(Type.String()),
    expectedAt: maybe(time),
    advice: Type.Array(Type.String()),
  }),
  events: Type.Array(domainEvent),
  runs: Type.Array(
    Type.Object({
      startedAt: time,
      untilAt: time,
      mode: oneOf(['discovery', 'refresh']),
      budget: Type.Integer(),
      pages: Type.Integer(),
      documents: Type.Integer(),
    }),
  ),
  robots: Type.Array(Type.Object({ origin: Type.String(), outcome: Type.String(), fetchedAt: time })),
});

/** A robots.txt, parsed. */
export const robotsItem = Type.Object({
  origin: Type.String(),
  outcome: oneOf(['rules', 'allow_all', 'unavailable']),
  httpStatus: maybe(Type.Integer()),
  errorCode: maybe(Type.String()),
  fetchedAt: time,
  expiresAt: time,
  body: maybe(oneOf(['text', 'html', 'binary'])),
  truncated: Type.Boolean(),
  groups: Type.Array(
    Type.Object({
      agents: Type.Array(Type.String()),
      rules: Type.Array(Type.Object({ allow: Type.Boolean(), pattern: Type.String(), line: Type.Integer() })),
      delays: Type.Array(Type.Object({ seconds: Type.Number(), line: Type.Integer() })),
    }),
  ),
  sitemaps: Type.Array(Type.Object({ url: Type.String(), line: Type.Integer() })),
  crawlDelay: maybe(Type.Object({ seconds: Type.Number(), line: Type.Integer(), capped: Type.Boolean() })),
});

/** A domain as it is shown: the key is 64 bits, JSON has it as the public ids spell it. */
export const shownDomain = <T extends DomainRow>({ bucket: _bucket, domainKey, ...rest }: T) => ({
  key: BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0'),
  ...rest,
});
