import { type Static, Type } from 'typebox';
import { type DomainDetails, type DomainRow, domainStatuses } from '../domains/index.ts';
import { mostRuleNameLength, mostRuleNames } from '../url/index.ts';
import { date, oneOf, orNull } from './schemas.ts';

/** A domain's name in any spelling. */
export const named = Type.Object({ name: Type.String({ minLength: 1, maxLength: 300 }) });

/** A domain in a list. */
export const domainItem = Type.Object({
  key: Type.String(),
  name: Type.String(),
  status: oneOf(domainStatuses),
  reason: orNull(Type.String()),
  since: date,
  restUntil: orNull(date),
  isPermanent: Type.Boolean(),
  nextAt: orNull(date),
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
  firstSeenAt: date,
  lastCrawledAt: orNull(date),
  seedRank: orNull(Type.Integer()),
  dataset: orNull(Type.String()),
  score: Type.Number(),
  queued: Type.Integer(),
  budgeted: Type.Integer(),
  circuitOpen: Type.Boolean({
    description: 'it refused too often of late and is asked for one page at a time',
  }),
  circuitAt: orNull(date),
  circuitReason: orNull(Type.String()),
  leaseOwner: orNull(Type.String({ description: 'the worker that fetches it now' })),
  hasTrial: Type.Boolean({ description: 'while it rests: a channel or robots.txt is tried before the end' }),
});

/** A domain in a list with how fast it is asked and what it has used of its budget. */
export const domainLine = Type.Object({
  ...domainItem.properties,
  delayMs: Type.Integer({ description: 'between two requests' }),
  budgetMost: orNull(Type.Integer({ description: 'pages a run may fetch; null: no limit' })),
  budgetUsed: orNull(Type.Integer({ description: 'of these, in the run that is under way' })),
});

/** A move of a domain. */
export const domainEvent = Type.Object({
  at: date,
  from: orNull(oneOf(domainStatuses)),
  to: oneOf(domainStatuses),
  reason: Type.String(),
  actor: Type.String(),
});

const crawlDelay = orNull(
  Type.Object({
    seconds: Type.Number({ description: 'what is kept' }),
    askedSeconds: Type.Number({ description: 'what robots.txt asks for' }),
    line: Type.Integer(),
    capped: Type.Boolean({ description: 'more than 60 s is asked for, and 60 s are kept' }),
  }),
);

/** The host rules of a domain, all of them said. */
export const hostRules = Type.Object(
  {
    keepTrailingSlash: Type.Boolean(),
    stripParameters: Type.Array(Type.String()),
    keepParameters: Type.Array(Type.String()),
  },
  { description: 'what its addresses are known by beyond the general rules' },
);

const names = (description: string) =>
  Type.Optional(
    orNull(
      Type.Array(Type.String({ minLength: 1, maxLength: mostRuleNameLength }), {
        maxItems: mostRuleNames,
        description,
      }),
    ),
  );

