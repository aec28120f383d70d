import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a database that can go silent, as a network that swallows everything does. */
export type FrozenProxy = {
  /** The address of the same database by this way. */
  url: string;
  /** Takes connections and passes nothing on, in either direction, from now on. */
  freeze(): void;
  close(): Promise<void>;
};

/** Listens on a free port of loopback and passes everything on to the server of a database. */
export async function startFrozenProxy(databaseUrl: string): Promise<FrozenProxy> {
  const target = new URL(databaseUrl);
  const directory = target.searchParams.get('host');
  const dial = (): Socket =>
    directory === null
      ? connect(Number(target.port || 5432), target.hostname)
      : connect(`${directory}/.s.PGSQL.${target.port || 5432}`);
  const open = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    if (isFrozen) {
      client.pause();
      return;
    }
    const upstream = dial();
    open.add(upstream);
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.on('data', (bytes) => !isFrozen && upstream.write(bytes));
    upstream.on('data', (bytes) => !isFrozen && client.write(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(databaseUrl);
  own.searchParams.delete('host');
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    freeze: () => {
      isFrozen = true;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
