// Compiles everything the product, the demo, the benchmarks and the process tests run: TypeScript to dist/.
// Safe when several start at once (tests, two terminals): the first holds dist.lock, the others wait for it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

acquire();
try {
  const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.json')], { stdio: 'inherit' });
  process.exitCode = result.status ?? 1;
} finally {
  rmdirSync(lock);
}
