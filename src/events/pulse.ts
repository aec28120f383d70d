import type { Queryable } from '../db/index.ts';

/** What the engine did lately and what it has before it, from reads that cost the same however much is stored. */
export type Activity = {
  /** Sums of the last five minutes. */
  lately: Record<(typeof counted)[number], number>;
  /** Rows of the frontier and documents, as the database estimates them. */
  urls: number;
  documents: number;
  /** Domains that may be fetched now, counted to 1,000. */
  domainsDue: number;
};

const counted = [
  'inserted',
  'requests',
  'fetched',
  'unchanged',
  'failed',
  'dead',
  'polled',
  'documents',
  'versions',
] as const;

const mostDue = 1000;

/**
 * Numbers for screens that look every other second. Totals over all time would read every counter there is; of the last
 * minutes the key of `counters` finds a row per active source, and the deltas are few because they are folded all the
 * time. Indexes: counters_pkey, domain_slots_ready.
 */
export async function loadActivity(db: Queryable): Promise<Activity> {
  const sums = counted.map((name) => `'${name}', coalesce(sum(${name}), 0)::float8`).join(', ');
  const since = `date_trunc('minute', now()) - interval '5 minutes'`;
  const result = await db.query<Activity>(
    `SELECT (SELECT json_build_object(${sums}) FROM (
               SELECT ${counted.join(', ')} FROM counters WHERE minute >= ${since}
               UNION ALL SELECT ${counted.join(', ')} FROM counter_deltas WHERE minute >= ${since}) c) AS lately,
            (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'url_frontier'::regclass) AS urls,
            (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'documents'::regclass) AS documents,
            (SELECT count(*)::integer FROM (
               SELECT FROM domain_slots WHERE top IS NOT NULL AND next_at <= now() LIMIT ${mostDue}) d) AS "domainsDue"`,
  );
  return result.rows[0]!;
}

/** A process as screens watch it. */
export type WorkerHealth = {
  id: string;
  role: string;
  pool: string;
  host: string;
  pid: number;
  version: string;
  startedAt: Date;
  isAlive: boolean;
  /** Its loops, and whether each is well. */
  loops: { name: string; isHealthy: boolean }[];
};

const mostWorkers = 500;

/** The processes of the engine without what changes with every heartbeat. */
export async function loadWorkerHealth(db: Queryable): Promise<WorkerHealth[]> {
  const result = await db.query<WorkerHealth & { state: unknown }>(
    `SELECT id, role, pool, host, pid, version, started_at AS "startedAt",
            heartbeat_at > now() - interval '30 seconds' AS "isAlive", state -> 'loops' AS state
       FROM workers ORDER BY role, host, pid, id LIMIT ${mostWorkers}`,
  );
  return result.rows.map(({ state, ...worker }) => ({ ...worker, loops: loopsOf(state) }));
}

// Written by another process, maybe of another version: nothing in it is taken for granted.
function loopsOf(state: unknown): WorkerHealth['loops'] {
  if (!Array.isArray(state)) return [];
  return state.slice(0, 50).flatMap((loop: unknown) => {
    const { name, errorsInRow } = (loop ?? {}) as { name?: unknown; errorsInRow?: unknown };
    return typeof name === 'string' ? [{ name, isHealthy: errorsInRow === 0 }] : [];
  });
}
