/** Coded errors: everything a person may meet has a stable code with an entry in docs/reference/errors.md. */
export type AppErrorOptions = {
  /** Whether the same call may succeed later. */
  retry?: boolean;
  /** Status the API answers with. */
  httpStatus?: number;
  /** Exit code of the command line; 1 unless said. */
  exitCode?: number;
  /** What the reader can do about it, one sentence. */
  advice?: string;
  cause?: unknown;
};

/** An error we foresaw: it says what failed, on what, and what to do. */
export class AppError extends Error {
  readonly code: string;
  readonly retry: boolean;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly advice: string | undefined;

  constructor(code: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retry = options.retry ?? false;
    this.httpStatus = options.httpStatus ?? 500;
    this.exitCode = options.exitCode ?? 1;
    this.advice = options.advice;
  }
}

/** Exit codes of every command, documented in docs/reference/exit-codes.md. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  database: 3,
  busyPort: 4,
  unsupportedPlatform: 5,
  diskFull: 6,
  memory: 7,
  server: 8,
  stalled: 9,
  crashed: 10,
} as const;

/** The message of anything thrown, since JavaScript may throw anything. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const isWrongName = (code: string | undefined): boolean =>
  ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG'].includes(code ?? '');

/** What is said of a file, a folder or an output that cannot be written; a full disk has an exit code of its own. */
export function unwritable(name: string, error: unknown): AppError {
  const { code } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError('out_unwritable', `${name} cannot be written: ${messageOf(error)}`, {
    exitCode: isFull ? EXIT.diskFull : isWrongName(code) ? EXIT.usage : EXIT.failed,
    advice: isFull
      ? 'Free some room, or name a file on another disk.'
      : 'Give a path in a directory that exists and may be written.',
    cause: error,
  });
}

/** Somebody else listens where the API is to. */
export const portInUse = ({ host, port }: { host: string; port: number }): AppError =>
  new AppError('port_in_use', `port ${port} on ${host} is in use by another program`, {
    exitCode: EXIT.busyPort,
    advice:
      'Stop the other program, or choose another port with --port or OUTRIDER_API_PORT (0 picks a free one).',
  });
