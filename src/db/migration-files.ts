import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One numbered step of the schema. */
export type Migration = { version: number; name: string; up: string; down: string; checksum: string };

/** All functions of the schema as one script, with the names it makes so that an older set can be dropped. */
export type FunctionSet = { sql: string; functions: string[]; types: string[]; checksum: string };

const fileName = /^(\d{4})_([a-z0-9_]+)\.(up|down)\.sql$/;

/** The directory with the product's migrations: beside package.json, above src/ as above dist/. */
export function defaultMigrationsDir(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== dirname(dir); dir = dirname(dir))
    if (existsSync(join(dir, 'package.json'))) return join(dir, 'migrations');
  throw new Error('the package has no package.json above its code');
}

/** Reads all migrations in order; a gap, a double number or a missing direction is a mistake in the package. */
export function loadMigrations(dir: string = defaultMigrationsDir()): Migration[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.sql') && name !== 'schema.sql');
  const byVersion = new Map<number, Partial<Migration> & { version: number; name: string }>();
  for (const file of files) {
    const match = fileName.exec(file);
    if (!match)
      throw new Error(`${join(dir, file)}: migrations are named 0001_name.up.sql and 0001_name.down.sql`);
    const [, number, name, direction] = match as unknown as [string, string, string, 'up' | 'down'];
    const version = Number(number);
    const migration = byVersion.get(version) ?? { version, name };
    if (migration.name !== name) throw new Error(`${dir}: two migrations have the number ${number}`);
    byVersion.set(version, { ...migration, [direction]: readFileSync(join(dir, file), 'utf8') });
  }
  const ordered = [...byVersion.values()].sort((a, b) => a.version - b.version);
  return ordered.map((migration, index) => {
    const { version, name, up, down } = migration;
    if (version !== index + 1) throw new Error(`${dir}: migration ${index + 1} is missing`);
    if (up === undefined || down === undefined)
      throw new Error(`${dir}: migration ${version} needs both an up and a down file`);
    return { version, name, up, down, checksum: checksumOf(up) };
  });
}

/**
 * Reads `functions/`: unlike tables, functions have no history worth keeping, so each lives in one file that is edited
 * and the whole set is replaced when any of them changed. null: the directory has none.
 */
export function loadFunctions(dir: string = defaultMigrationsDir()): FunctionSet | null {
  const folder = join(dir, 'functions');
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const sql = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const names = (what: string): string[] =>
    [...sql.matchAll(new RegExp(`^CREATE ${what} ([a-z_]+)`, 'gm'))].map((match) => match[1]!);
  return { sql, functions: names('FUNCTION'), types: names('TYPE'), checksum: checksumOf(sql) };
}

// Line ends differ after a checkout on another system; that is no change of the migration.
function checksumOf(sql: string): string {
  return createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex').slice(0, 32);
}
