import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { AccessLog } from './access-log.ts';
import type { ReplyCache } from './cache.ts';
import type { WebClock } from './clock.ts';
import { issuerHost, openDoor } from './door.ts';
import type { Exchange, Reply } from './exchange.ts';
import { chooseFault } from './faults/choose.ts';
import { type Hub, hubHost } from './hub.ts';
import { renderTarget } from './render/index.ts';
import type { Site } from './site.ts';
import { requestKindOf, resolveTarget } from './target.ts';

const keepAliveMs = 120_000;
const minPackedBytes = 500;

/** What the request handler needs. */
export interface WebState {
  sites: readonly Site[];
  byHost: ReadonlyMap<string, Site>;
  clock: WebClock;
  log: AccessLog;
  cache: ReplyCache;
  hub: Hub | null;
}

/** An open port. */
export interface Listening {
  port: number;
  /** Authority of the https hosts; null for a web without them. */
  authority: string | null;
  close(): Promise<void>;
}

/** Listens on every address, because each domain has its own; who does not come over loopback is cut off. */
export async function listen(state: WebState, options: { port: number; tls: boolean }): Promise<Listening> {
  let intermediate: Buffer | null = null;
  const server = createServer(
    { keepAliveTimeout: keepAliveMs, requireHostHeader: false },
    (request, response) => {
      // Like the hub, no site of this web.
      if (intermediate !== null && hostOf(request.headers.host) === issuerHost) {
        response.writeHead(200, { 'content-type': 'application/pkix-cert' }).end(intermediate);
        return;
      }
      handle(state, request, response);
    },
  );
  const mayEnter = (socket: Socket): boolean =>
    isLoopback(socket.remoteAddress) && isLoopback(socket.localAddress);
  // Hostile and broken clients are the crawler's business in this web, not the server's.
  server.on('clientError', (_error, socket) => socket.destroy());
  // Looking at the first byte of each connection is left out where it is not asked for: benchmarks share this web.
  if (options.tls) {
    const door = await openDoor({ plain: server, byHost: state.byHost, port: options.port, mayEnter });
    intermediate = door.intermediate;
    return door;
  }
  server.on('connection', (socket) => {
    if (!mayEnter(socket)) socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: '0.0.0.0', backlog: 4_096 }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    authority: null,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

/** Whether an address of a connection is on this machine's loopback. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address.startsWith('127.') || address.startsWith('::ffff:127.'));
}

function handle(state: WebState, request: IncomingMessage, response: ServerResponse): void {
  const startedAtMs = performance.now();
  const { clock, log, cache, byHost } = state;
  const { headers } = request;
  const host = hostOf(headers.host);
  const url = request.url ?? '/';
  // The hub keeps its own record: it is no site of this web.
  if (state.hub !== null && host === hubHost) {
    state.hub.handle(request, response);
    return;
  }
  const seq = log.begin({
    host,
    path: url,
    method: request.method ?? 'GET',
    userAgent: headers['user-agent'] ?? '',
    conditional: headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined,
    startedAtMs,
  });
  const site = byHost.get(host);
  const send = (reply: Reply) =>
    sendReply({ request, response, log, seq, compression: site?.publisher.compression ?? 'none' }, reply);
  if (site === undefined) {
    send({ status: 421, type: 'text/plain', body: Buffer.from('no such host in this web\n') });
    return;
  }
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const nowMs = clock.now();
  const target = resolveTarget(site, { host, path, query, nowMs });
  if (site.faults.length === 0) {
    send(renderTarget(site, target, { nowMs, cache }));
    return;
  }
  let replaced: Reply | undefined;
  const exchange: Exchange = {
    site,
    host,
    path,
    query,
    kind: requestKindOf(target),
    nowMs,
    seq,
    request,
    response,
    log,
    reply: () => replaced ?? renderTarget(site, target, { nowMs, cache }),
    replyFor: (otherPath, otherQuery) => {
      const other = resolveTarget(site, { host, path: otherPath, query: otherQuery, nowMs });
      return renderTarget(site, other, { nowMs, cache });
    },
    replace: (reply) => {
      replaced = reply;
    },
    send,
    elsewhere: () => {
      const other = state.sites[(site.publisher.index + 1) % state.sites.length] ?? site;
      return `http://${other.publisher.host}/`;
    },
  };
  if (chooseFault(exchange) === 'pass') send(exchange.reply());
}

function hostOf(header: string | undefined): string {
  if (header === undefined) return '';
  const colon = header.indexOf(':');
  return (colon < 0 ? header : header.slice(0, colon)).toLowerCase();
}

interface Sending {
  request: IncomingMessage;
  response: ServerResponse;
  log: AccessLog;
  seq: number;
  compression: 'none' | 'gzip' | 'br';
}

function sendReply(sending: Sending, reply: Reply): void {
  const { request, response, log, seq } = sending;
  if (isUnchanged(request, reply)) {
    response.writeHead(304, validatorsOf(reply));
    log.headers(seq, 304);
    response.end();
    log.end(seq, 0);
    return;
  }
  const encoding = encodingFor(sending, reply);
  const body = encoding === 'none' ? reply.body : packedBody(reply, encoding);
  const headers: Record<string, string | number> = validatorsOf(reply);
  if (reply.type !== '') headers['Content-Type'] = reply.type;
  headers['Content-Length'] = body.length;
  if (encoding !== 'none') {
    headers['Content-Encoding'] = encoding;
    headers.Vary = 'Accept-Encoding';
  }
  if (reply.location !== undefined) headers.Location = reply.location;
  if (reply.maxAgeS !== undefined) headers['Cache-Control'] = `max-age=${reply.maxAgeS}`;
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  response.writeHead(reply.status, headers);
  log.headers(seq, reply.status);
  const bodiless = request.method === 'HEAD';
  response.end(bodiless ? undefined : body);
  log.end(seq, bodiless ? 0 : body.length);
}

function validatorsOf(reply: Reply): Record<string, string | number> {
  const headers: Record<string, string | number> = {};
  if (reply.etag !== undefined) headers.ETag = reply.etag;
  if (reply.lastModifiedMs !== undefined)
    headers['Last-Modified'] = new Date(reply.lastModifiedMs).toUTCString();
  return headers;
}

/** RFC 9110 section 13.2.2: If-None-Match decides alone when it is there; comparison is weak. */
function isUnchanged(request: IncomingMessage, reply: Reply): boolean {
  if (reply.status !== 200) return false;
  const match = request.headers['if-none-match'];
  if (match !== undefined) {
    if (reply.etag === undefined) return false;
    const wanted = reply.etag.replace(/^W\//, '');
    return match === '*' || match.split(',').some((tag) => tag.trim().replace(/^W\//, '') === wanted);
  }
  const since = request.headers['if-modified-since'];
  if (since === undefined || reply.lastModifiedMs === undefined) return false;
  return Math.floor(reply.lastModifiedMs / 1000) * 1000 <= Date.parse(since);
}

function encodingFor(sending: Sending, reply: Reply): 'none' | 'gzip' | 'br' {
  const { compression, request } = sending;
  if (compression === 'none' || reply.status !== 200 || reply.body.length < minPackedBytes) return 'none';
  if (
    reply.headers?.['Content-Encoding'] !== undefined ||
    !/^(?:text|application\/(?!gzip))/.test(reply.type)
  )
    return 'none';
  const accepted = request.headers['accept-encoding'];
  return typeof accepted === 'string' && accepted.includes(compression) ? compression : 'none';
}

function packedBody(reply: Reply, encoding: 'gzip' | 'br'): Buffer {
  // The fastest levels: pages are packed once each, and the web must not be the bottleneck of a crawl.
  reply.packed ??=
    encoding === 'gzip'
      ? gzipSync(reply.body, { level: 1 })
      : brotliCompressSync(reply.body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  return reply.packed;
}
