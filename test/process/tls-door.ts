import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Certificate } from './certificates.ts';

/** The way of one machine to a PostgreSQL elsewhere: over TLS only, and it can be cut as networks are. */
export type TlsDoor = {
  port: number;
  /** While it is cut no byte passes and nobody is told: connections stay open on both sides. */
  setCut(isCut: boolean): void;
  close(): Promise<void>;
};

const sslRequest = 80877103;

/** Stands before a server's socket as the server itself would with `hostssl` alone. */
export async function startTlsDoor(socketDir: string, certificate: Certificate): Promise<TlsDoor> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isCut = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    // The other side learns of it by the close that follows.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  /** Passes on what comes, in order; while cut it is kept for later, as in the buffers of a network. */
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => {
      if (isCut) held.push(() => to.write(chunk));
      else to.write(chunk);
    });
    from.on('close', () => {
      if (isCut) held.push(() => to.destroy());
      else to.destroy();
    });
  };
  const enter = (client: Socket): void => {
    const server = connect(`${socketDir}/.s.PGSQL.5432`);
    track(server);
    server.setNoDelay(true);
    const secure = new TLSSocket(client, { isServer: true, cert: certificate.cert, key: certificate.key });
    track(secure);
    pass(secure, server);
    pass(server, secure);
  };
  const listener = createServer((client) => {
    track(client);
    client.setNoDelay(true);
    client.once('data', (first) => {
      const wants = first.length === 8 && first.readInt32BE(4) === sslRequest;
      const answer = (): void => {
        if (!wants) {
          client.destroy();
          return;
        }
        client.write('S');
        enter(client);
      };
      if (isCut) held.push(answer);
      else answer();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    setCut: (cut) => {
      isCut = cut;
      if (!cut) for (const one of held.splice(0)) one();
    },
    close: async () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
      await once(listener, 'close');
    },
  };
}
