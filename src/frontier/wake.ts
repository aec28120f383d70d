import type { Socket } from 'node:net';
import pg from 'pg';
import { isPooled, type Queryable } from '../db/index.ts';

const reconnectMs = 5000;
const longestMs = 1000;
const goodbyeMs = 1000;

/** How long an idle worker may sleep: until the next domain is due, at most a second. */
export async function loadIdleMs(db: Queryable, pool: string): Promise<number> {
  const result = await db.query<{ ms: number | null }>(
    'SELECT extract(epoch FROM frontier_next_due($1) - now())::float8 * 1000 AS ms',
    [pool],
  );
  return Math.max(0, Math.min(longestMs, Math.ceil(result.rows[0]?.ms ?? longestMs)));
}

const mostCounted = 1000;

/** How many domains of a group could be leased now, up to a thousand of each level. Index: domain_slots_ready. */
export async function countDueDomains(db: Queryable, pool: string): Promise<number> {
  const result = await db.query<{ due: number }>(
    `SELECT count(*)::integer AS due FROM generate_series(1, 12) AS l(level)
      CROSS JOIN LATERAL (
        SELECT FROM domain_slots s WHERE s.pool = $1 AND s.top = l.level AND s.next_at <= now() LIMIT ${mostCounted}) d`,
    [pool],
  );
  return result.rows[0]!.due;
}

/**
 * Hears that an idle domain got work, or that a job may be due. Only a hint that makes waiting shorter: a lost
 * connection or message costs at most the second that `loadIdleMs` allows. Through a pooler it does not listen at all:
 * LISTEN would stay on a server connection that is given to others, and the messages would go to whoever has it then.
 */
export class WakeListener {
  readonly #connectionString: string;
  readonly #onWork: () => void;
  readonly #channel: 'outrider_work' | 'outrider_jobs';
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(
    connectionString: string,
    onWork: () => void,
    channel: 'outrider_work' | 'outrider_jobs' = 'outrider_work',
  ) {
    this.#connectionString = connectionString;
    this.#onWork = onWork;
    this.#channel = channel;
  }

  /** Connects in the background; nobody waits for it. */
  start(): void {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'outrider wake',
      keepAlive: true,
    });
    this.#client = client;
    client.on('notification', () => this.#onWork());
    client.on('error', () => this.#retry(client));
    client.on('end', () => this.#retry(client));
    client
      .connect()
      .then(async () => {
        if (await isPooled(client)) await this.stop();
        else await client.query(`LISTEN ${this.#channel}`);
      })
      .catch(() => this.#retry(client));
  }

  /** Ends the connection. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    if (client !== null) await leave(client);
  }

  #retry(client: pg.Client): void {
    if (this.#stopped || this.#client !== client) return;
    this.#client = null;
    void leave(client);
    this.#timer = setTimeout(() => this.start(), reconnectMs);
    this.#timer.unref();
  }
}

/** Says goodbye, and goes without an answer: the other side may be gone without a word. */
async function leave(client: pg.Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, goodbyeMs);
  });
  await Promise.race([client.end().catch(() => undefined), late]);
  clearTimeout(timer);
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
