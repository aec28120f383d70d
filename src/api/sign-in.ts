import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Authenticator } from '../auth/index.ts';
import type { Log } from '../telemetry/index.ts';
import { setSessionCookie } from './credentials.ts';
import type { RateLimits } from './rate-limits.ts';

/** `/sign-in?code=…`: a link from the terminal becomes a browser's session, once. */
export function addSignIn(
  app: FastifyInstance,
  { auth, limits, log }: { auth: Authenticator | null; limits: RateLimits; log: Log },
): void {
  app.get<{ Querystring: { code?: unknown } }>(
    '/sign-in',
    {
      // A HEAD, as previews of links send, would use the code up.
      exposeHeadRoute: false,
      config: { role: 'public' },
      schema: { hide: true },
    },
    async (request, reply) => {
      const { code } = request.query;
      reply.header('cache-control', 'no-store');
      // An address that guesses is not heard for a while, whatever it guesses at.
      const held = await limits.hold(request, reply, []);
      if (held !== undefined) return held;
      const isCode = typeof code === 'string' && /^[\w-]{43}$/.test(code);
      const signedIn = isCode && auth !== null ? await auth.signIn(code) : null;
      if (signedIn === null) {
        const limited = await limits.refused(request, reply);
        return limited ?? sendPage(reply, 401, 'This link does not work any more', usedUp);
      }
      const { cookie, session } = signedIn;
      log.info({ name: session.identity.name, address: request.ip }, 'somebody signed in with a link');
      setSessionCookie(
        request,
        reply,
        cookie,
        Math.max(1, Math.floor((session.expiresAtMs - Date.now()) / 1000)),
      );
      // Not a redirect: where the link was opened from another site, browsers would follow it without the strict cookie.
      reply.header('refresh', '0; url=/');
      return sendPage(reply, 200, 'You are signed in', '<p><a href="/">Go on</a></p>');
    },
  );
}

const usedUp = '<p>It works once, for ten minutes. Get another with <code>outrider token sign-in</code>.</p>';

const sendPage = (reply: FastifyReply, status: number, title: string, body: string): FastifyReply =>
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>\n`,
    );
