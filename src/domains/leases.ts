import type { Queryable } from '../db/index.ts';

/** What one worker holds. */
export type WorkerLeases = { owner: string; leases: number; earliestExpiry: Date; expired: number };

/**
 * Leases by worker, and those past their end that nobody has taken over yet. Reads every slot: no index names the owner,
 * because each would have to be written with every lease and settle.
 */
export async function loadLeases(db: Queryable): Promise<{ workers: WorkerLeases[]; expired: number }> {
  const result = await db.query<WorkerLeases>(
    `SELECT lease_owner AS owner, count(*)::integer AS leases, min(lease_until) AS "earliestExpiry",
            count(*) FILTER (WHERE lease_until < now())::integer AS expired
       FROM domain_slots WHERE lease_owner IS NOT NULL GROUP BY lease_owner ORDER BY lease_owner`,
  );
  return { workers: result.rows, expired: result.rows.reduce((sum, one) => sum + one.expired, 0) };
}

/** A process of the engine and what it holds. `isKnown` is false for an owner that never registered or was forgotten. */
export type WorkerState = {
  id: string;
  isKnown: boolean;
  role: string | null;
  pool: string | null;
  host: string | null;
  pid: number | null;
  version: string | null;
  startedAt: Date | null;
  heartbeatAt: Date | null;
  isAlive: boolean;
  /** It believes its own network to be down. */
  isAway: boolean;
  /** It has a browser. */
  renders: boolean;
  /** Its loops as it wrote them down, maybe in another version: whoever reads them checks. */
  loops: unknown;
  /** What it uses and may use, likewise. */
  memory: unknown;
  /** What its supervisor told it of those before it, likewise. */
  restarts: unknown;
  leases: number;
  earliestExpiry: Date | null;
  expired: number;
};

type RegisteredWorker = Omit<WorkerState, 'isKnown' | 'leases' | 'earliestExpiry' | 'expired'>;

/** Every process that registered, and every owner of a lease that did not. */
export async function loadWorkers(db: Queryable): Promise<WorkerState[]> {
  const registered = await db.query<RegisteredWorker>(
    `SELECT id, role, pool, host, pid, version, started_at AS "startedAt", heartbeat_at AS "heartbeatAt",
            heartbeat_at > now() - interval '30 seconds' AS "isAlive", coalesce(state -> 'outage' = 'true', false) AS "isAway",
            renders, state -> 'loops' AS loops, state -> 'memory' AS memory, state -> 'restarts' AS restarts
       FROM workers ORDER BY role, host, pid`,
  );
  const { workers } = await loadLeases(db);
  const held = new Map(workers.map((one) => [one.owner, one]));
  const none = { leases: 0, earliestExpiry: null, expired: 0 };
  const states = registered.rows.map((worker): WorkerState => {
    const { leases, earliestExpiry, expired } = held.get(worker.id) ?? none;
    held.delete(worker.id);
    return { ...worker, isKnown: true, leases, earliestExpiry, expired };
  });
  for (const { owner, ...left } of held.values())
    states.push({
      id: owner,
      isKnown: false,
      role: null,
      pool: null,
      host: null,
      pid: null,
      version: null,
      startedAt: null,
      heartbeatAt: null,
      isAlive: false,
      isAway: false,
      renders: false,
      loops: null,
      memory: null,
      restarts: null,
      ...left,
    });
  return states;
}
