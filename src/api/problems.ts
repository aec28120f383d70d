import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { forbidden, isForbidden, isPassing } from '../db/index.ts';
import { AppError, messageOf } from '../errors/index.ts';
import type { Log } from '../telemetry/index.ts';

/** An error as every route answers it (RFC 9457). */
export const problemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: 'stable; docs/reference/errors.md lists them' }),
    detail: Type.String(),
    advice: Type.Optional(Type.String({ description: 'what to do about it' })),
  },
  { title: 'Problem' },
);

/** Answers with a problem document. */
export const sendProblem = (
  reply: FastifyReply,
  status: number,
  code: string,
  detail: string,
  advice?: string,
): FastifyReply =>
  reply
    .code(status)
    .type('application/problem+json')
    .send({
      type: 'about:blank',
      title: code,
      status,
      code,
      detail,
      ...(advice === undefined ? {} : { advice }),
    });

const unreadable: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are longer than 16 KB'],
  HPE_INVALID_METHOD: ['400 Bad Request', 'this is no method of HTTP'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to come'],
};

/** Answers what is no HTTP that a route could be asked about; the socket has no more to say then. */
export function sendUnreadable(error: Error & { code?: string }, socket: Socket): void {
  // Whoever has gone hears nothing any more.
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error);
  const [line, detail] = unreadable[error.code ?? ''] ?? ['400 Bad Request', 'this is no request of HTTP'];
  const code = 'request_invalid';
  const body = JSON.stringify({
    type: 'about:blank',
    title: code,
    status: Number(line.slice(0, 3)),
    code,
    detail,
  });
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const retryAfterS = 5;

/** Every failure of a route becomes a problem document; what we did not foresee is logged and not shown. */
export function addProblems(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error, request, reply) => {
    const { status, code } = statusOf(error);
    if (isForbidden(error)) {
      const { sentence, advice } = forbidden(error);
      return sendProblem(reply, status, code, sentence, advice);
    }
    if (status >= 500) log.error({ error, route: request.routeOptions.url }, 'a request failed');
    if (code === 'db_unavailable')
      return sendProblem(
        reply.header('retry-after', retryAfterS),
        status,
        code,
        'the database is away, full, busy or read-only; nothing is known to be wrong with the request',
        'Try again in a moment; the log says what it was.',
      );
    if (status >= 500 && !(error instanceof AppError))
      return sendProblem(reply, status, code, 'something failed here; the log says what');
    return sendProblem(
      reply,
      status,
      code,
      messageOf(error),
      error instanceof AppError ? error.advice : undefined,
    );
  });
}

/** Answers that there is nothing at an address. */
export const sendNotFound = (reply: FastifyReply): FastifyReply =>
  sendProblem(
    reply,
    404,
    'not_found',
    'there is nothing at this address; GET /api/v1/openapi.json lists what there is',
  );

function statusOf(error: unknown): { status: number; code: string } {
  if (error instanceof AppError) return { status: error.httpStatus, code: error.code };
  const { statusCode, validation } = error as { statusCode?: number; validation?: unknown };
  if (validation !== undefined) return { status: 400, code: 'request_invalid' };
  if (isPassing(error)) return { status: 503, code: 'db_unavailable' };
  if (isForbidden(error)) return { status: 500, code: 'db_rights' };
  return {
    status: statusCode ?? 500,
    code: statusCode !== undefined && statusCode < 500 ? 'request_invalid' : 'internal',
  };
}
