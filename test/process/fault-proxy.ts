import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a PostgreSQL server on which a test can do what networks do. */
export type FaultProxy = {
  port: number;
  /** The address of the same database, by way of the proxy. */
  url: string;
  /** Connections that are open now. */
  readonly open: number;
  /** Resets every connection that is open now; new ones are taken. */
  resetAll(): void;
  /** Passes nothing on, in either direction, and leaves all sockets open; new ones are taken and hear nothing. */
  freeze(): void;
  /** As `freeze`, for the connections that are open now and for good; new ones are served. */
  freezeOpen(): void;
  thaw(): void;
  /** Resets whoever connects from now on. */
  refuse(): void;
  accept(): void;
  /**
   * Resets the first connection on which the client sends what `isMeant` names: after the server has got it and
   * answered, and before the client hears of it. Resolves when that has happened.
   */
  cutAfter(isMeant: (sent: Buffer) => boolean): Promise<void>;
  close(): Promise<void>;
};

type Pair = { client: Socket; server: Socket; isFrozen: boolean; isDoomed: boolean };
type Trap = { isMeant: (sent: Buffer) => boolean; sprung: () => void };

/** Listens on a free port of this machine and passes everything on to the server of a connection string. */
export async function startFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const target = new URL(databaseUrl);
  const host = target.searchParams.get('host') ?? target.hostname;
  const targetPort = Number(target.port || 5432);
  const pairs = new Set<Pair>();
  let isFrozen = false;
  let isRefusing = false;
  let trap: (Trap & { doomed?: Pair }) | undefined;

  const reset = ({ client, server }: Pair): void => {
    client.resetAndDestroy();
    server.destroy();
  };
  const flow = (pair: Pair): void => {
    for (const socket of [pair.client, pair.server])
      if (isFrozen || pair.isFrozen) socket.pause();
      else socket.resume();
  };
  const pass = (from: Socket, to: Socket, chunk: Buffer): void => {
    if (to.write(chunk)) return;
    from.pause();
  };

  const listener = createServer((client) => {
    if (isRefusing) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const server = host.startsWith('/')
      ? connect(`${host}/.s.PGSQL.${targetPort}`)
      : connect(targetPort, host);
    const pair: Pair = { client, server, isFrozen: false, isDoomed: false };
    pairs.add(pair);
    client.on('data', (chunk: Buffer) => {
      if (trap !== undefined && trap.doomed === undefined && trap.isMeant(chunk)) {
        trap.doomed = pair;
        pair.isDoomed = true;
      }
      pass(client, server, chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (!pair.isDoomed) return pass(server, client, chunk);
      const { sprung } = trap!;
      trap = undefined;
      reset(pair);
      sprung();
    });
    client.on('drain', () => flow(pair));
    server.on('drain', () => flow(pair));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      // A socket that was reset may complain; what counts is that its other end is gone too.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
      one.on('end', () => other.end());
    }
    flow(pair);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const ours = new URL(databaseUrl);
  ours.searchParams.delete('host');
  ours.hostname = '127.0.0.1';
  ours.port = String(port);

  return {
    port,
    url: ours.href,
    get open() {
      return pairs.size;
    },
    resetAll: () => {
      for (const pair of pairs) reset(pair);
    },
    freeze: () => {
      isFrozen = true;
      for (const pair of pairs) flow(pair);
    },
    freezeOpen: () => {
      for (const pair of pairs) {
        pair.isFrozen = true;
        flow(pair);
      }
    },
    thaw: () => {
      isFrozen = false;
      for (const pair of pairs) flow(pair);
    },
    refuse: () => {
      isRefusing = true;
    },
    accept: () => {
      isRefusing = false;
    },
    cutAfter: (isMeant) =>
      new Promise((sprung) => {
        trap = { isMeant, sprung };
      }),
    close: async () => {
      for (const pair of pairs) reset(pair);
      const closed = once(listener, 'close');
      listener.close();
      await closed;
    },
  };
}
