import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

/** The structured logger every part is given; fields first, then a sentence. */
export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(fields: object): Log;
};

export type LogOptions = {
  level: string;
  format: 'auto' | 'text' | 'json';
  /** Fields on every line: role, worker. */
  base?: Record<string, unknown>;
  stream?: NodeJS.WritableStream & { isTTY?: boolean };
};

// Values that must never reach a log line, wherever they stand in the fields.
const secretPaths = [
  'password',
  'secret',
  'token',
  'authorization',
  'cookie',
  'databaseUrl',
  'connectionString',
];

// What looks like a token, a JWT or a password in an address, for messages of errors that quote them. Each begins where a
// word does and is bounded, so that a long line is read once.
const secretShapes: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w-])otr_[\w-]{20,200}/g, 'otr_********'],
  [/(?<![\w-])eyJ[\w-]{10,2000}\.[\w-]{2,8000}\.[\w-]{0,2000}/g, '********'],
  [/:\/\/[^\s:@/"]{0,200}:[^\s@/"]{1,200}@/g, '://********@'],
];

function maskSecrets(line: string): string {
  return secretShapes.reduce((text, [shape, mask]) => text.replace(shape, mask), line);
}

/** Makes the process's logger: JSON lines, or text for people. Logs go to stderr so that stdout stays data. */
export function createLog(options: LogOptions): Log {
  const stream = options.stream ?? process.stderr;
  const text = options.format === 'text' || (options.format === 'auto' && stream.isTTY === true);
  // https://no-color.org: any value but an empty one asks for none.
  const colour = stream.isTTY === true && !process.env.NO_COLOR;
  const destination: DestinationStream = text
    ? { write: (line) => writeLine(stream, formatLine(maskSecrets(line), colour)) }
    : { write: (line) => writeLine(stream, maskSecrets(line)) };
  return pino(
    {
      level: options.level,
      base: options.base ?? {},
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths.flatMap((path) => [path, `*.${path}`]), censor: '********' },
      serializers: { error: describeError, err: describeError },
    },
    destination,
  ) as unknown as Log;
}

// A stream that could not be written once is closed for good. Ours may be a file whose disk was full for a minute: the next
// line is tried past the stream, and lost where that fails too, because work goes on without its log.
function writeLine(stream: NodeJS.WritableStream, line: string): void {
  if (stream.writable || stream !== process.stderr) return void stream.write(line);
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // Nowhere is left to say so.
  }
}

// A database error carries the whole function it happened in; its code, message and stack are what anybody reads.
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, code, detail, cause } = pino.stdSerializers.err(error) as Record<
    string,
    unknown
  >;
  const told = { type, message, code, detail, stack, cause };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
}

const colours: Record<string, number> = { trace: 90, debug: 90, info: 36, warn: 33, error: 31, fatal: 31 };

// Control characters from the web must not reach a terminal: they could move the cursor or hide text.
const printable = (value: string): string => value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�');

function formatLine(line: string, colour: boolean): string {
  const {
    level,
    time,
    msg,
    role,
    worker: _worker,
    error,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level);
  const failure = error as { message?: string } | undefined;
  if (failure?.message !== undefined) fields.error = failure.message;
  const paint = (code: number, value: string) => (colour ? `\u001b[${code}m${value}\u001b[0m` : value);
  const details = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  const words = [
    paint(90, String(time).slice(11, 23)),
    paint(colours[name] ?? 0, name.padEnd(5)),
    paint(90, printable(String(role ?? ''))),
    printable(String(msg ?? '')),
    paint(90, printable(details.join(' '))),
  ];
  return `${words.join(' ')}\n`;
}
