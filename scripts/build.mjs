// Compiles everything the product, the demo, the benchmarks and the process tests run: TypeScript to dist/, and the
// dashboard to dist/dashboard/ when something of it has changed.
// Safe when several start at once (tests, two terminals): the first holds dist.lock, the others wait for it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const lock = join(root, 'node_modules', '.outrider-build.lock');
const staleMs = 120_000;

function acquire() {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (age > staleMs) rmdirSync(lock);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

const filesIn = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** What the dashboard is made from: its own files and the versions of what it uses. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const path of filesIn(join(root, 'dashboard')))
    hash.update(path.slice(root.length)).update(readFileSync(path));
  return hash.digest('hex');
}

async function buildDashboard() {
  const out = join(root, 'dist', 'dashboard');
  const stamp = join(root, 'dist', '.dashboard');
  const wanted = fingerprint();
  if (statSync(stamp, { throwIfNoEntry: false }) !== undefined && readFileSync(stamp, 'utf8') === wanted)
    return;
  // Only now: half a second that a build without changes need not wait.
  const { build } = await import('vite');
  await build({ configFile: join(root, 'dashboard', 'vite.config.ts'), logLevel: 'warn' });
  for (const path of filesIn(out)) writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)));
  writeFileSync(stamp, wanted);
}

acquire();
try {
  const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.json')], { stdio: 'inherit' });
  process.exitCode = result.status ?? 1;
  if (process.exitCode === 0) await buildDashboard();
} finally {
  rmdirSync(lock);
}
