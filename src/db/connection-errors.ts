import { AppError, EXIT } from '../errors/index.ts';

// Node's socket errors, and the server's classes: 08 connection exception, 57P01-57P05 shutdown, crash, starting up,
// idle session ended, 25P03 idle transaction ended (the server closes the connection with it).
const lostCodes = new Set([
  ...['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['57P01', '57P02', '57P03', '57P05', '25P03'],
]);

const lostMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed and is not queryable|timeout expired|server closed the connection|query_wait_timeout)/;

/** Whether an error means that the connection, not the statement, failed: the same call may work on a new one. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  // A unix socket that is not there; any other file that is missing has nothing to do with the database.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  return lostCodes.has(code) || code.startsWith('08') || lostMessages.test(error.message);
}

// 40001 serialization failure, 40P01 deadlock, 55P03 a lock not had in time; class 53: disk full, out of memory, too many
// connections. 25006 read-only: a server that hands over to another, or that its provider keeps from filling its disk.
const passingCodes = new Set(['40001', '40P01', '55P03', '25006']);

/** What pg says when all connections of the pool were in use for as long as a caller may wait. */
const exhaustedMessage = 'timeout exceeded when trying to connect';

/** Whether an error is trouble that passes, wherever it lies: the same call, if it may be repeated, may work later. */
export function isPassing(error: unknown): boolean {
  if (isConnectionLost(error)) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return passingCodes.has(code) || /^53...$/.test(code) || error.message === exhaustedMessage;
}

/** Whether the server had no room left for what was written. */
export function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === '53100';
}

/** Whether the role of the database that we use may not do it, as a fetcher's own may not do most things. */
export function isForbidden(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === '42501';
}

/** What is said of it, with what the server said. */
export const forbidden = (error: Error): { sentence: string; advice: string } => ({
  sentence: `this role of the database may not do that (${error.message})`,
  advice: "Do it with the address of the role that owns the tables; a fetcher's role only fetches and reads.",
});

/** Host, port and database of a connection string: what may be shown; user and password never are. */
export function describeTarget(connectionString: string): string {
  try {
    const url = new URL(connectionString);
    const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
    return `${host || 'localhost'}:${url.port || '5432'}${url.pathname}`;
  } catch {
    return 'the address in DATABASE_URL'; // unreadable, and it may hold a password: say nothing of it
  }
}

/** Turns a failed first connection into an error with advice; `cause` is left out where it could hold the address. */
export function unreachable(connectionString: string, cause: unknown): AppError {
  const target = describeTarget(connectionString);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const [reason, advice] =
    otherProgram(connectionString) ??
    unreadableFile(cause) ??
    manyHosts(connectionString) ??
    explainWords(cause) ??
    explain(code);
  return new AppError('db_unreachable', `No database at ${target}: ${reason}`, {
    exitCode: EXIT.database,
    httpStatus: 503,
    retry: isConnectionLost(cause),
    advice,
    ...(code === '' || code === 'ERR_INVALID_URL' ? {} : { cause }),
  });
}

// The driver takes the address of whatever it is for one of a PostgreSQL.
function otherProgram(connectionString: string): [reason: string, advice: string] | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(connectionString)?.[1]?.toLowerCase();
  if (scheme === undefined || ['postgres', 'postgresql', 'socket'].includes(scheme)) return undefined;
  return [`an address of PostgreSQL begins with postgresql:// and not with ${scheme}://.`, check];
}

// libpq tries several hosts in turn and may ask for the one that writes; our driver reads the list as one name.
function manyHosts(connectionString: string): [reason: string, advice: string] | undefined {
  if (!/^[a-z]+:\/\/(?:[^/?]*@)?[^/?@]*,|[?&]host=[^&]*,/.test(connectionString)) return undefined;
  return [
    'the address names several hosts, and one is what works here.',
    'Name one that leads to the primary: a name, a proxy or a pooler that follows it.',
  ];
}

