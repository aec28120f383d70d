import { messageOf } from '../../errors/index.ts';
import type { Failure, FailureKind } from './result.ts';

/** An error that already knows its name among the outcomes. */
export class NamedFailure extends Error {
  readonly failure: Failure;

  constructor(kind: FailureKind, detail: string) {
    super(`${kind}: ${detail}`);
    this.name = 'NamedFailure';
    this.failure = { kind, detail };
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Bounded text for a person: messages of parsers may quote what the server sent. */
export function describeError(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error);
  return (code === '' || message.includes(code) ? message : `${code}: ${message}`).slice(0, 300);
}

/** Names what went wrong on an open connection; `headersSeen` tells a cut body from a connection that died. */
export function classifyError(error: unknown, headersSeen: boolean): Failure {
  if (error instanceof NamedFailure) return error.failure;
  const code = codeOf(error);
  const detail = describeError(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW')
    return { kind: 'headers_too_large', detail };
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return { kind: 'bad_response', detail };
  if (code === 'UND_ERR_SOCKET') {
    // undici's word for "the peer closed": after headers the body was cut, before them nobody answered.
    if (/bad (response|upgrade)/.test(detail)) return { kind: 'bad_response', detail };
    return headersSeen
      ? { kind: 'bad_response', detail: `body cut short: ${detail}` }
      : { kind: 'reset', detail };
  }
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO')
    return { kind: 'tls', detail };
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED') return { kind: 'reset', detail };
  if (code === 'ETIMEDOUT') return { kind: 'timeout', detail };
  return { kind: code.startsWith('E') ? 'reset' : 'bad_response', detail };
}
