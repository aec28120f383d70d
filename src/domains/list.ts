import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { type DomainStatus, domainStatuses } from './lifecycle.ts';

/** A domain as lists show it. */
export type DomainRow = {
  bucket: number;
  domainKey: bigint;
  name: string;
  status: DomainStatus;
  reason: string | null;
  since: Date;
  /** End of a rest; null when there is none, or none that comes by itself. */
  restUntil: Date | null;
  /** Rests until somebody resets it. */
  isPermanent: boolean;
  /** Earliest next request; null: not by itself. */
  nextAt: Date | null;
  pagesKnown: number;
  pagesCrawled: number;
  documents: number;
  imagesFound: number;
  imagesStored: number;
  /** Documents per page crawled. */
  yield: number;
  /** Images stored per page crawled. */
  averageImages: number;
  /** Share of requests that failed. */
  errorRate: number;
  errorsTotal: number;
  errorsConsecutive: number;
  firstSeenAt: Date;
  lastCrawledAt: Date | null;
  seedRank: number | null;
  dataset: string | null;
  score: number;
  /** Rows that are ready, and how many of them the budget governs. */
  queued: number;
  budgeted: number;
};

/** The columns of a DomainRow, of `domains d` and `domain_slots s`. 'infinity' is no date a client can hold. */
export const domainColumns = `
  d.bucket, d.domain_key AS "domainKey", d.name, d.status, d.status_reason AS reason, d.status_since AS since,
  nullif(s.rest_until, 'infinity') AS "restUntil", coalesce(s.rest_until = 'infinity', false) AS "isPermanent",
  nullif(s.next_at, 'infinity') AS "nextAt",
  d.pages_known::float8 AS "pagesKnown", d.pages_crawled::float8 AS "pagesCrawled", d.documents::float8 AS documents,
  d.images_found::float8 AS "imagesFound", d.images_stored::float8 AS "imagesStored",
  d.documents::float8 / greatest(d.pages_crawled, 1) AS yield,
  d.images_stored::float8 / greatest(d.pages_crawled, 1) AS "averageImages",
  d.errors_total::float8 / greatest(d.errors_total + d.pages_crawled, 1) AS "errorRate",
  d.errors_total::float8 AS "errorsTotal", d.errors_consecutive AS "errorsConsecutive",
  d.first_seen_at AS "firstSeenAt", d.last_crawled_at AS "lastCrawledAt", d.seed_rank AS "seedRank", d.dataset,
  d.score::float8 AS score, coalesce(s.queued, 0) AS queued, coalesce(s.budgeted, 0) AS budgeted`;

const joined = 'domains d LEFT JOIN domain_slots s ON s.bucket = d.bucket AND s.domain_key = d.domain_key';

// By status and name there is an index; the others sort what the filter leaves, which a person waits for, not a crawl.
const sorts = {
  name: { value: 'd.name', type: 'text', down: false },
  recent: { value: `coalesce(d.last_crawled_at, '-infinity')`, type: 'timestamptz', down: true },
  score: { value: 'd.score', type: 'real', down: true },
  documents: { value: 'd.documents', type: 'bigint', down: true },
} as const;

export const domainSorts = ['name', 'recent', 'score', 'documents'] as const;
export type DomainSort = (typeof domainSorts)[number];

/** Domains, a page at a time. `cursor` is what the page before answered; null at the end. */
export async function listDomains(
  db: Queryable,
  options: { status?: DomainStatus; sort?: DomainSort; limit: number; cursor?: string | null },
): Promise<{ rows: DomainRow[]; cursor: string | null }> {
  const { value, type, down } = sorts[options.sort ?? 'name'];
  const after = options.cursor == null ? null : parseCursor(options.cursor);
  const direction = down ? 'DESC' : 'ASC';
  const asked = db.query<DomainRow & { at: string }>(
    `SELECT ${domainColumns}, (${value})::text AS at FROM ${joined}
      WHERE ($1::domain_status IS NULL OR d.status = $1)
        ${after === null ? '' : `AND (${value}, d.domain_key) ${down ? '<' : '>'} ($3::${type}, $4::bigint)`}
      ORDER BY ${value} ${direction}, d.domain_key ${direction} LIMIT $2`,
    [options.status ?? null, options.limit, ...(after === null ? [] : [after.at, after.domainKey])],
  );
  const result = await asked.catch((error: unknown) => {
    throw after !== null && isBadValue(error) ? cursorInvalid() : error;
  });
  const last = result.rows.length === options.limit ? result.rows.at(-1) : undefined;
  return {
    rows: result.rows.map(({ at: _at, ...row }) => row),
    cursor: last === undefined ? null : writeCursor(last.at, last.domainKey),
  };
}

const writeCursor = (at: string, domainKey: bigint): string =>
  Buffer.from(JSON.stringify([at, domainKey.toString()])).toString('base64url');

const cursorInvalid = (): AppError =>
  new AppError('cursor_invalid', 'this is not a cursor that a list of this order has answered', {
    httpStatus: 400,
    advice: 'Begin again without a cursor.',
  });

function parseCursor(text: string): { at: string; domainKey: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw cursorInvalid();
  }
  const [at, domainKey] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
  if (typeof at !== 'string' || typeof domainKey !== 'string' || !/^-?\d{1,19}$/.test(domainKey))
    throw cursorInvalid();
  return { at, domainKey };
}

// 22…: the text is no value of the column's type, so the cursor came from elsewhere.
const isBadValue = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code ?? '').startsWith('22');

/** The domains that give most documents per page, of those with enough pages to say so. */
export async function topDomains(
  db: Queryable,
  options: { limit: number; leastPages?: number },
): Promise<DomainRow[]> {
  const result = await db.query<DomainRow>(
    `SELECT ${domainColumns} FROM ${joined} WHERE d.pages_crawled >= $2
      ORDER BY d.documents::float8 / greatest(d.pages_crawled, 1) DESC, d.documents DESC, d.name LIMIT $1`,
    [options.limit, options.leastPages ?? 5],
  );
  return result.rows;
}

/** How many domains there are of each status. Index: domains_status. */
export async function countDomains(db: Queryable): Promise<Record<DomainStatus, number>> {
  const result = await db.query<{ status: DomainStatus; count: number }>(
    'SELECT status, count(*)::float8 AS count FROM domains GROUP BY status',
  );
  const counts = Object.fromEntries(domainStatuses.map((status) => [status, 0])) as Record<
    DomainStatus,
    number
  >;
  for (const row of result.rows) counts[row.status] = row.count;
  return counts;
}
