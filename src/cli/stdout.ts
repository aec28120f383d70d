import { AppError, EXIT, messageOf } from '../errors/index.ts';

type Act = (error: NodeJS.ErrnoException) => void;

let act: Act = endAtOnce;

/** Hears of a standard output that takes no more. Stays for good; only what is done about it is exchanged. */
export function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => act(error));
}

/** Leaves it to a command that has something to put away before it ends. */
export function atStdoutError(next: Act): void {
  act = next;
}

/** Whether only the reader went away: `outrider … | head` closes the pipe early, and that is no error. */
export const isReaderGone = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'EPIPE';

function endAtOnce(error: NodeJS.ErrnoException): void {
  if (isReaderGone(error)) process.exit(EXIT.ok);
  const { message, advice, exitCode } = unwritable('standard output', error);
  process.stderr.write(`error: ${message}\n${advice ?? ''}\n`);
  process.exit(exitCode);
}

const isWrongName = (code: string | undefined): boolean =>
  ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG'].includes(code ?? '');

/** What is said of an output that cannot be written. */
export function unwritable(name: string, error: unknown): AppError {
  const { code } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError('out_unwritable', `${name} cannot be written: ${messageOf(error)}`, {
    exitCode: isFull ? EXIT.diskFull : isWrongName(code) ? EXIT.usage : EXIT.failed,
    advice: isFull
      ? 'Free some room, or name a file on another disk.'
      : 'Name a file in a directory that exists and may be written.',
    cause: error,
  });
}
