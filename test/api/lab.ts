import { startApi } from '../../src/api/index.ts';
import type { Role } from '../../src/auth/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { indexDocuments } from '../../src/documents/index.ts';
import { type Clock, createLog, createMetrics, type Log, systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';

/** Who a request is from: a role, or nobody. */
export type Asker = Role | 'nobody';

/** The API on a database of its own, over real sockets. */
export type ApiLab = {
  database: TestDatabase;
  address: string;
  /** One API token per role. */
  tokens: Readonly<Record<Role, string>>;
  /** The header that signs a request of a role; none for nobody. */
  headersOf(asker: Asker): Record<string, string>;
  /** A JSON request, as admin unless said; answers the status and the body. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    asker?: Asker,
  ): // biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
  Promise<{ status: number; body: any }>;
  /** Brings what waits into the index and the change feed, as the schedule role does. */
  index(): Promise<void>;
  close(): Promise<void>;
};

/** How the lab differs from a plain start. */
export type ApiLabOptions = {
  /** Settings by file key. */
  settings?: Readonly<Record<string, unknown>>;
  clock?: Clock;
  log?: Log;
};

/** Starts it on a free port. */
export async function startApiLab(options: ApiLabOptions = {}): Promise<ApiLab> {
  const database = await createTestDatabase();
  const overrides = { 'api.port': 0, 'api.requests_per_minute': 1_000_000, ...options.settings };
  const { config } = loadConfig({ env: {}, overrides });
  const api = await startApi({
    database: database.db,
    config,
    clock: options.clock ?? systemClock,
    log: options.log ?? createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
  });
  const tokens = {
    read: await makeToken(database.pool, 'read'),
    write: await makeToken(database.pool, 'write'),
    admin: await makeToken(database.pool, 'admin'),
  };
  // Tests that look at the audit look for what they did themselves.
  await database.pool.query('DELETE FROM audit');
  const headersOf = (asker: Asker): Record<string, string> =>
    asker === 'nobody' ? {} : { authorization: `Bearer ${tokens[asker]}` };
  return {
    database,
    address: api.address,
    tokens,
    headersOf,
    ask: async (method, path, body, asker = 'admin') => {
      const response = await fetch(`${api.address}${path}`, {
        method,
        headers: {
          ...headersOf(asker),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    index: async () => {
      while ((await database.db.withTransaction((tx) => indexDocuments(tx, 200))) > 0);
    },
    close: async () => {
      await api.close();
      await database.drop();
    },
  };
}
