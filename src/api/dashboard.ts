import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

// Nothing inside the page runs or styles it, nothing comes from elsewhere, and no text can become code by mistake.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue',
].join('; ');

/** The first words of addresses that are screens; the page itself knows what lies below them. */
const screens = [
  'sources',
  'channels',
  'frontier',
  'domains',
  'jobs',
  'documents',
  'state',
  'settings',
] as const;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

type File = { body: Buffer; packed: Buffer | null; type: string; tag: string };

/** Where the built dashboard is, from the compiled server and from its sources alike; null: it was not built. */
function findPages(): string | null {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return (
    [join(here, '../../dashboard'), join(here, '../../dist/dashboard')].find((dir) =>
      existsSync(join(dir, 'assets')),
    ) ?? null
  );
}

/**
 * The dashboard at `/`. All of it is read at the start, half a megabyte: no request names a file on the disk.
 */
export function addDashboard(app: FastifyInstance): { sendLost: Lost } {
  const dir = findPages();
  const files = dir === null ? new Map<string, File>() : readFiles(dir);
  const page = files.get('/index.html');
  const options = { config: { role: 'public' as const }, schema: { hide: true } };
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (page === undefined)
      return reply
        .code(404)
        .type('text/plain')
        .send('The dashboard was not built: run "npm run build". The API is described at /api/v1/docs.\n');
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' });
    return send(request, reply, page);
  };
  app.get('/', options, sendPage);
  for (const screen of screens) {
    app.get(`/${screen}`, options, sendPage);
    app.get(`/${screen}/*`, options, sendPage);
  }
  for (const [path, file] of files)
    if (path !== '/index.html')
      app.get(path, options, async (request, reply) => {
        // Names in assets/ change with what is in them.
        reply.header(
          'cache-control',
          path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
        return send(request, reply, file);
      });
  return {
    sendLost: async (request, reply) => {
      if (page === undefined || !isForPerson(request)) return null;
      // Without its validator: a 304 would have to be about the same status.
      reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-store' });
      return reply.code(404).type(page.type).send(page.body);
    },
  };
}

/** Sends the page to a person who asked for an address of nothing; null: it was a program. */
type Lost = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | null>;

/** A browser that goes somewhere says that it takes HTML; scripts, pictures and programs do not. */
const isForPerson = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !/^\/(api|assets)(\/|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '');

function send(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  reply.headers({ etag: file.tag, vary: 'accept-encoding' });
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  const takesPacked = /(^|[\s,])br($|[\s,;])/.test(String(request.headers['accept-encoding'] ?? ''));
  if (file.packed !== null && takesPacked)
    return reply.type(file.type).header('content-encoding', 'br').send(file.packed);
  return reply.type(file.type).send(file.body);
}

function readFiles(dir: string): Map<string, File> {
  const files = new Map<string, File>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = readFileSync(path);
    files.set(`/${relative(dir, path).split(sep).join('/')}`, {
      body,
      packed: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : null,
      type,
      tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    });
  }
  return files;
}
