import type pg from 'pg';

/** Anything that runs one statement: the pool, a client, a transaction. */
export type Queryable = {
  query<R extends pg.QueryResultRow = Record<string, unknown>>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>;
};

/** The few log calls this folder makes; pino's logger fits. */
export type DatabaseLog = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

/** A log that says nothing, for tests and for callers that report errors themselves. */
export const silentLog: DatabaseLog = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** An open database: the pool and the life of the server behind it. */
export type Database = {
  pool: pg.Pool;
  /** For child processes and tools; for an embedded server it names the socket directory and holds no secret. */
  connectionString: string;
  /** Leads to the server itself where a pooler stands before it and somebody named a way past; else the same. */
  directConnectionString: string;
  embedded: boolean;
  withTransaction<T>(fn: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Starts the embedded server again if it died; nothing to do for an external one. */
  ensureRunning(): Promise<void>;
  close(): Promise<void>;
};
