import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { openDatabase } from '../../src/db/index.ts';
import { ensurePartitions } from '../../src/frontier/index.ts';
import { MeteredClient } from './meter.ts';

/** A server of the benchmark's own, as the product starts it: durable, with the product's settings and schema. */
export type BenchServer = {
  connectionString: string;
  /** For loading and reading counters; never measured. */
  admin: pg.Client;
  /** A connection of its own whose work is measured. */
  connect(): Promise<MeteredClient>;
  close(): Promise<void>;
};

/** Starts it in a temporary directory; `close` removes both. */
export async function startBenchServer(): Promise<BenchServer> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-bench-')));
  const database = await openDatabase({ dataDir, durable: true, applicationName: 'bench' });
  await ensurePartitions(database.pool, 'crawl_log');
  const clients: pg.Client[] = [];
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: database.connectionString,
      types: database.pool.options.types,
    });
    await client.connect();
    clients.push(client);
    return client;
  };
  const close = async (): Promise<void> => {
    await Promise.allSettled(clients.map((client) => client.end()));
    await database.close();
    await destroyServer(dataDir);
  };
  const admin = await open();
  // A snapshot is held for a minute, and loading idles between statements: the product's limits do not fit here.
  await admin.query(`SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0; SET work_mem = '256MB';
    SET maintenance_work_mem = '1GB'`);
  return {
    connectionString: database.connectionString,
    admin,
    connect: async () => {
      const client = await open();
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      return new MeteredClient(client, rows[0]!.pid);
    },
    close,
  };
}
