import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { unwritable } from '../errors/index.ts';
import { atStdoutError, isReaderGone } from './stdout.ts';

/** Something a command writes piece by piece; a piece that cannot be written is thrown as what to do about it. */
export type Output = {
  /** False where nobody reads any more: the rest need not be made. */
  write(piece: string | Uint8Array): Promise<boolean>;
  /** Whether somebody still reads. */
  isRead(): boolean;
  /** All was written. */
  finish(): Promise<void>;
  /** It is given up; does nothing after `finish`. */
  abandon(): Promise<void>;
};

/** Standard output. That its reader goes away, or its disk is full, is told by the next write instead of ending the process. */
export function openStdout(): Output {
  let failure: NodeJS.ErrnoException | null = null;
  let wake = (): void => undefined;
  atStdoutError((error) => {
    failure ??= error;
    wake();
  });
  const isRead = (): boolean => {
    if (failure !== null && !isReaderGone(failure)) throw unwritable('standard output', failure);
    return failure === null;
  };
  return {
    write: async (piece) => {
      if (isRead() && !process.stdout.write(piece))
        await new Promise<void>((resolve) => {
          wake = resolve;
          process.stdout.once('drain', resolve);
        });
      return isRead();
    },
    isRead,
    finish: async () => undefined,
    abandon: async () => undefined,
  };
}

/** A file that is written as it comes: what is there when something fails is worth keeping. */
export async function openRecords(path: string): Promise<Output> {
  const handle = await openFor(path, path, 0o666);
  return fileOutput(path, handle, { onFinish: async () => undefined, onAbandon: async () => undefined });
}

/**
 * A file that is whole or not there: what stood under its name before stays until then. Readable by its owner alone,
 * because settings may hold passwords of proxies.
 */
export async function openWhole(path: string): Promise<Output> {
  const isOwnKind = await stat(path).then(
    (found) => found.isFile(),
    () => true,
  );
  // A pipe or a device cannot be replaced by a file.
  const temporary = isOwnKind ? `${path}.partial` : path;
  const handle = await openFor(path, temporary, 0o600);
  return fileOutput(path, handle, {
    onFinish: async () => (isOwnKind ? rename(temporary, path) : undefined),
    onAbandon: async () => (isOwnKind ? rm(temporary, { force: true }) : undefined),
  });
}

async function openFor(path: string, temporary: string, mode: number): Promise<FileHandle> {
  try {
    return await open(temporary, 'w', mode);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function fileOutput(
  path: string,
  handle: FileHandle,
  then: { onFinish: () => Promise<void>; onAbandon: () => Promise<void> },
): Output {
  let isOpen = true;
  const end = async (next: () => Promise<void>): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    try {
      await handle.close();
      await next();
    } catch (error) {
      throw unwritable(path, error);
    }
  };
  return {
    write: async (piece) => {
      try {
        await handle.writeFile(piece);
      } catch (error) {
        throw unwritable(path, error);
      }
      return true;
    },
    isRead: () => true,
    finish: () => end(then.onFinish),
    abandon: () => end(then.onAbandon),
  };
}
