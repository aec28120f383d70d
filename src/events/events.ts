import type { Queryable } from '../db/index.ts';

/** Something that happened, in the order of the transactions that did it. */
export type Event = { place: EventPlace } & (
  | { kind: 'audit'; entry: AuditEntry }
  | { kind: 'domain'; event: DomainMove }
  | { kind: 'job'; event: JobMove }
);

/** What an operator did. */
export type AuditEntry = {
  id: string;
  at: Date;
  actor: string;
  action: string;
  subject: string;
  detail: Record<string, unknown>;
};

/** A domain that went from one status to another. */
export type DomainMove = {
  id: string;
  at: Date;
  domain: string | null;
  from: string | null;
  to: string;
  reason: string;
  actor: string;
};

/** A job that went from one status to another. */
export type JobMove = {
  id: string;
  at: Date;
  jobId: number;
  from: string | null;
  to: string;
  action: string;
  reason: string | null;
  actor: string;
  executionId: string | null;
};

/**
 * A place among events: whoever has seen it has seen everything before it. Within a transaction the audit comes first,
 * then the moves of domains, then those of jobs; `id` is of the last one seen, null: none of this kind.
 */
export type EventPlace = { tx: bigint; kind: Event['kind']; id: string | null };

type Row<T> = T & { tx: string };

// Nothing younger than a transaction under way is read: it might still bring something older than what was read.
const isComplete = 'tx < pg_snapshot_xmin(pg_current_snapshot())';

const kinds = ['audit', 'domain', 'job'] as const satisfies readonly Event['kind'][];

/** The events after a place, in order. Indexes: audit_tx, domain_events_tx, job_events_tx. */
export async function loadEvents(db: Queryable, after: EventPlace, limit: number): Promise<Event[]> {
  const tx = after.tx.toString();
  // Of its own kind a place names the last one seen; what comes before its kind in its transaction was seen, too.
  const from = (kind: Event['kind'], lowest: string, highest: string): string => {
    if (kind === after.kind) return after.id ?? lowest;
    return kinds.indexOf(kind) < kinds.indexOf(after.kind) ? highest : lowest;
  };
  const audit = await db.query<Row<AuditEntry>>(
    `SELECT a.id::text AS id, a.at, a.actor, a.action, a.subject, a.detail, a.tx::text AS tx FROM audit a
      WHERE ${isComplete} AND (a.tx, a.id) > ($1::xid8, $2::bigint) ORDER BY a.tx, a.id LIMIT $3`,
    [tx, from('audit', lowestNumber, highestNumber), limit],
  );
  const domains = await db.query<Row<DomainMove>>(
    `SELECT e.id::text AS id, e.at, d.name AS domain, e.from_status AS "from", e.to_status AS "to", e.reason, e.actor, e.tx::text AS tx
       FROM (SELECT * FROM domain_events WHERE ${isComplete} AND (tx, id) > ($1::xid8, $2::uuid) ORDER BY tx, id LIMIT $3) e
       LEFT JOIN domains d ON d.bucket = e.bucket AND d.domain_key = e.domain_key
      ORDER BY e.tx, e.id`,
    [tx, from('domain', lowestUuid, highestUuid), limit],
  );
  const jobs = await db.query<Row<JobMove>>(
    `SELECT e.id::text AS id, e.at, e.job_id AS "jobId", e.from_status AS "from", e.to_status AS "to", e.action, e.reason,
            e.actor, e.execution_id::text AS "executionId", e.tx::text AS tx
       FROM job_events e WHERE ${isComplete} AND (e.tx, e.id) > ($1::xid8, $2::bigint) ORDER BY e.tx, e.id LIMIT $3`,
    [tx, from('job', lowestNumber, highestNumber), limit],
  );
  return merge(audit.rows, domains.rows, jobs.rows).slice(0, limit);
}

