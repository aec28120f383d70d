import type { FastifyReply, FastifyRequest } from 'fastify';

/** The cookie a browser's session is in. */
export const sessionCookie = 'outrider_session';

// Cookies of one name come from different paths; more than a few are an attack.
const mostCookies = 4;

/** What a request shows to say who asks. */
export type Credentials =
  | { kind: 'none' }
  | { kind: 'malformed'; reason: string }
  | { kind: 'bearer' | 'cookies'; texts: readonly string[] };

/** Reads credentials: a bearer token first, sessions otherwise. */
export function readCredentials(request: FastifyRequest): Credentials {
  const { rawHeaders } = request.raw;
  let given = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === 'authorization') given += 1;
  // Node keeps the first of two and a proxy may have looked at the second.
  if (given > 1) return { kind: 'malformed', reason: 'there is more than one Authorization header' };
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = /^bearer +([\w.~+/=-]+)$/i.exec(authorization.trim())?.[1];
    return token === undefined
      ? { kind: 'malformed', reason: 'the Authorization header must be: Bearer, a space, and the token' }
      : { kind: 'bearer', texts: [token] };
  }
  const texts = parseCookies(request.headers.cookie ?? '', sessionCookie);
  return texts.length === 0 ? { kind: 'none' } : { kind: 'cookies', texts: texts.slice(0, mostCookies) };
}

/** The values of a cookie in a Cookie header (RFC 6265 section 4.2); ours need no decoding. */
export function parseCookies(header: string, name: string): string[] {
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name && equals + 1 < pair.length)
      values.push(pair.slice(equals + 1).trim());
  }
  return values;
}

/** Gives the browser its session, or takes it away (null). Scripts cannot read it, other sites cannot send it. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string | null,
  maxAgeSeconds = 0,
): void {
  const secure = request.protocol === 'https' ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${sessionCookie}=${value ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`,
  );
}

/**
 * Whether a request with a session comes from our own pages. SameSite alone would let any other port of this machine
 * through, which counts as the same site. Browsers always send one of the two headers with what changes things.
 */
export function isOwnOrigin(request: FastifyRequest, hosts: readonly string[]): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return true;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = request.headers;
  if (origin === undefined) return site === 'same-origin';
  if (!URL.canParse(origin)) return false;
  const { host, hostname, port } = new URL(origin);
  // Behind a proxy that rewrites Host, the public name is one of ours on its usual port.
  return (
    host === request.host.toLowerCase() ||
    (port === '' && hosts.some((one) => one.toLowerCase() === hostname))
  );
}
