import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import type { HoldReason, RekeyState } from '../frontier/index.ts';
import { canonicalDomain, domainIdentity, type HostRules } from '../url/index.ts';
import type { DomainStatus } from './lifecycle.ts';
import { type DomainRow, domainColumns } from './list.ts';
import type { DomainKey } from './operate.ts';

/** Everything known of one domain. Times are the database's. */
export type DomainDetails = DomainRow & {
  now: Date;
  parentDomain: string | null;
  entryUrl: string | null;
  firstBlockedAt: Date | null;
  blockCount: number;
  unreachableCount: number;
  depthReached: number;
  /** Best level it has to offer; null: nothing. */
  top: number | null;
  hold: HoldReason | null;
  pool: string;
  wakeAt: Date | null;
  lastGoodAt: Date | null;
  lease: { owner: string; until: Date; inFlight: number } | null;
  delay: {
    totalMs: number;
    robotsMs: number | null;
    configuredMs: number | null;
    sourceMs: number | null;
    penaltyMs: number;
  };
  budget: {
    /** Its own; null: as configured. */
    max: number | null;
    /** As configured; null: no fetcher has said so yet. 0: no limit. */
    configured: number | null;
    /** null: no run has begun. */
    left: number | null;
    until: Date | null;
    isOpen: boolean;
  };
  circuit: {
    isOpen: boolean;
    refusals: string[];
    opens: { at: Date; reason: string }[];
    networkFailures: number;
    networkSince: Date | null;
  };
  /** Of the score as it would be now. */
  scoreTerms: { rank: number; yield: number; remaining: number; errors: number; waiting: number };
  /** Levels by which the score moves its budgeted rows. */
  shift: number;
  /** What its addresses are known by beyond the general rules. */
  rules: HostRules;
  /** null: all that waits has its key by these rules. */
  rekey: RekeyState | null;
};

/** A domain by its name in any spelling, or by its key. */
export type DomainName = string | DomainKey;

/** The key of a domain; null when the text names none. */
export function keyOfDomain(name: DomainName): DomainKey | null {
  if (typeof name !== 'string') return name;
  const canonical = canonicalDomain(name);
  return canonical === null ? null : domainIdentity(canonical);
}

type Flat = Omit<DomainDetails, 'lease' | 'delay' | 'budget' | 'circuit' | 'scoreTerms' | 'rekey'> &
  DomainDetails['delay'] & {
    leaseUntil: Date | null;
    inFlight: number;
    budgetMax: number | null;
    budgetConfigured: number | null;
    budgetLeft: number | null;
    budgetUntil: Date | null;
    budgetOpen: boolean;
    circuitGood: number | null;
    refusals: string[] | null;
    circuitOpens: Date[] | null;
    circuitReasons: string[] | null;
    networkFailures: number;
    networkSince: Date | null;
    terms: DomainDetails['scoreTerms'];
    rekeyChangedAt: Date | null;
    rekeyDueAt: Date | null;
    rekeyMoved: number | null;
    rekeyMerged: number | null;
  };

/** One domain with all its numbers, by its key; null when it is not known. */
export async function loadDomain(
  db: Queryable,
  name: DomainName,
  defaultDelayMs: number,
): Promise<DomainDetails | null> {
  const key = keyOfDomain(name);
  if (key === null) return null;
  const result = await db.query<Flat>(detailsQuery, [key.bucket, key.domainKey.toString(), defaultDelayMs]);
  return result.rows[0] === undefined ? null : detailsOf(result.rows[0]);
}

// A domain without a slot is a half of one (an interrupted import): an empty slot stands in, so that it can be shown.
const detailsQuery = `
  SELECT ${domainColumns}, now() AS now, d.parent_domain AS "parentDomain", d.entry_url AS "entryUrl",
         d.first_blocked_at AS "firstBlockedAt", d.block_count AS "blockCount", d.unreachable_count AS "unreachableCount",
         d.depth_reached AS "depthReached", s.top, s.hold_reason AS hold, coalesce(s.own_pool, 'default') AS pool,
         nullif(s.wake_at, 'infinity') AS "wakeAt", s.last_good_at AS "lastGoodAt",
         s.lease_until AS "leaseUntil", coalesce(cardinality(s.in_flight), 0) AS "inFlight",
         coalesce(slot_delay_ms(s, $3), $3) AS "totalMs", s.robots_delay_ms AS "robotsMs",
         s.configured_delay_ms AS "configuredMs", s.source_delay_ms AS "sourceMs", coalesce(s.penalty_ms, 0) AS "penaltyMs",
         s.budget_max AS "budgetMax", s.budget_left AS "budgetLeft", s.budget_until AS "budgetUntil",
         coalesce(slot_budget_open(s, now()), true) AS "budgetOpen",
         (SELECT (t.value #>> '{}')::integer FROM settings t WHERE t.name = 'max_pages_per_run') AS "budgetConfigured",
         s.circuit_good AS "circuitGood", s.refusals, s.circuit_opens AS "circuitOpens", s.circuit_reasons AS "circuitReasons",
         coalesce(s.network_failures, 0) AS "networkFailures", s.network_since AS "networkSince",
         coalesce(s.shift, 0) AS shift, d.host_rules AS rules,
         r.changed_at AS "rekeyChangedAt", r.due_at AS "rekeyDueAt", r.moved::integer AS "rekeyMoved",
         r.merged::integer AS "rekeyMerged",
         (SELECT row_to_json(t) FROM domain_score_terms(d, coalesce(s.queued, 0), now()) t) AS terms
    FROM domains d LEFT JOIN domain_slots s ON s.bucket = d.bucket AND s.domain_key = d.domain_key
    LEFT JOIN domain_rekeys r ON r.bucket = d.bucket AND r.domain_key = d.domain_key
   WHERE d.bucket = $1 AND d.domain_key = $2`;

