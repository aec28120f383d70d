import { type ApiOptions, startApi } from '../../src/api/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { indexDocuments } from '../../src/documents/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

/** The API on a database of its own, over real sockets. */
export type ApiLab = {
  database: TestDatabase;
  address: string;
  /** A JSON request; answers the status and the body. */
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): // biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
  Promise<{ status: number; body: any }>;
  /** Brings what waits into the index and the change feed, as the schedule role does. */
  index(): Promise<void>;
  close(): Promise<void>;
};

/** What a test needs that others do not. */
export type LabOptions = {
  /** Settings by their file keys. */
  overrides?: Readonly<Record<string, unknown>>;
  /** Who asks, instead of an admin. */
  operator?: ApiOptions['operator'];
};

/** Starts it on a free port. */
export async function startApiLab({ overrides = {}, operator }: LabOptions = {}): Promise<ApiLab> {
  const database = await createTestDatabase();
  const { config } = loadConfig({ env: {}, overrides: { 'api.port': 0, ...overrides } });
  const api = await startApi({
    database: database.db,
    config,
    clock: systemClock,
    log: createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
    ...(operator === undefined ? {} : { operator }),
  });
  return {
    database,
    address: api.address,
    ask: async (method, path, body) => {
      const response = await fetch(`${api.address}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
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
