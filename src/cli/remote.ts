import { AppError, EXIT, messageOf } from '../errors/index.ts';
import type { ApiAnswer, ApiRequest, ApiStream } from './api.ts';

/** The server a command works with. */
export type Remote = { server: string; token: string | null; version: string };

// A search over millions of documents takes a second; half a minute is a server in trouble.
const usualTimeoutMs = 30_000;
const mostSilenceMs = 60_000;
const mostBytes = 64 * 1024 * 1024;

/** Asks a server. Bounded in time and bytes; redirects are not followed, because the token would go along. */
export async function askServer(remote: Remote, request: ApiRequest): Promise<ApiAnswer> {
  const { server } = remote;
  const signal = AbortSignal.timeout(request.timeoutMs ?? usualTimeoutMs);
  try {
    const response = await send(remote, request, signal);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await readBounded(response, server),
    };
  } catch (error) {
    throw error instanceof AppError ? error : unreachable(server, error);
  }
}

/** Asks a server for a file of any length. Not bounded as a whole, but a server that falls silent is given up. */
export async function streamFromServer(remote: Remote, path: string): Promise<ApiStream> {
  const patience = new Patience();
  try {
    const response = await send(remote, { method: 'GET', path }, patience.signal);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      pieces: readPieces(remote.server, response, patience),
    };
  } catch (error) {
    patience.end();
    throw unreachable(remote.server, error);
  }
}

async function* readPieces(
  server: string,
  response: Response,
  patience: Patience,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response.body ?? []) {
      // Whoever writes it down may be slow; that is no silence of the server.
      patience.end();
      yield piece;
      patience.begin();
    }
  } catch (error) {
    throw unreachable(server, error);
  } finally {
    patience.end();
  }
}

/** Gives a silent server up. */
class Patience {
  readonly #stop = new AbortController();
  readonly signal = this.#stop.signal;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.begin();
  }

  begin(): void {
    this.#timer = setTimeout(
      () => this.#stop.abort(new DOMException('no answer', 'TimeoutError')),
      mostSilenceMs,
    );
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

const accepted = 'application/json, application/problem+json, */*;q=0.5';

function send(remote: Remote, request: ApiRequest, signal: AbortSignal): Promise<Response> {
  const { server, token, version } = remote;
  const { method, path, body, file } = request;
  const type = file?.type ?? (body === undefined ? null : 'application/json');
  return fetch(`${server}${path}`, {
    method,
    signal,
    redirect: 'manual',
    headers: {
      accept: accepted,
      'user-agent': `outrider-cli/${version}`,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(type === null ? {} : { 'content-type': type }),
    },
    ...(type === null ? {} : { body: file?.text ?? JSON.stringify(body) }),
  });
}

async function readBounded(response: Response, server: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > mostBytes)
      throw new AppError('server_foreign', `${server} answers with more than ${mostBytes / 1048576} MB`, {
        exitCode: EXIT.server,
        advice: 'Ask for less with --limit, or check that this is an Outrider.',
      });
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

// fetch wraps what happened one or two causes deep; the code in there is what tells one trouble from another.
function codeOf(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.name === 'TimeoutError') return 'TIMEOUT';
    if ('code' in at && typeof at.code === 'string' && at.code !== '') return at.code;
    if (at instanceof AggregateError && at.errors.length > 0) return codeOf(at.errors[0]);
  }
  return '';
}

const check = 'Check --server or OUTRIDER_SERVER.';

function explain(code: string, error: unknown): [reason: string, advice: string] {
  if (code === 'ECONNREFUSED')
    return ['nothing listens there', `Is "outrider up" running there, and does api.host allow it? ${check}`];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['its name is not known', check];
  if (code === 'TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return ['it did not answer in time', 'Is it under load, or a firewall in between? Try again.'];
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return [
      'it does not speak TLS',
      'Write http:// instead of https://, or put a proxy with TLS in front of it.',
    ];
  if (/CERT|SELF_SIGNED|ERR_TLS/.test(code))
    return [
      `its certificate is not accepted (${code})`,
      'Name your CA in NODE_EXTRA_CA_CERTS=FILE, and use the name that stands in the certificate.',
    ];
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET')
    return ['it broke the connection off', 'Does it expect https:// there? Try again.'];
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return [code === '' ? messageOf(cause) : `it failed with ${code}`, check];
}

function unreachable(server: string, error: unknown): AppError {
  const [reason, advice] = explain(codeOf(error), error);
  return new AppError('server_unreachable', `No answer from ${server}: ${reason}.`, {
    exitCode: EXIT.server,
    retry: true,
    advice,
    cause: error,
  });
}
