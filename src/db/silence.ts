import type { Socket } from 'node:net';
import pg from 'pg';
import { isConnectionLost } from './connection-errors.ts';
import type { DatabaseLog } from './queryable.ts';

// A connection whose other end is gone without a word (a cable, a firewall that forgot it, a host that was switched off)
// looks like one whose statement takes long. The kernel gives up after a quarter of an hour: as long as something is
// unacknowledged there are no keepalives. A limit for every statement would end migrations, exports and ANALYZE. So the
// server is asked, by a connection of its own, whether it is at work on the statement.

/** Silence after which the server is asked. Well within a lease, so that a settle can be repeated in time. */
const defaultSilentMs = 20_000;
const longestAnswerMs = 10_000;
/** Behind a pooler nobody knows which server process is meant; no statement of the engine takes as long. */
const pooledSilentMs = 300_000;

// What pg keeps to itself and every version since 8.0 has had.
type Inner = { connection: { stream: Socket }; processID: number | null; readyForQuery: boolean };
type Seen = { bytesRead: number; at: number };

/** How connections are watched. */
export type SilenceOptions = {
  /** As the pool connects. */
  settings: pg.ClientConfig;
  silentMs?: number | undefined;
  log: DatabaseLog;
};

const inner = (client: pg.ClientBase): Inner => client as unknown as Inner;

/** Ends connections that wait for an answer which will not come; their statements fail as on a lost connection. */
export function watchSilence(pool: pg.Pool, options: SilenceOptions): void {
  const silentMs = options.silentMs ?? defaultSilentMs;
  const seen = new Map<pg.ClientBase, Seen>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  const findSilent = (): pg.ClientBase[] => {
    const now = performance.now();
    const silent: pg.ClientBase[] = [];
    for (const [client, last] of seen) {
      const { connection, readyForQuery } = inner(client);
      const { bytesRead } = connection.stream;
      if (readyForQuery || bytesRead !== last.bytesRead) seen.set(client, { bytesRead, at: now });
      else if (now - last.at >= silentMs) silent.push(client);
    }
    return silent;
  };
  const look = async (): Promise<void> => {
    const silent = findSilent();
    if (silent.length === 0 || isAsking) return;
    isAsking = true;
    const before = new Map(silent.map((client) => [client, seen.get(client)]));
    const isAtWork = await askServer(silent, options);
    isAsking = false;
    findSilent(); // what has come meanwhile
    for (const client of silent) {
      const last = seen.get(client);
      if (last === undefined || last !== before.get(client)) continue;
      if (!isAtWork(client, performance.now() - last.at)) cut(client, options.log);
    }
  };
  pool.on('connect', (client) => {
    seen.set(client, { bytesRead: inner(client).connection.stream.bytesRead, at: performance.now() });
    timer ??= setInterval(() => void look(), silentMs / 4).unref();
  });
  pool.on('remove', (client) => {
    seen.delete(client);
    if (seen.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  });
}

function cut(client: pg.ClientBase, log: DatabaseLog): void {
  log.warn({}, 'a database connection has fallen silent; it is given up');
  inner(client).connection.stream.destroy(new Error('Connection terminated: the server fell silent'));
}

type Verdict = (client: pg.ClientBase, silentForMs: number) => boolean;

/** Never fails: a server that cannot be reached is at work on nothing. */
async function askServer(
  clients: readonly pg.ClientBase[],
  { settings, silentMs = defaultSilentMs }: SilenceOptions,
): Promise<Verdict> {
  const answerWithinMs = Math.min(longestAnswerMs, 4 * silentMs);
  const asker = new pg.Client({
    ...settings,
    application_name: 'outrider silence',
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
  });
  // Reported by the statement that meets it; without a listener it would end the process.
  asker.on('error', () => undefined);
  try {
    await asker.connect();
    const { rows } = await asker.query<{ own: number; busy: number[] }>(
      `SELECT pg_backend_pid() AS own,
              ARRAY(SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND state = 'active') AS busy`,
      [clients.map((client) => inner(client).processID)],
    );
    const { own, busy } = rows[0]!;
    // A pooler gives numbers of its own.
    if (own !== inner(asker).processID) return (_client, silentForMs) => silentForMs < pooledSilentMs;
    return (client) => busy.includes(inner(client).processID ?? 0);
  } catch (error) {
    // A server that refuses (too many connections, say) is there, and may well be at work.
    const isAway = isConnectionLost(error) || (error as Error).message === 'Query read timeout';
    return () => !isAway;
  } finally {
    // Waits for the other side's goodbye otherwise, which may never come.
    inner(asker).connection.stream.destroy();
  }
}
