import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dialler, DialTarget } from './dial.ts';
import { NamedFailure } from './failure.ts';

/** One connection to one origin; undici's client parses and keeps it alive, this adds what it hides. */
export type Connection = {
  /** What it may be reused for: the origin, and the proxy if there is one. */
  readonly key: string;
  readonly client: Client;
  /** Requests sent over the present socket before this one: 0 means it was opened for this request. */
  served: number;
  remoteAddress: string | null;
  /** Where the next dial leads; checked addresses only. */
  target: DialTarget;
};

/** Settings of the pool. */
export type PoolOptions = {
  dial: Dialler;
  maxConnections: number;
  keepAliveMs: number;
  maxHeaderBytes: number;
};

/** Idle connections by origin, and the count of all. */
export type ConnectionPool = {
  /** An idle connection of this origin, or a new one (dialled when used). */
  take(origin: string, target: DialTarget): Connection;
  /** Ends the idle connections of an origin. */
  forget(origin: string, target: DialTarget): void;
  /** Gives it back, or destroys it when it must not be used again. */
  release(connection: Connection, reusable: boolean): void;
  stats(): { open: number; idle: number; opened: number; reused: number };
  close(): Promise<void>;
};

function keyOf(origin: string, { proxy }: DialTarget): string {
  return proxy === null ? origin : `${origin} via ${proxy.key}`;
}

class Pooled implements Connection {
  readonly key: string;
  readonly client: Client;
  served = 0;
  remoteAddress: string | null = null;
  target: DialTarget;
  idle = false;
  readonly dialling = new AbortController();

  constructor(origin: string, target: DialTarget, pool: Pool) {
    this.key = keyOf(origin, target);
    this.target = target;
    this.client = new Client(origin, {
      pipelining: 1,
      maxHeaderSize: pool.options.maxHeaderBytes,
      keepAliveTimeout: pool.options.keepAliveMs,
      keepAliveMaxTimeout: pool.options.keepAliveMs,
      // Both off: undici's are idle timers with a resolution of about a second; the exchange has its own deadlines.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        pool.options.dial(this.target, this.dialling.signal).then(
          (socket) => {
            this.opened(socket, pool);
            callback(null, socket);
          },
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
    });
    // The server or the keep-alive timer ended it. In use, the exchange hears of it by its own error, or undici
    // dials again for a request it has not written yet.
    this.client.on('disconnect', () => {
      if (this.idle) pool.drop(this);
    });
  }

  private opened(socket: Socket, pool: Pool): void {
    this.served = 0;
    this.remoteAddress = socket.remoteAddress ?? null;
    pool.countOpened();
  }
}

class Pool implements ConnectionPool {
  readonly options: PoolOptions;
  private readonly all = new Set<Pooled>();
  /** Oldest first (insertion order): the first to go when room is needed. */
  private readonly idle = new Set<Pooled>();
  private readonly idleByKey = new Map<string, Pooled[]>();
  private openedCount = 0;
  private reusedCount = 0;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  take(origin: string, target: DialTarget): Connection {
    // The last one used is the least likely to have been closed by the server.
    const known = this.idleByKey.get(keyOf(origin, target))?.at(-1);
    if (known !== undefined) {
      this.unidle(known);
      known.target = target;
      known.served += 1;
      this.reusedCount += 1;
      return known;
    }
    for (const oldest of this.idle) {
      if (this.all.size < this.options.maxConnections) break;
      this.drop(oldest);
    }
    const connection = new Pooled(origin, target, this);
    this.all.add(connection);
    return connection;
  }

  release(connection: Connection, reusable: boolean): void {
    const pooled = connection as Pooled;
    if (!reusable || pooled.client.destroyed) {
      this.drop(pooled);
      return;
    }
    pooled.idle = true;
    this.idle.add(pooled);
    const list = this.idleByKey.get(pooled.key);
    if (list === undefined) this.idleByKey.set(pooled.key, [pooled]);
    else list.push(pooled);
  }

  forget(origin: string, target: DialTarget): void {
    for (const pooled of [...(this.idleByKey.get(keyOf(origin, target)) ?? [])]) this.drop(pooled);
  }

  drop(pooled: Pooled): void {
    this.unidle(pooled);
    if (!this.all.delete(pooled)) return;
    pooled.dialling.abort();
    void pooled.client.destroy(new NamedFailure('aborted', 'connection given up'));
  }

  countOpened(): void {
    this.openedCount += 1;
  }

  stats(): { open: number; idle: number; opened: number; reused: number } {
    return {
      open: this.all.size,
      idle: this.idle.size,
      opened: this.openedCount,
      reused: this.reusedCount,
    };
  }

  async close(): Promise<void> {
    const clients = [...this.all].map((pooled) => pooled.client);
    for (const pooled of [...this.all]) this.drop(pooled);
    await Promise.all(clients.map((client) => client.destroy()));
  }

  private unidle(pooled: Pooled): void {
    if (!pooled.idle) return;
    pooled.idle = false;
    this.idle.delete(pooled);
    const list = this.idleByKey.get(pooled.key);
    const place = list?.indexOf(pooled) ?? -1;
    if (place >= 0) list?.splice(place, 1);
    if (list?.length === 0) this.idleByKey.delete(pooled.key);
  }
}

/** Builds the pool. Connections are reused for their own origin only, so the guard's verdict on them holds. */
export function createConnectionPool(options: PoolOptions): ConnectionPool {
  return new Pool(options);
}
