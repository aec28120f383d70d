import type { Queryable } from '../db/index.ts';

/** Something that happened, in the order of the transactions that did it. */
export type Event = { place: EventPlace } & (
  | { kind: 'audit'; entry: AuditEntry }
  | { kind: 'domain'; event: DomainMove }
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

/**
 * A place among events: whoever has seen it has seen everything before it. Within a transaction the audit comes first,
 * then the moves; `id` is of the last one seen, null: none of this kind.
 */
export type EventPlace = { tx: bigint; kind: Event['kind']; id: string | null };

type Row<T> = T & { tx: string };

// Nothing younger than a transaction under way is read: it might still bring something older than what was read.
const isComplete = 'tx < pg_snapshot_xmin(pg_current_snapshot())';

/** The events after a place, in order. Indexes: audit_tx, domain_events_tx. */
export async function loadEvents(db: Queryable, after: EventPlace, limit: number): Promise<Event[]> {
  const tx = after.tx.toString();
  // Of its own kind a place names the last one seen; the audit of its transaction comes before any move of it.
  const audit = await db.query<Row<AuditEntry>>(
    `SELECT a.id::text AS id, a.at, a.actor, a.action, a.subject, a.detail, a.tx::text AS tx FROM audit a
      WHERE ${isComplete} AND (a.tx, a.id) > ($1::xid8, $2::bigint) ORDER BY a.tx, a.id LIMIT $3`,
    [tx, after.kind === 'audit' ? (after.id ?? lowestNumber) : highestNumber, limit],
  );
  const moves = await db.query<Row<DomainMove>>(
    `SELECT e.id::text AS id, e.at, d.name AS domain, e.from_status AS "from", e.to_status AS "to", e.reason, e.actor, e.tx::text AS tx
       FROM (SELECT * FROM domain_events WHERE ${isComplete} AND (tx, id) > ($1::xid8, $2::uuid) ORDER BY tx, id LIMIT $3) e
       LEFT JOIN domains d ON d.bucket = e.bucket AND d.domain_key = e.domain_key
      ORDER BY e.tx, e.id`,
    [tx, after.kind === 'domain' ? (after.id ?? lowestUuid) : lowestUuid, limit],
  );
  return merge(audit.rows, moves.rows).slice(0, limit);
}

const lowestNumber = '-1';
const highestNumber = '9223372036854775807';
const lowestUuid = '00000000-0000-0000-0000-000000000000';

function merge(audit: readonly Row<AuditEntry>[], moves: readonly Row<DomainMove>[]): Event[] {
  const events: Event[] = [
    ...audit.map(
      ({ tx, ...entry }): Event => ({
        place: { tx: BigInt(tx), kind: 'audit', id: entry.id },
        kind: 'audit',
        entry,
      }),
    ),
    ...moves.map(
      ({ tx, ...event }): Event => ({
        place: { tx: BigInt(tx), kind: 'domain', id: event.id },
        kind: 'domain',
        event,
      }),
    ),
  ];
  // Stable: within a transaction the audit stays before the moves, and each in its own order.
  return events.sort((a, b) => (a.place.tx < b.place.tx ? -1 : a.place.tx > b.place.tx ? 1 : 0));
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

/** The transaction of the newest event that can be read; 0: there is none. Two looks at the ends of indexes. */
export async function loadNewestEvent(db: Queryable): Promise<bigint> {
  const result = await db.query<{ tx: string | null }>(
    `SELECT greatest((SELECT tx FROM audit WHERE ${isComplete} ORDER BY tx DESC, id DESC LIMIT 1),
                     (SELECT tx FROM domain_events WHERE ${isComplete} ORDER BY tx DESC, id DESC LIMIT 1))::text AS tx`,
  );
  return BigInt(result.rows[0]!.tx ?? 0);
}

/** A place as text. */
export const eventPlaceText = ({ tx, kind, id }: EventPlace): string =>
  `${tx}-${kind}${id === null ? '' : `-${id}`}`;

/** Reads a place back; null when it is none. */
export function parseEventPlace(text: string): EventPlace | null {
  const match =
    /^(\d{1,18})-(?:(audit)(?:-(\d{1,18}))?|(domain)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$/.exec(
      text,
    );
  if (match === null) return null;
  const [, tx, audit, number, , uuid] = match;
  return audit === undefined
    ? { tx: BigInt(tx!), kind: 'domain', id: uuid! }
    : { tx: BigInt(tx!), kind: 'audit', id: number ?? null };
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
