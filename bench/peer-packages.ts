import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The sources may be run or the build of them: bench/peers is found from either.
const here = dirname(fileURLToPath(import.meta.url));
const peersDir = [join(here, 'peers'), join(here, '../../bench/peers')].find((dir) =>
  existsSync(join(dir, 'package.json')),
);

/** The path of a file below bench/peers. */
export const peerPath = (name: string): string => join(peersDir ?? here, name);

/** The Node that alternatives run on. */
export const peerNode = (): string => peerPath('node_modules/node/bin/node');

/** Whether alternatives can be run; installs them when asked to. */
export async function preparePeers(packages: readonly string[], install: boolean): Promise<boolean> {
  if (peersDir === undefined) return false;
  const areThere = (): boolean =>
    existsSync(peerNode()) && packages.every((name) => existsSync(peerPath(`node_modules/${name}`)));
  if (areThere()) return true;
  if (!install) return false;
  console.error('bench: installing the alternatives (bench/peers)');
  // The pinned Node comes by an install script, which package.json there allows.
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], {
    cwd: peersDir,
  });
  return areThere();
}
