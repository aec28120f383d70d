import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors/index.ts';
import { type BlobFailure, type BlobStore, blobPath } from './store.ts';

// Writing an image takes milliseconds: what is still under its temporary name after an hour was left by a crash.
const staleMs = 3_600_000;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
const isAbsent = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
const failed = (error: unknown): BlobFailure => ({ outcome: 'failed', detail: messageOf(error) });

/**
 * A folder of files. Each is written under a temporary name, flushed and renamed: a crash leaves the whole file or none,
 * and two processes that put the same one end with the same one.
 */
export function openFolderStore(root: string): BlobStore {
  const pathOf = (sha256: Buffer): string => join(root, blobPath(sha256));
  let cleared: Promise<void> | null = null;

  return {
    kind: 'folder',

    async put(sha256, body) {
      try {
        cleared ??= clearTemporaries(join(root, 'tmp'));
        await cleared;
        const path = pathOf(sha256);
        if (await holds(path, body)) return { outcome: 'exists' };
        await writeWhole(root, path, body);
        return { outcome: 'stored' };
      } catch (error) {
        // The folder may have been taken away, or its disk come back: the next put looks again.
        cleared = null;
        return failed(error);
      }
    },

    async get(sha256) {
      try {
        const body = await readFile(pathOf(sha256));
        return createHash('sha256').update(body).digest().equals(sha256)
          ? { outcome: 'found', body }
          : { outcome: 'damaged' };
      } catch (error) {
        return isAbsent(error) ? { outcome: 'missing' } : failed(error);
      }
    },

    async has(sha256) {
      try {
        return { outcome: (await sizeOf(pathOf(sha256))) === null ? 'missing' : 'found' };
      } catch (error) {
        return failed(error);
      }
    },

    async delete(sha256) {
      try {
        await unlink(pathOf(sha256));
        return { outcome: 'deleted' };
      } catch (error) {
        return isAbsent(error) ? { outcome: 'deleted' } : failed(error);
      }
    },

    close: async () => undefined,
  };
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Whether a file has these very bytes: of a damaged one the size is often right, and here is what mends it. */
async function holds(path: string, body: Buffer): Promise<boolean> {
  return (await sizeOf(path)) === body.length && (await readFile(path)).equals(body);
}

async function writeWhole(root: string, path: string, body: Buffer): Promise<void> {
  const temporary = join(root, 'tmp', `${process.pid}-${randomBytes(8).toString('hex')}`);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(body);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Makes the new name last through a power cut; some systems cannot open folders, and need not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function clearTemporaries(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if (Date.now() - (await stat(path)).mtimeMs > staleMs) await unlink(path);
    } catch (error) {
      // Another process renamed or cleared it meanwhile.
      if (!isAbsent(error)) throw error;
    }
  }
}