// Certificates and keys are read while the address is; a file that is missing says nothing of the server.
function unreadableFile(cause: unknown): [reason: string, advice: string] | undefined {
  if (!(cause instanceof Error && 'code' in cause && 'syscall' in cause)) return undefined;
  if (cause.syscall !== 'open' && cause.syscall !== 'read') return undefined;
  const file = 'path' in cause ? String(cause.path) : 'a file';
  return [
    `the address names ${file}, which cannot be read (${String(cause.code)}).`,
    'Correct sslrootcert, sslcert or sslkey in DATABASE_URL, and let the user of this process read the file.',
  ];
}

const check = 'Check DATABASE_URL, or unset it to use the embedded database.';

// What has no code of its own: the driver gives none, and PgBouncer has 08P01 for everything. The words are all there is.
const explained: readonly [words: RegExp, reason: string, advice: string][] = [
  [
    /does not support SSL connections/,
    'it offers no TLS, and the address asks for it.',
    'Turn TLS on at the server (or the pooler), or leave sslmode out of DATABASE_URL where nobody stands in between.',
  ],
  [
    /client password must be a string/,
    'it wants a password, and the address has none.',
    `Put it into DATABASE_URL, behind the user. ${check}`,
  ],
  [
    /^Connection terminated unexpectedly/,
    'what listens there ended the connection without a word.',
    `Is it a PostgreSQL, and does it let this machine in? ${check}`,
  ],
];

const explainedPooler: typeof explained = [
  [
    /authentication failed|no such user/,
    'it refuses this user or password.',
    `A pooler has a list of its own of both (auth_file, auth_query). ${check}`,
  ],
  [
    /no such database|database .* does not exist/,
    'it has no such database.',
    `Create it (CREATE DATABASE), and let the pooler know it. ${check}`,
  ],
  [
    /server_login_retry|server login has been failing|connect failed/,
    'a pooler answers there, but not the server behind it.',
    'Start that server, or correct the way of the pooler to it; the log of the pooler says more.',
  ],
  [
    /no more connections allowed/,
    'the pooler there has no connection left.',
    'Raise its max_client_conn, or lower database.connections.',
  ],
];

function explainWords(cause: unknown): [reason: string, advice: string] | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = 'code' in cause ? String(cause.code) : '';
  const table = code === '' ? explained : code === '08P01' ? explainedPooler : [];
  const found = table.find(([words]) => words.test(cause.message));
  if (found !== undefined) return [found[1], found[2]];
  return code === '08P01' ? [`it says "${cause.message}".`, check] : undefined;
}

function explain(code: string): [reason: string, advice: string] {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['its name is not known.', check];
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return ['nothing listens there.', `Start that server. ${check}`];
  // No line of pg_hba.conf lets them in, or the role may not sign in: another thing than a wrong password.
  if (code === '28000')
    return [
      'it lets this user in neither from here nor in this way.',
      `If it wants TLS, add sslmode=verify-full to DATABASE_URL; else let this machine in with a line of its pg_hba.conf.`,
    ];
  if (code.startsWith('28')) return ['it refuses this user or password.', check];
  if (code === '3D000') return ['the server has no such database.', `Create it (CREATE DATABASE). ${check}`];
  if (code === 'ERR_INVALID_URL')
    return ['the address cannot be read.', `It looks like ${example}. ${check}`];
  if (code === '53300')
    return [
      'it has no connection left for us.',
      'Raise max_connections (or the limit of the role or the database), lower database.connections, or put PgBouncer between.',
    ];
  if (code === '57P03') return ['the server is starting.', 'Try again in a moment.'];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return [
      "its certificate is another name's.",
      'Use the name the certificate was made for in DATABASE_URL.',
    ];
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return [`its certificate was refused (${code}).`, 'Give the CA with sslrootcert=FILE in DATABASE_URL.'];
  return [code === '' ? 'it did not answer in time.' : `it failed with ${code}.`, check];
}

const example = 'postgresql://user:password@host:5432/database';
