import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/index.ts';
import { sendProblem } from './problems.ts';

const notText = (): AppError =>
  new AppError('request_invalid', 'the body is no UTF-8', {
    httpStatus: 400,
    advice: 'JSON is UTF-8 (RFC 8259): save the file, or set the terminal, as that.',
  });

/**
 * Bodies are plain JSON in UTF-8. Read as Fastify does, a letter of another encoding would become a question mark without
 * a word: an address that nobody has would be fetched, and a name be stored that nobody gave.
 */
export function addBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    } catch (error) {
      // Both are the fault of whoever sent it; nothing of it is worth a line in the log.
      if (!(error instanceof TypeError)) throw error;
      return done(notText());
    }
    return parse(request, text, done);
  });
  app.addHook('onRequest', async ({ url, headers }, reply) => {
    const encoding = headers['content-encoding'] ?? 'identity';
    // Hubs send what they send, and it is looked at there.
    if (encoding === 'identity' || !url.startsWith('/api/')) return undefined;
    reply.header('accept-encoding', 'identity');
    return sendProblem(
      reply,
      415,
      'request_invalid',
      'a body is taken uncompressed',
      'Leave out Content-Encoding, and send what is inside.',
    );
  });
}
