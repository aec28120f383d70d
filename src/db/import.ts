import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import pg from 'pg';
import { AppError, EXIT } from '../errors/index.ts';
import { copyIn } from './copy-streams.ts';
import { isErrno } from './embedded/lock.ts';
import type { TransferResult } from './export.ts';
import {
  damaged,
  type ExportEnd,
  type ExportHeader,
  ExportReader,
  formatVersion,
  RowSum,
  type TableEnd,
  type TableStart,
} from './export-format.ts';
import { loadSchemaVersion, migrate } from './migrate.ts';
import { loadMigrations } from './migration-files.ts';
import type { Queryable } from './queryable.ts';
import { dropForeignKeys, loadTables, neutralSettings, savePartitions } from './transfer-catalog.ts';

/** How to import. */
export type ImportOptions = {
  /** Replace what the database holds. */
  force?: boolean | undefined;
  migrationsDir?: string | undefined;
  onTable?: ((table: string, rows: number) => void) | undefined;
};

type TableSink = (start: TableStart, rows: AsyncGenerator<Buffer>) => Promise<void>;

/** Reads an export into a database, all or nothing, and brings it to the newest schema. */
export async function importDatabase(
  pool: pg.Pool,
  path: string,
  options: ImportOptions = {},
): Promise<TransferResult> {
  // The whole file is checked first: a damaged one must be found before --force empties anything.
  const { schemaVersion } = await checkExport(path, options.migrationsDir);
  if (!options.force) await refuseRows(pool as Queryable);
  await migrate(pool, { to: schemaVersion, migrationsDir: options.migrationsDir });
  const result = await load(pool, path, options);
  await migrate(pool, { migrationsDir: options.migrationsDir });
  // Until autovacuum comes by, plans for the new rows would be guesses.
  await pool.query('ANALYZE');
  return result;
}

/** What an export holds, after every row of it was read and summed. */
export type ExportSummary = {
  schemaVersion: number;
  createdAt: string;
  rows: number;
  tables: Record<string, number>;
};

/** Reads a whole export as an import would, and changes nothing; a damaged one is an error. */
export async function checkExport(path: string, migrationsDir?: string): Promise<ExportSummary> {
  const tables: Record<string, number> = {};
  const header = await readExport(
    path,
    async (_start, rows) => {
      for await (const _chunk of rows); // summed by the reader
    },
    {
      onTable: ({ table }, end) => {
        tables[table] = end.rows;
      },
    },
  );
  checkHeader(header, migrationsDir);
  const { schemaVersion, createdAt } = header;
  return { schemaVersion, createdAt, rows: Object.values(tables).reduce((sum, one) => sum + one, 0), tables };
}

function checkHeader(header: ExportHeader, migrationsDir: string | undefined): void {
  const known = loadMigrations(migrationsDir);
  if (header.schemaVersion > known.length)
    throw new AppError(
      'db_newer_schema',
      `The export has schema version ${header.schemaVersion}; this program knows ${known.length}.`,
      { exitCode: EXIT.database, advice: 'Import it with the newer Outrider that made it.' },
    );
  for (const { version, checksum } of header.migrations)
    if (known[version - 1]?.checksum !== checksum)
      throw new AppError('db_changed_migration', `The export was made with another migration ${version}.`, {
        exitCode: EXIT.database,
        advice: 'Import it with the version of Outrider that made it.',
      });
}

