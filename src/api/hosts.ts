import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/index.ts';
import { sendProblem } from './problems.ts';

/** Names of this machine to itself. */
export const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** Whether an address is this machine's own. */
export const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address);

const bare = (name: string): string => name.toLowerCase().replace(/^\[|\]$/g, '');

/** The name in a Host header, without port and brackets. */
export function nameOfHost(host: string): string {
  const name = /^\[[^\]]*\]|^[^:]*/.exec(host)?.[0] ?? '';
  return bare(name);
}

/**
 * Whether a program on this machine asks, and not somebody through a proxy or a page that was led here by a name of its
 * own.
 */
export function isLocalRequest(request: FastifyRequest): boolean {
  const { headers, socket } = request.raw;
  const isForwarded = Object.keys(headers).some((name) =>
    /^(x-forwarded-|forwarded$|x-real-ip$|via$)/.test(name),
  );
  return (
    !isForwarded &&
    isLoopbackAddress(socket.remoteAddress) &&
    isLoopbackAddress(request.ip) &&
    loopback.has(nameOfHost(headers.host ?? ''))
  );
}

/**
 * A page on the web must not reach the API through a name it controls (DNS rebinding). By the public name hubs reach
 * their callbacks and nothing else.
 */
export function addHostCheck(app: FastifyInstance, { config }: { config: Config }): void {
  const { callbackUrl } = config.websub;
  const publicName = callbackUrl === null ? null : bare(new URL(callbackUrl).hostname);
  const names = new Set([...loopback, ...config.api.hosts.map(bare), bare(config.api.host)]);
  app.addHook('onRequest', async (request, reply) => {
    const name = nameOfHost(request.host);
    const isHub = name === publicName && request.url.startsWith('/websub/');
    // The address itself is no name anybody else could point here.
    const isAddress = isIP(name) > 0 && name === request.raw.socket.localAddress?.replace(/^::ffff:/, '');
    if (!names.has(name) && !isHub && !isAddress)
      return sendProblem(
        reply,
        421,
        'wrong_host',
        'this server does not answer to that name',
        'If the name is yours, add it to api.hosts.',
      );
    return undefined;
  });
}

/** Headers of every answer. What shows pages loosens the policy for itself. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
    });
    if (request.url.startsWith('/api/')) reply.header('cache-control', 'no-store');
  });
}
