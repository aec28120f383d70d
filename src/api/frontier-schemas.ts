import { type Static, type TInteger, Type } from 'typebox';
import type { Queryable } from '../db/index.ts';
import { keyOfDomain } from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import {
  identifyKnown,
  type UrlDetails,
  type UrlFilter,
  type UrlKind,
  type UrlRow,
  type UrlStatus,
  urlKinds,
  urlOrigins,
  urlSorts,
  urlStatuses,
} from '../frontier/index.ts';
import { requireSource } from '../sources/index.ts';
import { channelHash, urlId } from '../url/index.ts';
import { answer, count, date, dueDate, oneOf, orNull, slug } from './schemas.ts';

const listOf = (known: readonly string[]) => {
  const one = `(${known.join('|')})`;
  return Type.String({ pattern: `^${one}(,${one}){0,20}$`, maxLength: 200 });
};

/** The public id of a row. */
export const idParams = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{16}-[0-9a-f]{64}$', description: 'id of a URL' }),
});

/** What a list of URLs may be narrowed by. */
export const filterFields = {
  status: Type.Optional(listOf(urlStatuses)),
  kind: Type.Optional(listOf(urlKinds)),
  source: Type.Optional(slug),
  domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  origin: Type.Optional(listOf(urlOrigins)),
  priority_min: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  reason: Type.Optional(Type.String({ pattern: '^[a-z0-9_]{1,100}$', description: 'error code' })),
  older_than: Type.Optional(
    Type.String({
      pattern: '^(\\d{1,6}[smhd]|\\d{4}-\\d{2}-\\d{2}(T[0-9:.]{5,15}(Z|[+-]\\d{2}:\\d{2})?)?)$',
      maxLength: 40,
      description: 'discovered before a date, or so long ago: 30m, 12h, 7d',
    }),
  ),
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'exactly this address' })),
  prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'the address begins so, scheme and host included',
    }),
  ),
  sort: Type.Optional(oneOf(urlSorts)),
};

export type FilterQuery = Static<ReturnType<typeof Type.Object<typeof filterFields>>>;

// Polls have a list of their own, probes nobody lists: they come when they are asked for.
const usualKinds: readonly UrlKind[] = ['article', 'listing', 'image'];

/** A filter as the frontier knows it; an address or a domain that cannot be one is the caller's mistake. */
export async function filterOf(db: Queryable, query: FilterQuery): Promise<UrlFilter> {
  const filter: UrlFilter = {
    // An exact address is meant, whatever it is.
    ...(query.kind === undefined
      ? query.url === undefined
        ? { kinds: usualKinds }
        : {}
      : { kinds: query.kind.split(',') as UrlKind[] }),
  };
  if (query.status !== undefined) filter.statuses = query.status.split(',') as UrlStatus[];
  if (query.origin !== undefined) filter.origins = query.origin.split(',') as (typeof urlOrigins)[number][];
  if (query.priority_min !== undefined) filter.priorityMin = query.priority_min;
  if (query.reason !== undefined) filter.errorCode = query.reason;
  if (query.older_than !== undefined) filter.before = beforeOf(query.older_than);
  if (query.domain !== undefined) filter.domain = domainOf(query.domain);
  if (query.url !== undefined || query.prefix !== undefined) await narrowToAddress(db, filter, query);
  if (query.source !== undefined) filter.sourceId = (await requireSource(db, query.source)).id;
  return filter;
}

const invalid = (detail: string): AppError => new AppError('request_invalid', detail, { httpStatus: 400 });

function domainOf(name: string): { bucket: number; domainKey: bigint } {
  const key = keyOfDomain(name);
  if (key === null) throw invalid(`"${name.slice(0, 200)}" is not a domain`);
  return { bucket: key.bucket, domainKey: key.domainKey };
}

async function narrowToAddress(db: Queryable, filter: UrlFilter, query: FilterQuery): Promise<void> {
  for (const [name, text] of [
    ['url', query.url],
    ['prefix', query.prefix],
  ] as const) {
    if (text === undefined) continue;
    const identified = await identifyKnown(db, text);
    if (identified.outcome === 'rejected')
      throw invalid(`"${name}" is not a web address (${identified.reason})`);
    const { bucket, domainKey, hash, fetchUrl } = identified.identity;
    if (filter.domain !== undefined && filter.domain.domainKey !== domainKey)
      throw invalid(`"${name}" lies in another domain`);
    filter.domain = { bucket, domainKey };
    // A feed's address may be a page too: both rows are found.
    if (name === 'url') filter.hashes = [hash, channelHash(fetchUrl)];
    // As rows spell it: the parser escapes what an address may not hold, and a host is lower case.
    else filter.prefix = fetchUrl;
  }
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function beforeOf(text: string): Date {
  const span = /^(\d+)([smhd])$/.exec(text);
  const ms =
    span === null ? Date.parse(text) : Date.now() - Number(span[1]) * unitMs[span[2] as keyof typeof unitMs];
  if (!Number.isFinite(ms)) throw invalid('"older_than" is neither a date nor a span as 7d');
  return new Date(ms);
}

/** A URL in a list. */
export const urlItem = Type.Object({
  id: Type.String(),
  url: Type.String(),
  kind: oneOf(urlKinds),
  origin: oneOf(urlOrigins),
  status: oneOf(urlStatuses),
  priority: Type.Integer(),
  level: Type.Integer(),
  ready: Type.Boolean(),
  sourceId: orNull(Type.Integer()),
  sourceSlug: orNull(Type.String()),
  dueAt: orNull(dueDate),
  discoveredAt: date,
  lastFetchedAt: orNull(date),
  tries: Type.Integer(),
  httpStatus: orNull(Type.Integer()),
  errorCode: orNull(Type.String()),
});

/** A URL with everything its row says. */
export const urlCard = Type.Object({
  ...urlItem.properties,
  parentUrl: orNull(Type.String()),
  depth: Type.Integer(),
  hops: Type.Integer(),
  fetchCount: Type.Integer(),
  crashes: Type.Integer(),
  refreshSeconds: orNull(Type.Integer()),
  etag: orNull(Type.String()),
  lastModified: orNull(Type.String()),
  contentHash: orNull(Type.String()),
  duplicateOf: orNull(Type.String()),
  redirectedTo: orNull(Type.String()),
  errorText: orNull(Type.String()),
  validationStatus: orNull(Type.String()),
  rejectionReason: orNull(Type.String()),
  budgeted: Type.Boolean(),
  inFlight: Type.Boolean(),
  domain: orNull(Type.String()),
  hasDocument: Type.Boolean({ description: 'a document of the same id is stored' }),
});

/** The counts of rows by status, as fields of an answer. */
export const rowCounts: Record<string, TInteger> = Object.fromEntries(
  [...urlStatuses, 'submitted', 'channels'].map((name) => [name, Type.Integer()]),
);

/** A row as it is shown: its key as the public id. */
export const shownUrl = <T extends UrlRow | UrlDetails>({ bucket: _bucket, domainKey, hash, ...row }: T) => ({
  id: urlId(domainKey, hash),
  ...row,
});

/** A request for a URL, as the crawl log has it. */
export const attemptShape = answer({
  at: date,
  status: orNull(Type.Integer()),
  outcome: Type.String(),
  url: Type.String(),
  waitMs: orNull(Type.Integer()),
  headersMs: orNull(Type.Integer()),
  totalMs: orNull(Type.Integer()),
  bytes: orNull(count),
  worker: Type.String(),
});
