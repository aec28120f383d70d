import { createServer, type Server, type Socket } from 'node:net';

/** A server that answers with the bytes a test writes: real sockets, no HTTP library to be correct for us. */
export type RawServer = {
  port: number;
  /** Request heads as they came, one per request. */
  requests: string[];
  connections: () => number;
  /** Sockets that are still open. */
  open: () => number;
  close: () => Promise<void>;
};

/** Answers one request; `index` counts requests on this server. */
export type RawHandler = (socket: Socket, head: string, index: number) => void;

/** Starts a raw server on a loopback port. */
export async function startRawServer(handler: RawHandler, host = '127.0.0.1'): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Clients under test hang up in the middle on purpose.
    socket.on('error', () => sockets.delete(socket));
    let buffered = '';
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n\r\n'); end >= 0; end = buffered.indexOf('\r\n\r\n')) {
        const head = buffered.slice(0, end);
        buffered = buffered.slice(end + 4);
        requests.push(head);
        handler(socket, head, requests.length - 1);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A complete response with a correct length. */
export function respond(status: string, headers: Record<string, string>, body: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}
