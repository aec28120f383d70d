import { AppError, EXIT } from '../errors/index.ts';
import { loadSchemaVersion } from './migrate.ts';
import type { Queryable } from './queryable.ts';

/** Processes of the engine that work with this database; one that was killed counts for half a minute. */
export async function countWorking(db: Queryable): Promise<number> {
  const { rows: known } = await db.query<{ found: boolean }>(
    `SELECT to_regclass('workers') IS NOT NULL AS found`,
  );
  if (!known[0]?.found) return 0;
  const { rows } = await db.query<{ working: number }>(
    `SELECT count(*)::integer AS working FROM workers WHERE heartbeat_at > now() - interval '30 seconds'`,
  );
  return rows[0]?.working ?? 0;
}

/** What is said where a database would be changed under processes that work with it. */
export const databaseInUse = (working: number): AppError =>
  new AppError(
    'db_in_use',
    working === 1
      ? '1 process of the engine works with this database.'
      : `${working} processes of the engine work with this database.`,
    {
      httpStatus: 409,
      advice: 'Stop them first; one that was killed counts for half a minute.',
    },
  );

// What nobody gets back from the web: everything else that a way back drops is made or found again. The versions are
// those that brought the tables.
const dear = [
  { table: 'documents', version: 3, one: 'document', many: 'documents' },
  { table: 'url_frontier', version: 2, one: 'URL', many: 'URLs' },
  { table: 'sources', version: 1, one: 'source', many: 'sources' },
] as const;

/**
 * Refuses a way back that somebody would be sorry for: under processes that work, or so far that the documents, URLs or
 * sources of the database would go with their tables. The latter can be forced.
 */
export async function checkStepBack(db: Queryable, options: { to: number; force: boolean }): Promise<void> {
  const { to, force } = options;
  if (to >= (await loadSchemaVersion(db))) return;
  const working = await countWorking(db);
  if (working > 0) throw databaseInUse(working);
  if (force) return;
  const lost: string[] = [];
  for (const { table, version, one, many } of dear) {
    if (to >= version) continue;
    const { rows: known } = await db.query<{ found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      [table],
    );
    if (!known[0]?.found) continue;
    const { rows } = await db.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM ${table}`);
    const count = rows[0]?.count ?? 0;
    if (count > 0) lost.push(`${count} ${count === 1 ? one : many}`);
  }
  if (lost.length === 0) return;
  throw new AppError('db_not_empty', `Version ${to} would drop ${lost.join(', ')} for good.`, {
    exitCode: EXIT.failed,
    advice: 'Save them with "outrider backup FOLDER"; --force drops them all the same.',
  });
}
