import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problems.ts';

/** Answers a request whose address is there and whose method is not; null: nothing has that address. */
export type WrongMethod = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

type Pattern = { segments: readonly string[]; methods: Set<string> };

/**
 * Notes the routes that are added from now on. The router tells of an address with another method only that there is
 * nothing: whoever sends a PUT for a PATCH, or asks what an address takes (OPTIONS), must hear more than that.
 */
export function noteMethods(app: FastifyInstance): WrongMethod {
  const patterns = new Map<string, Pattern>();
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = patterns.get(url) ?? { segments: url.split('/'), methods: new Set() };
    for (const one of [method].flat()) pattern.methods.add(one);
    patterns.set(url, pattern);
  });
  return (request, reply) => {
    const given = segmentsOf(request.url);
    if (given === null) return null;
    const methods = new Set(
      [...patterns.values()]
        .filter(({ segments }) => matches(segments, given))
        .flatMap((one) => [...one.methods]),
    );
    if (methods.size === 0) return null;
    const allowed = [...methods, 'OPTIONS'].toSorted().join(', ');
    reply.header('allow', allowed);
    if (request.method === 'OPTIONS') return reply.code(204).send();
    return sendProblem(
      reply,
      405,
      'method_not_allowed',
      `${request.method} is nothing that this address takes; it takes ${allowed}`,
    );
  };
}

// As the router takes addresses apart: what is encoded is no slash.
function segmentsOf(url: string): string[] | null {
  try {
    return decodeURI(url.replace(/[?#].*$/s, '')).split('/');
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return null;
  }
}

function matches(pattern: readonly string[], given: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*';
  if (isOpen ? given.length < pattern.length : given.length !== pattern.length) return false;
  return pattern.every((segment, index) => {
    if (segment === '*') return true;
    return segment.startsWith(':') ? given[index] !== '' : segment === given[index];
  });
}
