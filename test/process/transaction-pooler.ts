import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What went through a pooler. */
export type PoolerCounts = {
  clients: number;
  transactions: number;
  /** Transactions that ran on another server connection than the client's last. */
  moved: number;
  refusedStarts: number;
  /** What only means something to a session: it would have been left on a connection that others get. */
  sessionStatements: string[];
};

/** A stand-in for PgBouncer in transaction mode. */
export type TransactionPooler = {
  port: number;
  counts: PoolerCounts;
  close(): Promise<void>;
};

type Message = { type: string; frame: Buffer };

/** Cuts a stream into messages of the PostgreSQL protocol; the first of a client has no type. */
class Frames {
  #rest: Buffer = Buffer.alloc(0);
  #untyped: boolean;

  constructor(untyped: boolean) {
    this.#untyped = untyped;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
  }

  /** From now on messages have a type. */
  typed(): void {
    this.#untyped = false;
  }

  next(): Message | undefined {
    const head = this.#untyped ? 0 : 1;
    if (this.#rest.length < head + 4) return undefined;
    const length = head + this.#rest.readInt32BE(head);
    if (this.#rest.length < length) return undefined;
    const frame = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return { type: this.#untyped ? '' : String.fromCharCode(frame[0]!), frame };
  }
}

type Server = {
  socket: Socket;
  settings: Buffer[];
  client: Client | null;
};

type Client = {
  socket: Socket;
  start: Map<string, string>;
  server: Server | null;
  last: Server | null;
  waiting: Buffer[];
  /** Queries and syncs whose ReadyForQuery has not come. */
  open: number;
  /** Something was sent that needs a sync first. */
  unsynced: boolean;
};

// What PgBouncer follows for its clients; everything else at the start it refuses.
const known = new Set([
  'user',
  'database',
  'client_encoding',
  'application_name',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]);

const ofSession =
  /^\s*(LISTEN|UNLISTEN|PREPARE|SET\s+(?!LOCAL\b)|CREATE\s+TEMP|SELECT\s+pg_(try_)?advisory_lock|DECLARE\s.*WITH HOLD)/i;

const messageOf = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ready = messageOf('Z', Buffer.from('I'));

function fatal(message: string): Buffer {
  return messageOf('E', Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`));
}

function startMessage(start: Map<string, string>): Buffer {
  const pairs = [...start].flat().join('\0');
  const body = Buffer.from(`\0\0\0\0\0\x03\0\0${pairs}\0\0`, 'latin1');
  body.writeInt32BE(body.length, 0);
  return body;
}

/**
 * Gives each transaction whichever of a few server connections has rested longest, so that a client meets another at
 * nearly every one. Like PgBouncer in transaction mode it cleans nothing in between, refuses options at the start, knows
 * no prepared names, and lets a server connection go with a client that leaves in the middle. No passwords, no TLS, one
 * user of one database.
 */
export async function startTransactionPooler(options: {
  /** Directory of the server's socket. */
  socketDir: string;
  servers: number;
}): Promise<TransactionPooler> {
  const counts: PoolerCounts = {
    clients: 0,
    transactions: 0,
    moved: 0,
    refusedStarts: 0,
    sessionStatements: [],
  };
  const idle: Server[] = [];
  const queue: Client[] = [];
  const sockets = new Set<Socket>();
  let made = 0;
  let isClosing = false;

  const track = (socket: Socket): void => {
    sockets.add(socket);
    // Messages are passed on one by one: waiting for more would cost each round trip 40 ms.
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // The other side learns of it by the close that follows.
    socket.on('error', () => undefined);
  };

  const release = (server: Server): void => {
    server.client = null;
    const next = queue.shift();
    if (next === undefined) idle.push(server);
    else link(next, server);
  };

  const link = (client: Client, server: Server): void => {
    client.server = server;
    server.client = client;
    counts.transactions += 1;
    if (client.last !== null && client.last !== server) counts.moved += 1;
    client.last = server;
    for (const frame of client.waiting.splice(0)) server.socket.write(frame);
  };

  const askForServer = (client: Client): void => {
    const server = idle.shift();
    if (server !== undefined) {
      link(client, server);
      return;
    }
    queue.push(client);
    if (made < options.servers) addServer(client.start);
  };

  const addServer = (start: Map<string, string>): void => {
    made += 1;
    const socket = connect(`${options.socketDir}/.s.PGSQL.5432`);
    track(socket);
    const server: Server = { socket, settings: [], client: null };
    const frames = new Frames(false);
    let isReady = false;
    socket.write(startMessage(start));
    socket.on('data', (chunk) => {
      frames.push(chunk);
      for (let message = frames.next(); message !== undefined; message = frames.next()) {
        if (isReady) onServerMessage(server, message);
        else if (message.type === 'S') server.settings.push(message.frame);
        else if (message.type === 'Z') {
          isReady = true;
          release(server);
        } else if (message.type === 'E') socket.destroy();
      }
    });
    socket.on('close', () => {
      made -= 1;
      if (idle.includes(server)) idle.splice(idle.indexOf(server), 1);
      server.client?.socket.destroy();
      // Whoever waited for it gets another.
      const waiting = queue[0];
      if (waiting !== undefined && made < options.servers && !isClosing) addServer(waiting.start);
    });
  };

  const onServerMessage = (server: Server, { type, frame }: Message): void => {
    const { client } = server;
    // A notification for nobody, or settings that changed while nobody had it.
    if (client === null) return;
    client.socket.write(frame);
    if (type !== 'Z') return;
    client.open -= 1;
    if (client.open > 0 || client.unsynced || frame[5] !== 0x49) return;
    client.server = null;
    release(server);
  };

  const onStart = (client: Client, frame: Buffer): void => {
    const parts = frame.subarray(8).toString('utf8').split('\0');
    for (let at = 0; at + 1 < parts.length && parts[at] !== ''; at += 2)
      client.start.set(parts[at]!, parts[at + 1]!);
    const strange = [...client.start.keys()].find((name) => !known.has(name.toLowerCase()));
    if (strange !== undefined) {
      counts.refusedStarts += 1;
      client.socket.end(fatal(`unsupported startup parameter: ${strange}`));
      return;
    }
    counts.clients += 1;
    const key = Buffer.alloc(8);
    key.writeInt32BE(randomInt(2 ** 22, 2 ** 31 - 1), 0);
    client.socket.write(
      Buffer.concat([
        messageOf('R', Buffer.alloc(4)),
        messageOf('S', Buffer.from('server_encoding\0UTF8\0')),
        messageOf('S', Buffer.from('client_encoding\0UTF8\0')),
        messageOf('S', Buffer.from('standard_conforming_strings\0on\0')),
        messageOf('K', key),
        ready,
      ]),
    );
  };

  const onClientMessage = (client: Client, { type, frame }: Message): void => {
    if (type === 'X') {
      client.socket.end();
      return;
    }
    if (type === 'Q' || type === 'P') {
      const text = frame.subarray(5).toString('utf8');
      const name = type === 'P' ? text.slice(0, text.indexOf('\0')) : '';
      const sql = type === 'P' ? text.slice(name.length + 1) : text;
      const isOfSession = name !== '' || sql.split(';').some((one) => ofSession.test(one));
      if (isOfSession) counts.sessionStatements.push(`${name} ${sql}`.slice(0, 200));
    }
    if (type === 'Q' || type === 'S' || type === 'F') {
      client.open += 1;
      client.unsynced = false;
    } else if ('PBDECH'.includes(type)) client.unsynced = true;
    if (client.server !== null) {
      client.server.socket.write(frame);
      return;
    }
    client.waiting.push(frame);
    if (client.waiting.length === 1) askForServer(client);
  };

  const listener = createServer((socket) => {
    track(socket);
    const client: Client = {
      socket,
      start: new Map(),
      server: null,
      last: null,
      waiting: [],
      open: 0,
      unsynced: false,
    };
    const frames = new Frames(true);
    socket.on('data', (chunk) => {
      frames.push(chunk);
      for (let message = frames.next(); message !== undefined; message = frames.next()) {
        if (message.type !== '') {
          onClientMessage(client, message);
          continue;
        }
        const code = message.frame.readInt32BE(4);
        if (code === 80877103 || code === 80877104) socket.write('N');
        else if (code === 80877102) socket.destroy();
        else {
          frames.typed();
          onStart(client, message.frame);
        }
      }
    });
    socket.on('close', () => {
      if (queue.includes(client)) queue.splice(queue.indexOf(client), 1);
      // In the middle of something: its transaction must not be inherited.
      client.server?.socket.destroy();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    counts,
    close: async () => {
      isClosing = true;
      listener.close();
      for (const socket of sockets) socket.destroy();
      await once(listener, 'close');
    },
  };
}