const lowestNumber = '-1';
const highestNumber = '9223372036854775807';
const lowestUuid = '00000000-0000-0000-0000-000000000000';
const highestUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function merge(
  audit: readonly Row<AuditEntry>[],
  domains: readonly Row<DomainMove>[],
  jobs: readonly Row<JobMove>[],
): Event[] {
  const placeOf = <K extends Event['kind']>(kind: K, row: Row<{ id: string }>) => ({
    place: { tx: BigInt(row.tx), kind, id: row.id },
    kind,
  });
  const events: Event[] = [
    ...audit.map((row): Event => ({ ...placeOf('audit', row), entry: withoutTx(row) })),
    ...domains.map((row): Event => ({ ...placeOf('domain', row), event: withoutTx(row) })),
    ...jobs.map((row): Event => ({ ...placeOf('job', row), event: withoutTx(row) })),
  ];
  // Stable: within a transaction the kinds stay in their order, and each in its own.
  return events.sort((a, b) => (a.place.tx < b.place.tx ? -1 : a.place.tx > b.place.tx ? 1 : 0));
}

function withoutTx<T>({ tx: _tx, ...row }: Row<T>): Omit<Row<T>, 'tx'> {
  return row;
}

/** Where a reader begins who wants what is still to come. */
export async function loadEventsEnd(db: Queryable): Promise<EventPlace> {
  const result = await db.query<{ tx: string }>('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS tx');
  return { tx: BigInt(result.rows[0]!.tx), kind: 'audit', id: null };
}

/** Whether a place can be of this database: a restored one may have begun to number anew. */
export async function isEventPlace(db: Queryable, place: EventPlace): Promise<boolean> {
  const result = await db.query<{ known: boolean }>(
    'SELECT $1::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) AS known',
    [place.tx.toString()],
  );
  return result.rows[0]!.known;
}

/** The transaction of the newest event that can be read; 0: there is none. A look at the end of each index. */
export async function loadNewestEvent(db: Queryable): Promise<bigint> {
  const result = await db.query<{ tx: string | null }>(
    `SELECT greatest((SELECT tx FROM audit WHERE ${isComplete} ORDER BY tx DESC, id DESC LIMIT 1),
                     (SELECT tx FROM domain_events WHERE ${isComplete} ORDER BY tx DESC, id DESC LIMIT 1),
                     (SELECT tx FROM job_events WHERE ${isComplete} ORDER BY tx DESC, id DESC LIMIT 1))::text AS tx`,
  );
  return BigInt(result.rows[0]!.tx ?? 0);
}

/** A place as text. */
export const eventPlaceText = ({ tx, kind, id }: EventPlace): string =>
  `${tx}-${kind}${id === null ? '' : `-${id}`}`;

const numbered = '(audit)(?:-(\\d{1,18}))?|(job)-(\\d{1,18})';
const placeText = new RegExp(
  `^(\\d{1,18})-(?:${numbered}|(domain)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$`,
);

/** Reads a place back; null when it is none. */
export function parseEventPlace(text: string): EventPlace | null {
  const match = placeText.exec(text);
  if (match === null) return null;
  const [, tx, audit, entry, job, move, , uuid] = match;
  if (audit !== undefined) return { tx: BigInt(tx!), kind: 'audit', id: entry ?? null };
  return job === undefined
    ? { tx: BigInt(tx!), kind: 'domain', id: uuid! }
    : { tx: BigInt(tx!), kind: 'job', id: move! };
}

/** What operators did, newest first, from before an entry. Index: the key. */
export async function listAudit(
  db: Queryable,
  options: { limit: number; beforeId?: bigint },
): Promise<AuditEntry[]> {
  const result = await db.query<AuditEntry>(
    `SELECT a.id::text AS id, a.at, a.actor, a.action, a.subject, a.detail FROM audit a
      WHERE $2::bigint IS NULL OR a.id < $2 ORDER BY a.id DESC LIMIT $1`,
    [options.limit, options.beforeId?.toString() ?? null],
  );
  return result.rows;
}
