import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findBinaries } from './platform.ts';
import { prepareRuntime } from './runtime.ts';

const self = process.geteuid?.() ?? 0;
let dir: string;
let nativeDir: string;

// The package as it is after an install without scripts: no links, and here without executable bits either.
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-runtime-'));
  nativeDir = join(dir, 'package', 'native');
  const installed = findBinaries().nativeDir;
  cpSync(installed, nativeDir, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(nativeDir, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  expect(links.length).toBeGreaterThan(0);
  for (const { target } of links) rmSync(join(dirname(nativeDir), target), { force: true });
  for (const name of readdirSync(join(nativeDir, 'bin'))) chmodSync(join(nativeDir, 'bin', name), 0o644);
});
afterEach(() => {
  execFileSync('chmod', ['-R', 'u+w', dir]);
  rmSync(dir, { recursive: true });
});

function version(runtime: string): string {
  return execFileSync(join(runtime, 'bin', 'initdb'), ['--version'], { encoding: 'utf8', env: {} });
}

test('a package of our own is completed in place, also by two at once', () => {
  const options = { nativeDir, version: '18', uid: self, cacheDirs: [join(dir, 'cache')] };
  expect(prepareRuntime(options)).toBe(nativeDir);
  expect(prepareRuntime(options)).toBe(nativeDir);
  expect(version(nativeDir)).toMatch(/PostgreSQL\) 18/);
  expect(existsSync(join(dir, 'cache'))).toBe(false);
});

// Root writes anywhere, but the rule is the same for a package that belongs to somebody else or cannot be reached.
test('a package that must not be changed is copied once, without what is not needed', () => {
  if (self === 0) chmodSync(dirname(nativeDir), 0o700);
  else execFileSync('chmod', ['-R', 'a-w', nativeDir]);
  const uid = self === 0 ? 54_329 : self;
  chmodSync(dir, 0o711);
  const cache = join(dir, 'cache');
  mkdirSync(join(dir, 'taken'), { mode: 0o777 });
  chmodSync(join(dir, 'taken'), 0o777);
  const options = { nativeDir, version: '18', uid, cacheDirs: [join(dir, 'taken'), cache] };
  const runtime = prepareRuntime(options);
  expect(runtime.startsWith(cache)).toBe(true);
  expect(version(runtime)).toMatch(/PostgreSQL\) 18/);
  expect(readdirSync(join(runtime, 'lib')).filter((name) => name.endsWith('.a'))).toEqual([]);
  const made = lstatSync(runtime).ino;
  expect(prepareRuntime(options)).toBe(runtime);
  expect(lstatSync(runtime).ino).toBe(made);
  expect(readdirSync(cache)).toHaveLength(1);
  truncateSync(join(runtime, 'bin', 'initdb'));
  expect(version(prepareRuntime(options))).toMatch(/PostgreSQL\) 18/);
});