/** A change of host rules: what is left out stays, null takes it back. */
export const hostRulesChange = Type.Object(
  {
    keepTrailingSlash: Type.Optional(
      orNull(
        Type.Boolean({ description: 'an address with a slash at its end is another page than without' }),
      ),
    ),
    stripParameters: names('parameters that say nothing about a page'),
    keepParameters: names('parameters that tell pages apart although they look like tracking'),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** One domain with everything about it. */
export const domainCard = Type.Object({
  ...domainItem.properties,
  now: date,
  parentDomain: orNull(Type.String()),
  entryUrl: orNull(Type.String()),
  firstBlockedAt: orNull(date),
  blockCount: Type.Integer(),
  unreachableCount: Type.Integer(),
  depthReached: Type.Integer(),
  top: orNull(Type.Integer()),
  hold: orNull(Type.String()),
  pool: Type.String(),
  wakeAt: orNull(date),
  lastGoodAt: orNull(date),
  lease: orNull(Type.Object({ owner: Type.String(), until: date, inFlight: Type.Integer() })),
  delay: Type.Object({
    totalMs: Type.Integer(),
    robotsMs: orNull(Type.Integer()),
    configuredMs: orNull(Type.Integer()),
    sourceMs: orNull(Type.Integer()),
    penaltyMs: Type.Integer(),
  }),
  budget: Type.Object({
    max: orNull(Type.Integer()),
    configured: orNull(Type.Integer()),
    left: orNull(Type.Integer()),
    until: orNull(date),
    isOpen: Type.Boolean(),
  }),
  circuit: Type.Object({
    isOpen: Type.Boolean(),
    refusals: Type.Array(Type.String()),
    opens: Type.Array(Type.Object({ at: date, reason: Type.String() })),
    networkFailures: Type.Integer(),
    networkSince: orNull(date),
  }),
  scoreTerms: Type.Object({
    rank: Type.Number(),
    yield: Type.Number(),
    remaining: Type.Number(),
    errors: Type.Number(),
    waiting: Type.Number(),
  }),
  shift: Type.Integer(),
  rules: hostRules,
  rekey: orNull(
    Type.Object(
      { changedAt: date, dueAt: date, moved: Type.Integer(), merged: Type.Integer() },
      { description: 'its host rules changed, and what waits is given its key by them' },
    ),
  ),
  explanation: Type.Object({
    state: Type.String(),
    sentences: Type.Array(Type.String()),
    expectedAt: orNull(date),
    advice: Type.Array(Type.String()),
  }),
  events: Type.Array(domainEvent),
  runs: Type.Array(
    Type.Object({
      startedAt: date,
      untilAt: date,
      mode: oneOf(['discovery', 'refresh']),
      budget: Type.Integer(),
      pages: Type.Integer(),
      documents: Type.Integer(),
    }),
  ),
  robots: Type.Array(
    Type.Object({ origin: Type.String(), outcome: Type.String(), fetchedAt: date, crawlDelay }),
  ),
  pins: Type.Array(Type.Object({ source: Type.String(), group: Type.String(), pinnedAt: date }), {
    description: 'sources that pin it to a group of fetchers, the one that holds first',
  }),
  archives: orNull(
    Type.Object({
      lookedAt: date,
      nextAt: date,
      tries: Type.Array(
        Type.Object({
          url: Type.String(),
          kind: oneOf(['sitemap', 'page']),
          foundBy: oneOf(['robots', 'learned', 'path', 'date']),
          state: oneOf(['asked', 'worked', 'failed', 'known']),
          detail: orNull(Type.String({ description: 'why it failed, or where it leads' })),
          askedAt: date,
          endedAt: orNull(date),
          againAt: orNull(date),
        }),
        { description: 'places that were tried, newest first, a hundred at most' },
      ),
    }),
  ),
  site: Type.Object(
    {
      traps: Type.Array(
        Type.Object({ prefix: Type.String(), reason: Type.String(), pages: Type.Integer(), cappedAt: date }),
        { description: 'paths under which nothing is fetched until the domain is reset' },
      ),
      pagination: Type.Array(
        Type.Object({
          base: Type.String({ description: 'the first page of the listing' }),
          form: Type.String({ description: 'how its further pages are addressed' }),
          evidence: Type.Integer({ description: 'links that spoke for it; 0: a guess' }),
          highest: Type.Integer(),
          reached: Type.Integer(),
          pages: Type.Integer(),
          endReason: orNull(Type.String()),
          endedAt: orNull(date),
          seenAt: date,
        }),
      ),
      shapes: Type.Array(
        Type.Object({
          shape: Type.String(),
          articles: Type.Integer(),
          listings: Type.Integer(),
          others: Type.Integer(),
        }),
        { description: 'what pages turned out to be, by the shape of their address' },
      ),
      refusedLinks: Type.Array(Type.Object({ reason: Type.String(), links: Type.Number() })),
    },
    { description: 'what the spider has learned of its pages, at most fifty of each' },
  ),
});

/** A robots.txt, parsed. */
export const robotsItem = Type.Object({
  origin: Type.String(),
  outcome: oneOf(['rules', 'allow_all', 'unavailable']),
  httpStatus: orNull(Type.Integer()),
  errorCode: orNull(Type.String()),
  fetchedAt: date,
  expiresAt: date,
  body: orNull(oneOf(['text', 'html', 'binary'])),
  truncated: Type.Boolean(),
  groups: Type.Array(
    Type.Object({
      agents: Type.Array(Type.String()),
      rules: Type.Array(Type.Object({ allow: Type.Boolean(), pattern: Type.String(), line: Type.Integer() })),
      delays: Type.Array(Type.Object({ seconds: Type.Number(), line: Type.Integer() })),
    }),
  ),
  sitemaps: Type.Array(Type.Object({ url: Type.String(), line: Type.Integer() })),
  crawlDelay,
});

/** Host rules as they are shown. */
export const shownRules = ({ rules }: Pick<DomainDetails, 'rules'>): Static<typeof hostRules> => ({
  keepTrailingSlash: rules.keepTrailingSlash === true,
  stripParameters: [...(rules.stripParameters ?? [])],
  keepParameters: [...(rules.keepParameters ?? [])],
});

/** A domain as it is shown: the key is 64 bits, JSON has it as the public ids spell it. */
export const shownDomain = <T extends DomainRow>({ bucket: _bucket, domainKey, ...rest }: T) => ({
  key: BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0'),
  ...rest,
});
