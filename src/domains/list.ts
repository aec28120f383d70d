import { type Counted, countedUpTo, mostCounted, type Queryable } from '../db/index.ts';
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
  /** It refused too often of late: one request at a time until two go well. */
  circuitOpen: boolean;
  /** When it last opened and what for, while it is open. */
  circuitAt: Date | null;
  circuitReason: string | null;
  /** Who fetches it now. */
  leaseOwner: string | null;
  /** While it rests: there is something to try before the end. */
  hasTrial: boolean;
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
  d.score::float8 AS score, coalesce(s.queued, 0) AS queued, coalesce(s.budgeted, 0) AS budgeted,
  s.circuit_good IS NOT NULL AS "circuitOpen",
  CASE WHEN s.circuit_good IS NOT NULL THEN s.circuit_opens[cardinality(s.circuit_opens)] END AS "circuitAt",
  CASE WHEN s.circuit_good IS NOT NULL THEN s.circuit_reasons[cardinality(s.circuit_reasons)] END AS "circuitReason",
  s.lease_owner AS "leaseOwner",
  -- Asked of those that rest only: no index leads from a domain to its channels.
  CASE WHEN d.status NOT IN ('blocked', 'unreachable') THEN false WHEN d.status_reason = 'robots_denied' THEN true
       ELSE EXISTS (SELECT FROM channels h WHERE h.bucket = d.bucket AND h.domain_key = d.domain_key AND h.enabled) END AS "hasTrial"`;

// Names have an index, alone and behind the status. The others are counters that each settle moves: an index of them would
// cost every settle three more (its update could not stay on its page), so what the filter leaves is sorted, which takes
// 20 ms for ten thousand domains.
const sorts = {
  name: { value: 'd.name COLLATE "C"', type: 'text', down: false },
  recent: { value: `coalesce(d.last_crawled_at, '-infinity')`, type: 'timestamptz', down: true },
  score: { value: 'd.score', type: 'real', down: true },
  documents: { value: 'd.documents', type: 'bigint', down: true },
} as const;

// Through the index of open circuits, domain by domain: left to itself the planner may read all domains to find them.
const openDomains = `domain_slots o CROSS JOIN LATERAL (
  SELECT d.* FROM domains d WHERE d.bucket = o.bucket AND d.domain_key = o.domain_key OFFSET 0) d`;

export const domainSorts = ['name', 'recent', 'score', 'documents'] as const;
export type DomainSort = (typeof domainSorts)[number];

/** A domain in a list: with how fast it is asked and what it has used of its budget. */
export type DomainLine = DomainRow & {
  /** Between two requests. */
  delayMs: number;
  /** Pages a run may fetch; null: no limit. */
  budgetMost: number | null;
  /** Of these, in the run that is under way. */
  budgetUsed: number | null;
};

/** What holds where a domain has nothing of its own. */
export type DomainDefaults = { delayMs: number; budget: number };

/**
 * Domains, a page at a time. `cursor` is what the page before answered; null at the end. Indexes: domains_name,
 * domains_status, domain_slots_circuit.
 */
export async function listDomains(
  db: Queryable,
  options: {
    status?: DomainStatus;
    /** Names that begin so. */
    prefix?: string;
    /** Only those whose circuit is open. */
    circuitOpen?: boolean;
    sort?: DomainSort;
    limit: number;
    cursor?: string | null;
    defaults: DomainDefaults;
  },
): Promise<{ rows: DomainLine[]; cursor: string | null }> {
  const { value, type, down } = sorts[options.sort ?? 'name'];
  const after = options.cursor == null ? null : parseCursor(options.cursor);
  const direction = down ? 'DESC' : 'ASC';
  const values: unknown[] = [];
  const given = (one: unknown): string => `$${values.push(one)}`;
  const wishes: string[] = [];
  if (options.circuitOpen === true) wishes.push('o.circuit_good IS NOT NULL');
  if (options.status !== undefined) wishes.push(`d.status = ${given(options.status)}::domain_status`);
  if (options.prefix !== undefined)
    // The last character there is ends the range, since names are sorted by their bytes.
    wishes.push(
      `d.name COLLATE "C" >= ${given(options.prefix)}::text AND d.name COLLATE "C" < ${given(`${options.prefix}\u{10ffff}`)}::text`,
    );
  if (after !== null)
    wishes.push(
      `(${value}, d.domain_key) ${down ? '<' : '>'} (${given(after.at)}::${type}, ${given(after.domainKey)}::bigint)`,
    );
  const delay = `${given(options.defaults.delayMs)}::integer`;
  const budget = `coalesce((SELECT (t.value #>> '{}')::integer FROM settings t WHERE t.name = 'max_pages_per_run'), ${given(options.defaults.budget)}::integer)`;
  // Its own budget may be nought; the configured one is then without limit.
  const most = `coalesce(s.budget_max, nullif(${budget}, 0))`;
  const asked = db.query<DomainLine & { at: string }>(
    // The page is chosen first: joined before, every domain would get its slot only to be sorted away.
    `SELECT ${domainColumns}, coalesce(slot_delay_ms(s, ${delay}), ${delay}) AS "delayMs", ${most} AS "budgetMost",
            CASE WHEN s.budget_until > now() THEN greatest(${most} - s.budget_left, 0) ELSE 0 END AS "budgetUsed",
            (${value})::text AS at
       FROM (SELECT d.* FROM ${options.circuitOpen === true ? openDomains : 'domains d'} ${wishes.length === 0 ? '' : `WHERE ${wishes.join(' AND ')}`}
              ORDER BY ${value} ${direction}, d.domain_key ${direction} LIMIT ${given(options.limit)}) d
       LEFT JOIN domain_slots s ON s.bucket = d.bucket AND s.domain_key = d.domain_key
      ORDER BY ${value} ${direction}, d.domain_key ${direction}`,
    values,
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
  if (
    typeof at !== 'string' ||
    at.includes('\0') ||
    typeof domainKey !== 'string' ||
    !/^-?\d{1,19}$/.test(domainKey)
  )
    throw cursorInvalid();
  return { at, domainKey };
}

// 22…: the text is no value of the column's type, so the cursor came from elsewhere.
const isBadValue = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code ?? '').startsWith('22');

const best = 'd.documents::float8 / greatest(d.pages_crawled, 1) DESC, d.documents DESC, d.name';

/** The domains that give most documents per page, of those with enough pages to say so. */
export async function topDomains(
  db: Queryable,
  options: { limit: number; leastPages?: number },
): Promise<DomainRow[]> {
  const result = await db.query<DomainRow>(
    `SELECT ${domainColumns}
       FROM (SELECT d.* FROM domains d WHERE d.pages_crawled >= $2 ORDER BY ${best} LIMIT $1) d
       LEFT JOIN domain_slots s ON s.bucket = d.bucket AND s.domain_key = d.domain_key ORDER BY ${best}`,
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

/** How many domains there are of each status, counted up to ten thousand each. Index: domains_status. */
export async function countDomainsUpTo(
  db: Queryable,
  prefix?: string,
): Promise<Record<DomainStatus, Counted>> {
  const named =
    prefix === undefined ? '' : `AND d.name COLLATE "C" >= $2::text AND d.name COLLATE "C" < $3::text`;
  const result = await db.query<{ status: DomainStatus; count: number }>(
    `SELECT s.status, c.count FROM unnest($1::domain_status[]) AS s(status)
      CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM (
        SELECT FROM domains d WHERE d.status = s.status ${named} LIMIT ${mostCounted + 1}) x) c`,
    [domainStatuses, ...(prefix === undefined ? [] : [prefix, `${prefix}\u{10ffff}`])],
  );
  return Object.fromEntries(result.rows.map(({ status, count }) => [status, countedUpTo(count)])) as Record<
    DomainStatus,
    Counted
  >;
}

/** How many domains have an open circuit, counted up to ten thousand. Index: domain_slots_circuit. */
export async function countOpenCircuits(db: Queryable): Promise<Counted> {
  const result = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (
       SELECT FROM domain_slots WHERE circuit_good IS NOT NULL LIMIT ${mostCounted + 1}) x`,
  );
  return countedUpTo(result.rows[0]!.count);
}