// Rows that a migration wrote (the built-in sink) do not count: they carry the transaction of the migration that wrote
// them, until somebody changes them.
async function refuseRows(db: Queryable): Promise<void> {
  if ((await loadSchemaVersion(db)) === 0) return;
  const filled: string[] = [];
  for (const { name } of await loadTables(db)) {
    const { rows } = await db.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${pg.escapeIdentifier(name)}
         WHERE xmin::text <> ALL (ARRAY(SELECT xmin::text FROM schema_migrations))) AS found`,
    );
    if (rows[0]?.found) filled.push(name);
  }
  if (filled.length === 0) return;
  throw new AppError('db_not_empty', `The database already holds rows (${filled.slice(0, 5).join(', ')}).`, {
    httpStatus: 409,
    advice: 'Import into a new database, or replace everything in this one with --force.',
  });
}

async function load(pool: pg.Pool, path: string, options: ImportOptions): Promise<TransferResult> {
  const client = await pool.connect();
  const db = client as Queryable;
  const result: TransferResult = { schemaVersion: 0, tables: 0, rows: 0 };
  let failure: Error | undefined;
  try {
    await client.query(`BEGIN; ${neutralSettings}`);
    const foreignKeys = await dropForeignKeys(db);
    await truncate(db);
    const header = await readExport(path, (start, rows) => loadTable(client, start, rows), {
      onHeader: (found) => savePartitions(db, found.partitions),
      onTable: (start, end) => {
        result.tables += 1;
        result.rows += end.rows;
        options.onTable?.(start.table, end.rows);
      },
      onEnd: (end) => restoreSequences(db, end),
    });
    for (const sql of foreignKeys) await db.query(sql);
    await client.query('COMMIT');
    return { ...result, schemaVersion: header.schemaVersion };
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // Closing the connection undoes everything, also in the middle of a COPY.
    client.release(failure);
  }
}

async function truncate(db: Queryable): Promise<void> {
  const names = (await loadTables(db)).map((table) => pg.escapeIdentifier(table.name));
  if (names.length > 0) await db.query(`TRUNCATE ${names.join(', ')}`);
}

async function loadTable(
  client: pg.PoolClient,
  start: TableStart,
  rows: AsyncGenerator<Buffer>,
): Promise<void> {
  const columns = start.columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  const sql = `COPY ${pg.escapeIdentifier(start.table)}${columns === '' ? '' : ` (${columns})`} FROM STDIN`;
  await pipeline(Readable.from(rows, { objectMode: false }), copyIn(client, sql));
}

async function restoreSequences(db: Queryable, end: ExportEnd): Promise<void> {
  for (const { name, lastValue, isCalled } of end.sequences)
    await db.query('SELECT setval(quote_ident($1)::regclass, $2::bigint, $3)', [name, lastValue, isCalled]);
}

/** Walks through an export, giving each table's rows to the sink and checking counts and sums. */
async function readExport(
  path: string,
  sink: TableSink,
  on: {
    onHeader?: (header: ExportHeader) => Promise<void>;
    onTable?: (start: TableStart, end: TableEnd) => void;
    onEnd?: (end: ExportEnd) => Promise<void>;
  } = {},
): Promise<ExportHeader> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(unreadable(path, error)));
  file.pipe(gunzip);
  try {
    const reader = new ExportReader(gunzip as AsyncIterable<Buffer>);
    const header = parseHeader(await reader.readJson());
    await on.onHeader?.(header);
    const total = { tables: 0, rows: 0 };
    for (;;) {
      const next = await reader.readJson();
      if (!('table' in next)) {
        await finish(next as unknown as ExportEnd, total, on.onEnd);
        return header;
      }
      const start = next as unknown as TableStart;
      const sum = new RowSum();
      await sink(start, summed(reader, sum));
      const stated = (await reader.readJson()) as unknown as TableEnd;
      const found = sum.end();
      if (stated.rows !== found.rows || stated.sha256 !== found.sha256)
        throw damaged(`the rows of ${start.table} are not those that were written`);
      total.tables += 1;
      total.rows += found.rows;
      on.onTable?.(start, found);
    }
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

function unreadable(path: string, cause: NodeJS.ErrnoException): AppError {
  return new AppError('db_import_unreadable', `${path} cannot be read: ${cause.message}`, {
    exitCode: isErrno(cause, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES') ? EXIT.usage : EXIT.failed,
    advice: 'Name a file that "outrider db export" or "outrider backup" wrote.',
    cause,
  });
}

async function* summed(reader: ExportReader, sum: RowSum): AsyncGenerator<Buffer> {
  for await (const chunk of reader.readRows()) {
    sum.add(chunk);
    yield chunk;
  }
}

function parseHeader(value: Record<string, unknown>): ExportHeader {
  if (value.format !== 'outrider-export') throw damaged('it is not an export of Outrider');
  if (typeof value.formatVersion !== 'number' || value.formatVersion > formatVersion)
    throw damaged('it was written by a newer Outrider');
  return value as unknown as ExportHeader;
}

async function finish(
  end: ExportEnd,
  total: { tables: number; rows: number },
  onEnd: ((end: ExportEnd) => Promise<void>) | undefined,
): Promise<void> {
  if (end.tables !== total.tables || end.rows !== total.rows) throw damaged('tables are missing');
  await onEnd?.(end);
}
