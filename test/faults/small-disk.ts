import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A file system of its own that a test can fill. */
export type SmallDisk = {
  dir: string;
  /** Takes all the room there is. */
  fill(): void;
  /** Gives it back. */
  free(): void;
  unmount(): void;
};

function mount(dir: string, megabytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', dir], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false; // not ours to do: most users may not mount
  }
}

/** Mounts a small file system in a folder; undefined where that is not allowed (it takes root). */
export function mountSmallDisk(parent: string, megabytes: number): SmallDisk | undefined {
  const dir = join(parent, 'disk');
  mkdirSync(dir);
  if (!mount(dir, megabytes)) return undefined;
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill: () => {
      const file = openSync(ballast, 'a');
      try {
        for (let size = 2 ** 20; size >= 1; )
          try {
            writeSync(file, Buffer.alloc(size));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            size = Math.floor(size / 4);
          }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    unmount: () => execFileSync('umount', ['-l', dir], { stdio: 'ignore' }),
  };
}