function detailsOf(row: Flat): DomainDetails {
  const { leaseUntil, inFlight, totalMs, robotsMs, configuredMs, sourceMs, penaltyMs, ...a } = row;
  const { budgetMax, budgetConfigured, budgetLeft, budgetUntil, budgetOpen, ...b } = a;
  const { circuitGood, refusals, circuitOpens, circuitReasons, networkFailures, networkSince, ...c } = b;
  const { terms, rekeyChangedAt, rekeyDueAt, rekeyMoved, rekeyMerged, ...rest } = c;
  const { leaseOwner } = rest;
  return {
    ...rest,
    lease:
      leaseOwner === null || leaseUntil === null ? null : { owner: leaseOwner, until: leaseUntil, inFlight },
    delay: { totalMs, robotsMs, configuredMs, sourceMs, penaltyMs },
    budget: {
      max: budgetMax,
      configured: budgetConfigured,
      left: budgetLeft,
      until: budgetUntil,
      isOpen: budgetOpen,
    },
    circuit: {
      isOpen: circuitGood !== null,
      refusals: refusals ?? [],
      opens: (circuitOpens ?? []).map((at, index) => ({ at, reason: circuitReasons?.[index] ?? 'unknown' })),
      networkFailures,
      networkSince,
    },
    scoreTerms: terms,
    rekey:
      rekeyChangedAt === null || rekeyDueAt === null
        ? null
        : { changedAt: rekeyChangedAt, dueAt: rekeyDueAt, moved: rekeyMoved ?? 0, merged: rekeyMerged ?? 0 },
  };
}

/** A move of a domain, with who moved it and why. */
export type DomainEvent = {
  at: Date;
  from: DomainStatus | null;
  to: DomainStatus;
  reason: string;
  actor: string;
};

/** The moves of a domain, newest first. */
export async function loadDomainEvents(db: Queryable, key: DomainKey, limit = 20): Promise<DomainEvent[]> {
  const result = await db.query<DomainEvent>(
    `SELECT at, from_status AS "from", to_status AS "to", reason, actor FROM domain_events
      WHERE bucket = $1 AND domain_key = $2 ORDER BY at DESC, id LIMIT $3`,
    [key.bucket, key.domainKey.toString(), limit],
  );
  return result.rows;
}

/** The moves of a domain, newest first, a page at a time. */
export async function listDomainEvents(
  db: Queryable,
  key: DomainKey,
  options: { limit: number; cursor?: string | null },
): Promise<{ rows: DomainEvent[]; cursor: string | null }> {
  const after = options.cursor == null ? null : parseEventCursor(options.cursor);
  const result = await db.query<DomainEvent & { id: string; micros: string }>(
    `SELECT at, from_status AS "from", to_status AS "to", reason, actor, id,
            (extract(epoch FROM at) * 1000000)::bigint::text AS micros
       FROM domain_events WHERE bucket = $1 AND domain_key = $2
        ${after === null ? '' : `AND (at, id) < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::uuid)`}
      ORDER BY at DESC, id DESC LIMIT $3`,
    [key.bucket, key.domainKey.toString(), options.limit + 1, ...(after ?? [])],
  );
  const page = result.rows.slice(0, options.limit);
  const last = result.rows.length > options.limit ? page.at(-1) : undefined;
  return {
    rows: page.map(({ id: _id, micros: _micros, ...event }) => event),
    cursor: last === undefined ? null : Buffer.from(`${last.micros} ${last.id}`).toString('base64url'),
  };
}

function parseEventCursor(text: string): [micros: string, id: string] {
  const match = /^(-?\d{1,17}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
    Buffer.from(text, 'base64url').toString('latin1'),
  );
  if (match === null)
    throw new AppError('cursor_invalid', 'this is not a cursor that a list of events has answered', {
      httpStatus: 400,
      advice: 'Begin again without a cursor.',
    });
  return [match[1]!, match[2]!];
}

/** A stretch of at most a day in which a domain used a budget. */
export type DomainRun = {
  startedAt: Date;
  untilAt: Date;
  mode: 'discovery' | 'refresh';
  budget: number;
  pages: number;
  documents: number;
};

/** The runs of a domain, newest first. */
export async function loadDomainRuns(db: Queryable, key: DomainKey, limit = 10): Promise<DomainRun[]> {
  const result = await db.query<DomainRun>(
    `SELECT started_at AS "startedAt", until_at AS "untilAt", mode, budget, pages, documents FROM domain_runs
      WHERE bucket = $1 AND domain_key = $2 ORDER BY started_at DESC LIMIT $3`,
    [key.bucket, key.domainKey.toString(), limit],
  );
  return result.rows;
}
