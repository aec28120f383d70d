import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { isErrno } from './lock.ts';
import { homeOf } from './places.ts';
import { canReach } from './server-user.ts';

const programs = ['initdb', 'postgres'];

type Link = { source: string; target: string };

function loadLinks(nativeDir: string): Link[] {
  const path = join(nativeDir, 'pg-symlinks.json');
  if (!existsSync(path)) return [];
  return JSON.parse(readFileSync(path, 'utf8')) as Link[];
}

// npm packages cannot hold symbolic links, so the package makes its library links in an install script; where such
// scripts are blocked (pnpm, npm with ignore-scripts, most companies) the libraries are there and nothing finds them.
function isComplete(nativeDir: string): boolean {
  const inPackage = dirname(nativeDir);
  const linked = loadLinks(nativeDir).every((link) => existsSync(join(inPackage, link.target)));
  return linked && programs.every((name) => isExecutable(join(nativeDir, 'bin', name)));
}

function isExecutable(path: string): boolean {
  return (statSync(path).mode & 0o111) === 0o111;
}

function complete(nativeDir: string): void {
  const inPackage = dirname(nativeDir);
  for (const link of loadLinks(nativeDir)) {
    try {
      symlinkSync(basename(link.source), join(inPackage, link.target));
    } catch (error) {
      // Another process may be completing the same directory.
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
  for (const name of programs) {
    const path = join(nativeDir, 'bin', name);
    if (!isExecutable(path)) chmodSync(path, 0o755);
  }
}

function mayComplete(nativeDir: string): boolean {
  try {
    accessSync(join(nativeDir, 'lib'), constants.W_OK);
    return statSync(nativeDir).uid === process.geteuid?.();
  } catch {
    return false; // read-only: the copy below is the way
  }
}

/** Directories for a copy of the binaries, best first. */
function defaultCacheDirs(): string[] {
  const user = process.geteuid?.() ?? 0;
  const temporary = join(tmpdir(), `outrider-cache-${user}`);
  if (user === 0) return ['/var/lib/outrider', '/opt/outrider', temporary];
  const xdg = process.env.XDG_CACHE_HOME;
  if (xdg && isAbsolute(xdg)) return [join(xdg, 'outrider'), temporary];
  const home = homeOf();
  return home === null ? [temporary] : [join(home, '.cache', 'outrider'), temporary];
}

// Whoever can write here chooses what we execute: the directory must be ours and closed to other writers.
function isSafeDir(dir: string): boolean {
  const stat = lstatSync(dir);
  return stat.isDirectory() && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0;
}

// A power cut may leave the names of a copy without its bytes; sizes tell.
function isWholeCopy(nativeDir: string, copy: string): boolean {
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? -1;
  return ['bin', 'lib'].every((part) =>
    readdirSync(join(nativeDir, part), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.a'))
      .every(({ name }) => size(join(nativeDir, part, name)) === size(join(copy, part, name))),
  );
}

// cpSync gives a directory the mode of its original before it is filled: a read-only package could not be copied.
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.endsWith('.a') || entry.name === 'pkgconfig') continue;
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      chmodSync(target, statSync(source).mode | 0o600);
    }
  }
}

function copyTo(cacheDir: string, nativeDir: string, version: string): string {
  mkdirSync(cacheDir, { recursive: true, mode: 0o755 });
  if (!isSafeDir(cacheDir)) throw new Error(`${cacheDir} belongs to, or may be written by, someone else`);
  const target = join(cacheDir, `runtime-${version}-${process.platform}-${process.arch}`);
  if (existsSync(target)) {
    if (isWholeCopy(nativeDir, join(target, 'native'))) return join(target, 'native');
    rmSync(target, { recursive: true, force: true });
  }
  // Built aside and renamed: a killed copy is never used, and of two copiers one wins.
  const building = `${target}.${randomBytes(4).toString('hex')}`;
  try {
    copyTree(nativeDir, join(building, 'native'));
    complete(join(building, 'native'));
    renameSync(building, target);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  return join(target, 'native');
}

/**
 * Where the server's programs can be run from by the given user: the installed package if possible, completed in
 * place if it is ours, else a copy (about 50 MB, once per version).
 */
export function prepareRuntime(options: {
  nativeDir: string;
  version: string;
  uid: number;
  cacheDirs?: string[];
}): string {
  const { nativeDir, version, uid } = options;
  if (canReach(nativeDir, uid)) {
    if (isComplete(nativeDir)) return nativeDir;
    if (mayComplete(nativeDir)) {
      complete(nativeDir);
      return nativeDir;
    }
  }
  const failures: unknown[] = [];
  for (const cacheDir of options.cacheDirs ?? defaultCacheDirs()) {
    if (!canReach(cacheDir, uid)) continue;
    try {
      return copyTo(cacheDir, nativeDir, version);
    } catch (error) {
      if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw error;
      failures.push(error);
    }
  }
  throw new AggregateError(failures, 'no directory can hold a copy of the PostgreSQL programs');
}
