import pg from 'pg';
import type { Database } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';

/** What a role finds out about its surroundings when one of its loops has stalled. */
export type StallDiagnosis = {
  /** How the server answered on a connection of its own: those of the pool may be what hangs. */
  database: string;
  isDatabaseAway: boolean;
  connections: { open: number; idle: number; waitedFor: number };
  network: string;
};

const timeoutMs = 5000;

/** Looks whether the database and the network are there. Bounded in time; never throws. */
export async function diagnoseStall(
  { connectionString, pool }: Database,
  { isAway }: { isAway: boolean },
): Promise<StallDiagnosis> {
  const { totalCount: open, idleCount: idle, waitingCount: waitedFor } = pool;
  return {
    ...(await askDatabase(connectionString)),
    connections: { open, idle, waitedFor },
    network: isAway ? 'many different hosts cannot be reached' : 'no outage is seen',
  };
}

async function askDatabase(
  connectionString: string,
): Promise<Pick<StallDiagnosis, 'database' | 'isDatabaseAway'>> {
  const startedAt = performance.now();
  const client = new pg.Client({
    connectionString,
    application_name: 'outrider self-diagnostics',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // What fails is told by the call that meets it; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return {
      database: `answers a new connection within ${Math.round(performance.now() - startedAt)} ms`,
      isDatabaseAway: false,
    };
  } catch (error) {
    return { database: `does not answer: ${messageOf(error)}`, isDatabaseAway: true };
  } finally {
    // Not waited for: a server that does not answer does not say goodbye either.
    client.end().catch(() => undefined);
  }
}
