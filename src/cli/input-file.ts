import { createReadStream, statSync } from 'node:fs';
import { AppError, EXIT, messageOf } from '../errors/index.ts';

/** A file that is read in pieces. */
export type Input = {
  /** 0 when nobody knows. */
  bytes: number;
  /** Bytes read so far. */
  read(): number;
  chunks(): AsyncIterable<Buffer>;
};

/** Opens a file, or standard input for `-`. */
export function openInput(file: string, advice: string): Input {
  let bytes = 0;
  if (file !== '-') {
    try {
      bytes = statSync(file).size;
    } catch (error) {
      throw unreadable(file, error, advice);
    }
  }
  let read = 0;
  return {
    bytes,
    read: () => read,
    async *chunks() {
      try {
        for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
          read += (chunk as Buffer).length;
          yield chunk as Buffer;
        }
      } catch (error) {
        throw (error as NodeJS.ErrnoException).syscall === undefined
          ? error
          : unreadable(file, error, advice);
      }
    },
  };
}

/** Refuses to write into the file that is read: it would be emptied first. */
export function refuseSameFile(input: string, output: string | undefined): void {
  if (output === undefined || input === '-') return;
  const [from, to] = [input, output].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  // A pipe or a device may well be both.
  if (from === undefined || to === undefined || !from.isFile()) return;
  if (from.ino !== to.ino || from.dev !== to.dev) return;
  throw new AppError('usage', `${output} is the list itself and would be overwritten`, {
    exitCode: EXIT.usage,
    advice: 'Name another file for what is written.',
  });
}

const unreadable = (file: string, error: unknown, advice: string): AppError =>
  new AppError('list_unreadable', `${file} cannot be read: ${messageOf(error)}`, {
    exitCode: EXIT.usage,
    advice,
  });
