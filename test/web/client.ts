import { request } from 'node:http';
import { connect } from 'node:net';
import type { Web } from './web.ts';

/** A whole answer of the web. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Asks for an address as a client with the web's hosts file would; no redirects, no decompression. */
export function askWeb(
  web: Web,
  url: string,
  options: { headers?: Record<string, string>; method?: string } = {},
) {
  const { hostname, pathname, search } = new URL(url);
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request(
      {
        host: addressOf(web, hostname),
        port: web.port,
        path: pathname + search,
        method: options.method ?? 'GET',
        headers: { host: hostname, 'user-agent': 'test', ...options.headers },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Sends a request over a bare socket and collects bytes until the server closes or `enough` says so. */
export function askRaw(
  web: Web,
  url: string,
  enough: (received: Buffer) => boolean = () => false,
): Promise<{ bytes: Buffer; error?: string }> {
  const { hostname, pathname, search } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(web.port, addressOf(web, hostname));
    let bytes = Buffer.alloc(0);
    let failure: string | undefined;
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (enough(bytes)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
    });
    socket.on('close', () => resolve({ bytes, ...(failure === undefined ? {} : { error: failure }) }));
  });
}

function addressOf(web: Web, hostname: string): string {
  return web.hosts.find(({ names }) => names.includes(hostname))?.address ?? '127.0.0.1';
}
