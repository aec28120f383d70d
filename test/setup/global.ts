import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destroyServer } from '../../src/db/embedded/index.ts';

// One data directory for the whole run. The server in it is started by the first test that asks for a database (pure
// tests never pay for it) and stays up between files because this process counts as a user of it.

/** Where the run's embedded server lives; test/setup/database.ts reads it. */
export const dataDirVariable = 'OUTRIDER_TEST_DATA_DIR';

// Waits for the end of its input, which comes when the test run ends in whatever way, kill -9 included; then ends the
// servers in the run's directory and removes it. After a run that ended in order it finds nothing to do.
const cleaner = `
read -r _
servers=$(find "$1" -name postmaster.pid -exec head -n 1 {} \\; 2>/dev/null)
sockets=$(find "$1" -name server.json -exec sed -n 's/.*"socketDir":"\\([^" ]*\\)".*/\\1/p' {} \\; 2>/dev/null)
for pid in $servers; do
  case "$(ps -o args= -p "$pid" 2>/dev/null)" in *cluster_name=outrider-*) kill -QUIT "$pid" ;; *) continue ;; esac
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
rm -rf "$1"
for socket in $sockets; do case "$socket" in */outrider-*) rm -rf "$socket" ;; esac; done
`;

const gigabyte = 2 ** 30;

/**
 * Where the run's directory is made. In memory where there is room: making a database from the template is a thousand
 * small files, 0.6 s of a core on ext4 and 0.03 s there (2026-11-16), and some three hundred are made. What tests prove
 * by kill -9 holds on either; neither proves anything about a power cut.
 */
function findPlace(): string {
  const given = process.env.OUTRIDER_TEST_DIR;
  if (given) return given;
  return process.platform === 'linux' && hasRoomInMemory('/dev/shm') ? '/dev/shm' : tmpdir();
}

// A run may take two gigabytes, one of them the log. Containers often give 64 MB, and let nothing be run from there.
function hasRoomInMemory(dir: string): boolean {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, path]) => path === dir);
  if (mount === undefined || mount[2] !== 'tmpfs' || mount[3]!.split(',').includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize > 4 * gigabyte && process.availableMemory() > 8 * gigabyte;
}

/** Runs once before all tests. */
export default function setup(): () => Promise<void> {
  process.env.OUTRIDER_TEST = '1';
  const runDir = realpathSync(mkdtempSync(join(findPlace(), 'outrider-test-')));
  // Passable for the server's own user and for the normal users that process tests run as.
  chmodSync(runDir, 0o711);
  const temporary = join(runDir, 'tmp');
  mkdirSync(temporary, { mode: 0o711 });
  // What the tests make in the temporary directory goes with the run as well.
  process.env.TMPDIR = temporary;
  const dataDir = join(runDir, 'data');
  process.env[dataDirVariable] = dataDir;
  const watcher = spawn('/bin/sh', ['-c', cleaner, 'sh', runDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  watcher.unref();
  return async () => {
    await destroyServer(dataDir);
    rmSync(runDir, { recursive: true, force: true });
    watcher.stdin.end();
  };
}
