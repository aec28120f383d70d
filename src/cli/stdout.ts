import { EXIT, unwritable } from '../errors/index.ts';

type Act = (error: NodeJS.ErrnoException) => void;

let act: Act = endAtOnce;

/** Hears of a standard output that takes no more. Stays for good; only what is done about it is exchanged. */
export function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => act(error));
}

/**
 * Keeps a process alive whose standard error takes no more: whoever read its log went away, or the disk of its log is full.
 * There is nowhere left to say so, and the work does not need its log.
 */
export function watchStderr(): void {
  process.stderr.on('error', () => undefined);
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
