// Completes package-lock.json with the optional binaries of other platforms.
// A registry mirror may carry only some platforms; npm then leaves the rest out of the lockfile and `npm ci` refuses
// it everywhere. Run after every change of dependencies: node scripts/complete-lockfile.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
const systems = [
  'linux',
  'darwin',
  'win32',
  'android',
  'freebsd',
  'openharmony',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
];
const processors = [
  'arm64',
  'x64',
  'arm',
  'ia32',
  'ppc64',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
];

let added = 0;
for (const [parentPath, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (parentPath === '' || lock.packages[`node_modules/${name}`]) continue;
    const words = name.split(/[/-]/);
    const os = systems.filter((system) => words.includes(system));
    const cpu = processors.filter((processor) => words.includes(processor));
    // Not a platform binary: npm knows what to do with it.
    if (os.length === 0 && cpu.length === 0) continue;
    const entry = { version, cpu, ...(parent.dev ? { dev: true } : {}), optional: true };
    if (os.length > 0) entry.os = os;
    if (words.includes('musl')) entry.libc = ['musl'];
    lock.packages[`node_modules/${name}`] = entry;
    added += 1;
  }
}
const byName = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(byName);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added`);
