import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destroyServer } from '../../src/db/embedded/index.ts';

// One data directory for the whole run. The server in it is started by the first test that asks for a database (pure
// tests never pay for it) and stays up between files because this process counts as a user of it.

/** Where the run's embedded server lives; test/setup/database.ts reads it. */
export const dataDirVariable = 'OUTRIDER_TEST_DATA_DIR';

// Waits for the end of its input, which comes when the test run ends in whatever way, kill -9 included; then ends
// the server and removes what is left. In order it finds nothing to do.
const cleaner = `
read -r _
pid=$(head -n 1 "$1/pg/postmaster.pid" 2>/dev/null)
socket=$(sed -n 's/.*"socketDir":"\\([^"]*\\)".*/\\1/p' "$1/server.json" 2>/dev/null)
case "$(ps -o args= -p "$pid" 2>/dev/null)" in *cluster_name=outrider-*) kill -QUIT "$pid" ;; esac
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"
case "$socket" in */outrider-*) rm -rf "$socket" ;; esac
`;

/** Runs once before all tests. */
export default function setup(): () => Promise<void> {
  process.env.OUTRIDER_TEST = '1';
  if (process.env.TEST_DATABASE_URL) return async () => undefined;
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-test-')));
  process.env[dataDirVariable] = dataDir;
  const watcher = spawn('/bin/sh', ['-c', cleaner, 'sh', dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  watcher.unref();
  return async () => {
    await destroyServer(dataDir);
    watcher.stdin.end();
  };
}
