import type { Command } from 'commander';
import { databaseOptions } from '../../config/index.ts';
import {
  type Database,
  defaultDataDir,
  type ExportSummary,
  hasCluster,
  openDatabase,
} from '../../db/index.ts';
import { AppError } from '../../errors/index.ts';
import { type Context, loadContext } from '../context.ts';
import { count, wholeNumber } from '../numbers.ts';
import { printJson, relativeTime } from '../output.ts';

type BackupFlags = { keep?: string; images: boolean };
type RestoreFlags = { force?: boolean; check?: boolean; images: boolean };

/** `backup`, `restore`. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup <folder>')
    .description('write everything into a new file of a folder, while the engine goes on working')
    .option('--keep <n>', 'then remove all but the newest n backups of the folder')
    .option('--no-images', 'leave stored images out')
    .action(async (dir: string, flags: BackupFlags, command: Command) => {
      const keep =
        flags.keep === undefined ? null : wholeNumber('--keep', flags.keep, { least: 1, most: 10_000 });
      await runBackup(loadContext(command), dir, { keep, images: flags.images });
    });
  program
    .command('restore <path>')
    .description('bring a backup back, a file or the newest of a folder, all or nothing')
    .option('--force', 'replace what the database holds')
    .option('--check', 'only read it, and say what it holds; touches no database')
    .option('--no-images', 'leave stored images out')
    .action(async (path: string, flags: RestoreFlags, command: Command) =>
      runRestore(loadContext(command), path, flags),
    );
}

async function runBackup(
  context: Context,
  dir: string,
  flags: { keep: number | null; images: boolean },
): Promise<void> {
  const { config } = context.loaded;
  // Looking for something to save must not make an empty database.
  if (config.database.url === null && !hasCluster(config.data.dir ?? defaultDataDir()))
    throw new AppError('db_nothing_to_export', 'There is no database in the data directory.', {
      advice: 'Check --data DIR, OUTRIDER_DATA_DIR and DATABASE_URL.',
    });
  const { saveBackup } = await import('../../backup/index.ts');
  const saved = await withUnchanged(context, async (database) =>
    saveBackup(database, {
      dir,
      images: flags.images ? await folderOfImages(context) : null,
      keep: flags.keep,
      onTable: progress(context),
    }),
  );
  if (context.flags.json) return printJson(saved);
  const { summary, images } = saved;
  write(`Saved ${wordsOf(summary)} to ${saved.file} (${megabytes(saved.bytes)}), read again and whole.`);
  if (images !== null && images.copied + images.there + images.missing > 0)
    write(
      `Images: ${images.copied} copied, ${images.there} there already${images.missing > 0 ? `, ${images.missing} not in the store` : ''}.`,
    );
  if (flags.images && config.blobs.kind === 's3')
    write('Images lie in S3 and are not copied: keep versions of that bucket.');
  if (saved.removed.length > 0) write(`Removed ${count(saved.removed.length, 'older backup')}.`);
}

async function runRestore(context: Context, path: string, flags: RestoreFlags): Promise<void> {
  const { findBackup, restoreBackup } = await import('../../backup/index.ts');
  const file = await findBackup(path);
  if (flags.check) {
    const { checkExport } = await import('../../db/index.ts');
    const summary = await checkExport(file);
    if (context.flags.json) return printJson({ file, ...summary });
    return write(`${file} is whole: ${wordsOf(summary)}, saved ${relativeTime(summary.createdAt)}.`);
  }
  const images = flags.images ? await folderOfImages(context) : null;
  const result = await withUnchanged(context, (database) =>
    restoreBackup(database, { file, force: flags.force ?? false, images, onTable: progress(context) }),
  );
  if (context.flags.json) return printJson({ file, ...result });
  write(
    `Restored ${count(result.rows, 'row')} of ${count(result.tables, 'table')} from ${file}; every sum was right.`,
  );
  if (result.images !== null && result.images.copied + result.images.missing > 0)
    write(
      `Images: ${result.images.copied} brought back${result.images.missing > 0 ? `, ${result.images.missing} were not saved` : ''}.`,
    );
  write('Start the engine to go on: what was gathered since the backup is found again, at the usual pace.');
}

/** Works with a database as it is: a backup taken before an upgrade must not be an upgrade. */
async function withUnchanged<T>(context: Context, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({
    ...databaseOptions(context.loaded.config),
    maxConnections: 2,
    migrate: false,
    applicationName: context.name,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

// A store of S3 has copies and versions of its own, and may be larger than any disk here.
async function folderOfImages({ loaded }: Context) {
  if (loaded.config.blobs.kind !== 'folder') return null;
  const { openBlobStore } = await import('../../blobs/index.ts');
  return openBlobStore(loaded.config);
}

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function wordsOf({ tables, rows }: ExportSummary): string {
  const named = ['sources', 'documents', 'url_frontier'].map((name) => tables[name] ?? 0);
  return `${count(named[0]!, 'source')}, ${count(named[1]!, 'document')}, ${count(named[2]!, 'URL')} and ${count(rows - named.reduce((a, b) => a + b, 0), 'other row')}`;
}

const progress =
  (context: Context) =>
  (table: string, rows: number): void => {
    if (process.stderr.isTTY && !context.flags.json && rows > 0)
      process.stderr.write(`${table}: ${rows} rows\n`);
  };
