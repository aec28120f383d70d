import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, EXIT } from '../../errors/index.ts';
import { startFailure } from './failures.ts';
import type { Places } from './places.ts';
import { canReach, giveTo, type ServerUser } from './server-user.ts';

/** The one role of the embedded server; the socket's directory decides who may be it. */
export const roleName = 'outrider';

/** Environment of the server's programs: nothing of ours (secrets, PG* variables) reaches them. */
export const serverEnv = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const settings = `# Written at every start. Your own settings go to custom.conf in this directory and win over these.
max_connections = 100
shared_buffers = 128MB
effective_cache_size = 1GB
work_mem = 8MB
maintenance_work_mem = 64MB
# One machine, one disk: plans that fork workers compete with the fetchers for two cores.
max_parallel_workers_per_gather = 0
jit = off
random_page_cost = 1.5
# A fetcher's answer to "settled" must survive a power cut.
synchronous_commit = on
wal_level = minimal
max_wal_senders = 0
# pglz is all this build has, and it cost a third of the CPU of lease and settle (139 against 96 us per URL).
wal_compression = off
min_wal_size = 80MB
max_wal_size = 1GB
checkpoint_timeout = 10min
checkpoint_completion_target = 0.9
# Queue tables live on updates: clean early and in small portions.
autovacuum_naptime = 20s
autovacuum_vacuum_scale_factor = 0.05
autovacuum_analyze_scale_factor = 0.05
autovacuum_vacuum_insert_scale_factor = 0.1
# The same limits the pool asks for, for connections that are not ours (psql).
lock_timeout = 3s
idle_in_transaction_session_timeout = 10s
# Errors reach the caller; the text of statements (with article text in it) does not belong in a log.
log_min_messages = warning
log_min_error_statement = panic
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_timezone = 'UTC'
timezone = 'UTC'
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.simple'
lc_messages = 'C'
`;

// full_page_writes and fsync guard against power cuts only; a killed test server still recovers. Commits stay
// synchronous: without fsync that is one write, and asynchronous ones are lost by a kill. The files of a test run share
// one server, some of them with eight fetchers.
const withoutDurability = 'fsync = off\nfull_page_writes = off\nmax_connections = 300\n';

/** Writes the server's settings and access rules; runs before every start so that a new version's settings hold. */
export function writeSettings(places: Places, user: ServerUser): void {
  const durability = existsSync(places.notDurable) ? withoutDurability : '';
  const files: [string, string][] = [
    ['postgresql.conf', `${settings}${durability}include_if_exists = 'custom.conf'\n`],
    // Only the socket, and only who may enter its directory: a password in a file would protect nothing more.
    ['pg_hba.conf', 'local all all trust\n'],
  ];
  for (const [name, text] of files) {
    const path = join(places.cluster, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    const temporary = `${path}.new`;
    writeFileSync(temporary, text, { mode: 0o600 });
    if (user.switches) chownSync(temporary, user.uid, user.uid);
    renameSync(temporary, path);
  }
}

/**
 * The path by which the server's user reaches a directory. Below a directory closed to that user (data under /root)
 * no absolute path works; but we enter the directory as root before changing user, and on Linux /proc/self/cwd then
 * leads straight to it.
 */
export function pathFor(dir: string, user: ServerUser): string {
  if (canReach(dir, user.uid)) return dir;
  if (process.platform === 'linux') return '/proc/self/cwd';
  throw new AppError('db_start_failed', `The server's user cannot reach ${dir}.`, {
    exitCode: EXIT.database,
    advice: 'Name a directory outside of private ones with --data DIR, or run as a normal user.',
  });
}

/** Makes the cluster if there is none. Built aside and renamed, so a half-made one is never used. */
export async function ensureCluster(
  places: Places,
  runtime: string,
  options: { user: ServerUser; durable: boolean },
): Promise<boolean> {
  if (existsSync(join(places.cluster, 'PG_VERSION'))) return false;
  const { user } = options;
  for (const name of readdirSync(places.dir))
    if (name.startsWith('pg.new-'))
      rmSync(join(places.dir, name), { recursive: true, force: true, maxRetries: 5 });
  if (!options.durable) writeFileSync(places.notDurable, 'made for tests\n');
  const building = join(places.dir, `pg.new-${randomBytes(4).toString('hex')}`);
  mkdirSync(building, { mode: 0o700 });
  if (user.switches) chownSync(building, user.initUid, user.initUid);
  await runInitdb(building, runtime, options);
  if (user.uid !== user.initUid) giveTo(building, user.uid);
  chmodSync(building, 0o700);
  renameSync(building, places.cluster);
  const parent = openSync(places.dir, 'r');
  fsyncSync(parent);
  closeSync(parent);
  return true;
}

async function runInitdb(
  building: string,
  runtime: string,
  options: { user: ServerUser; durable: boolean },
): Promise<void> {
  const { user } = options;
  const as = { ...user, uid: user.initUid };
  // One sync of the file system at the end: syncing a thousand files one by one took seconds on a busy disk.
  const sync = !options.durable
    ? ['--no-sync']
    : process.platform === 'linux'
      ? ['--sync-method=syncfs']
      : [];
  const child = spawn(
    join(runtime, 'bin', 'initdb'),
    // The builtin C.UTF-8: lower() and full-text know Unicode and no locale of the system is needed.
    [
      `--pgdata=${pathFor(building, as)}`,
      `--username=${roleName}`,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...sync,
    ],
    {
      cwd: building,
      env: serverEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(user.switches ? { uid: user.initUid, gid: user.initUid } : {}),
    },
  );
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve(status ?? signal ?? 'unknown'));
  });
  if (code === 0) return;
  rmSync(building, { recursive: true, force: true });
  throw startFailure('The database could not be created', output);
}
