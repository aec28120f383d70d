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

const unreadable = (file: string, error: unknown, advice: string): AppError =>
  new AppError('list_unreadable', `${file} cannot be read: ${messageOf(error)}`, {
    exitCode: EXIT.usage,
    advice,
  });
