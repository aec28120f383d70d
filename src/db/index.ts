/** The database: embedded or external, its pool, its schema. */
export { forbidden, isConnectionLost, isDiskFull, isForbidden, isPassing } from './connection-errors.ts';
export { type Counted, countedUpTo, mostCounted } from './counted.ts';
export { type DatabaseFacts, loadDatabaseFacts, type TableFacts } from './database-facts.ts';
export { defaultDataDir, hasCluster, makeDirs } from './embedded/index.ts';
export { exportDatabase, type TransferResult } from './export.ts';
export { grantFetcher, refuseFetcherRole } from './fetcher-role.ts';
export { checkExport, type ExportSummary, type ImportOptions, importDatabase } from './import.ts';
export {
  type MigrateOptions,
  type MigrateResult,
  type MigrationStatus,
  migrate,
  migrationStatus,
  refuseUnknownSchema,
} from './migrate.ts';
export { type OpenOptions, openDatabase } from './open.ts';
export { isPooled } from './pooler.ts';
export type { Database, DatabaseLog, Queryable } from './queryable.ts';
export { dumpSchema } from './schema-dump.ts';
export { checkStepBack, countWorking, databaseInUse } from './step-back.ts';
