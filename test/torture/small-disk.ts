import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** A disk that can be filled up without harm to anybody else. */
export type SmallDisk = {
  dir: string;
  fill(): void;
  free(): void;
  unmount(): void;
};

/** Mounts a small file system in memory; null where that is not allowed (it takes root). */
export function mountSmallDisk(dir: string, megabytes: number): SmallDisk | null {
  mkdirSync(dir, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', dir], {
      stdio: 'ignore',
    });
  } catch {
    // Nobody but root may, and not in every container.
    return null;
  }
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill: () => {
      const { bavail, bsize } = statfsSync(dir);
      try {
        execFileSync('fallocate', ['-l', String(Math.max(bsize, bavail * bsize)), ballast], {
          stdio: 'ignore',
        });
      } catch {
        // Somebody took the last bytes while we measured: it is full all the same.
      }
    },
    free: () => rmSync(ballast, { force: true }),
    unmount: () => {
      rmSync(ballast, { force: true });
      // Lazily: a server that still closes its files must not keep it.
      execFileSync('umount', ['-l', dir], { stdio: 'ignore' });
    },
  };
}
