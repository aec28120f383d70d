import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Failure } from '../fetch/index.ts';

/** Connects to a host under the guard of the crawl, or says why not. */
export type Connect = (
  to: { host: string; port: number },
  options: { signal: AbortSignal; proxies?: readonly string[] },
) => Promise<Socket | Failure>;

/** What one page may do, and has done, on the network. */
export type PageMeter = {
  readonly credentials: { user: string; password: string };
  /** Bytes in both directions. */
  bytes: number;
  connections: number;
  /** Connections that the guard refused, with its reason; the first few. */
  refused: string[];
  /** The page used up its bytes: nothing goes through any more. */
  isSpent: boolean;
};

type Page = PageMeter & {
  limits: { maxBytes: number; maxConnections: number };
  proxies: readonly string[] | undefined;
  sockets: Set<Socket>;
  stop: AbortController;
};

const mostRefusals = 20;
// Everything else would come back over and over: an answer that is kept by nobody.
const plainAnswer = { 'content-type': 'text/plain', connection: 'close' };
// Of one hop only (RFC 9110 section 7.6.1), and what is between the browser and us.
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The browser's only way out: a proxy on loopback that dials through the crawl's own client, so that each connection
 * passes the guard when it is made. Every page has a name and a password of its own, which tell pages apart and keep
 * everybody else on the machine out.
 */
export class RenderProxy {
  readonly #connect: Connect;
  readonly #server: Server;
  readonly #pages = new Map<string, Page>();
  #port = 0;

  constructor(connect: Connect) {
    this.#connect = connect;
    this.#server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
      void this.#forward(request, response);
    });
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#tunnel(request, socket as Socket, head);
    });
    // A protocol of its own is nobody's business here.
    this.#server.on('upgrade', (_request, socket: Duplex) => void socket.destroy());
    this.#server.on('clientError', (_error, socket: Duplex) => void socket.destroy());
  }

  get port(): number {
    return this.#port;
  }

  /** Listens on a free port of loopback. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Admits a page. */
  admit(
    limits: { maxBytes: number; maxConnections: number },
    proxies: readonly string[] | undefined,
  ): PageMeter {
    const page: Page = {
      credentials: { user: randomBytes(8).toString('hex'), password: randomBytes(24).toString('hex') },
      bytes: 0,
      connections: 0,
      refused: [],
      isSpent: false,
      limits,
      proxies,
      sockets: new Set(),
      stop: new AbortController(),
    };
    this.#pages.set(page.credentials.user, page);
    return page;
  }

  /** Ends everything a page has open; its credentials open nothing from now on. */
  dismiss(meter: PageMeter): void {
    const page = this.#pages.get(meter.credentials.user);
    if (page === undefined) return;
    this.#pages.delete(meter.credentials.user);
    shut(page);
  }

  async close(): Promise<void> {
    for (const page of [...this.#pages.values()]) this.dismiss(page);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = this.#pageOf(request);
    if (page === null) {
      response.writeHead(407, { ...plainAnswer, 'proxy-authenticate': 'Basic realm="outrider"' }).end();
      return;
    }
    this.#watch(page, request.socket);
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : null;
    if (url === null || url.protocol !== 'http:') {
      response.writeHead(400, plainAnswer).end('only http:// is forwarded');
      return;
    }
    const to = { host: bare(url.hostname), port: Number(url.port || 80) };
    const socket = await this.#open(page, to);
    if ('kind' in socket) {
      response.writeHead(socket.kind.startsWith('refused_') ? 403 : 502, plainAnswer).end(socket.detail);
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name)),
    );
    const upstream = requestHttp({
      createConnection: () => socket,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: 'close' },
    });
    const fail = (): void => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, plainAnswer).end('the server did not answer');
      socket.destroy();
    };
    upstream.on('upgrade', fail);
    upstream.on('error', fail);
    upstream.on('response', (answer) => {
      const kept = Object.entries(answer.headers).filter(([name]) => !hopHeaders.has(name));
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept) as Record<string, string>);
      answer.on('error', fail);
      answer.pipe(response);
    });
    response.on('close', () => socket.destroy());
    request.on('error', fail);
    request.on('data', (chunk: Buffer) => spend(page, chunk.length));
    request.pipe(upstream);
  }

  async #tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy());
    const page = this.#pageOf(request);
    if (page === null) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="outrider"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      );
      return;
    }
    this.#watch(page, client);
    const to = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/]+)):(\d{1,5})$/i.exec(request.url ?? '');
    const host = to?.[1] ?? to?.[2];
    const socket =
      host === undefined
        ? ({ kind: 'refused_address', detail: 'not an address' } as const)
        : await this.#open(page, { host, port: Number(to?.[3]) });
    if ('kind' in socket) {
      const status = socket.kind.startsWith('refused_') ? '403 Forbidden' : '502 Bad Gateway';
      client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    if (client.destroyed) {
      socket.destroy();
      return;
    }
    client.on('close', () => socket.destroy());
    socket.on('close', () => client.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    // A tunnel is for TLS and nothing else: a WebSocket without it, TURN over TCP or any other protocol ends here.
    const begin = (first: Buffer): void => {
      if (first[0] !== 0x16) {
        page.refused.push(`${host}: not TLS`);
        client.destroy();
        return;
      }
      socket.write(first);
      client.on('data', (chunk: Buffer) => spend(page, chunk.length));
      client.pipe(socket);
      socket.pipe(client);
    };
    if (head.length > 0) begin(head);
    else client.once('data', begin);
  }

  /** The page whose credentials the request has. */
  #pageOf(request: IncomingMessage): Page | null {
    const [, encoded] =
      /^Basic ([A-Za-z0-9+/=]{1,200})$/.exec(request.headers['proxy-authorization'] ?? '') ?? [];
    const [user = '', password = ''] = Buffer.from(encoded ?? '', 'base64')
      .toString('latin1')
      .split(':');
    const page = this.#pages.get(user);
    if (page === undefined) return null;
    const [given, wanted] = [Buffer.from(password), Buffer.from(page.credentials.password)];
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? page : null;
  }

  async #open(page: Page, to: { host: string; port: number }): Promise<Socket | Failure> {
    if (page.isSpent || page.connections >= page.limits.maxConnections)
      return { kind: 'refused_address', detail: 'the page has used up what it may load' };
    page.connections += 1;
    const opened = await this.#connect(to, {
      signal: page.stop.signal,
      ...(page.proxies === undefined ? {} : { proxies: page.proxies }),
    });
    if ('kind' in opened) {
      if (opened.kind.startsWith('refused_') && page.refused.length < mostRefusals)
        page.refused.push(`${to.host}:${to.port}: ${opened.detail}`.slice(0, 200));
      return opened;
    }
    if (page.stop.signal.aborted) {
      opened.destroy();
      return { kind: 'aborted', detail: 'the page is done' };
    }
    opened.on('error', () => opened.destroy());
    page.sockets.add(opened);
    opened.once('close', () => page.sockets.delete(opened));
    opened.on('data', (chunk: Buffer) => spend(page, chunk.length));
    return opened;
  }

  /** Lets the page's end be the connection's. */
  #watch(page: Page, client: Socket): void {
    if (page.sockets.has(client)) return;
    page.sockets.add(client);
    client.once('close', () => page.sockets.delete(client));
  }
}

const bare = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host);

function spend(page: Page, bytes: number): void {
  page.bytes += bytes;
  if (page.bytes <= page.limits.maxBytes || page.isSpent) return;
  page.isSpent = true;
  shut(page);
}

function shut(page: Page): void {
  page.stop.abort();
  for (const socket of page.sockets) socket.destroy();
}
