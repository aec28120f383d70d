import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Certificate, createCertificate } from '../../src/fetch/client/self-signed.fixture.ts';
import type { FaultDefinition } from './faults/fault.ts';
import type { Site } from './site.ts';

type Issuers = { authority: Certificate; intermediate: Certificate };
type Handshake = NonNullable<FaultDefinition['handshake']>;

/** A port that speaks both schemes: a hosts file names one port for a host, whatever the scheme. */
export interface Door {
  port: number;
  /** PEM certificate of the authority that vouches for the web's healthy hosts. */
  authority: string;
  /** The intermediate that hosts with an incomplete chain do not send, in DER; it is had at `issuerHost`. */
  intermediate: Buffer;
  close(): Promise<void>;
}

/** Where the web's certificates say that their issuer is. */
export const issuerHost = 'issuers.test';
/** Not 127.0.0.1, to which nobody may be led in some tests. */
export const issuerAddress = process.platform === 'linux' ? '127.5.255.254' : '127.0.0.1';

const handshakeRecord = 0x16;
const dayMs = 86_400_000;

/** Opens the port; each connection goes to the plain server or to its secure twin, by its first byte. */
export async function openDoor(options: {
  plain: Server;
  byHost: ReadonlyMap<string, Site>;
  port: number;
  mayEnter: (socket: Socket) => boolean;
}): Promise<Door> {
  const { plain, mayEnter } = options;
  const authority = createCertificate('authority.test', { authority: true });
  const intermediate = createCertificate('intermediate.test', { issuer: authority, authority: true });
  const contextFor = createContexts({ authority, intermediate }, options.byHost);
  const unknown = createCertificate('unknown.test');
  const secure = createSecureServer({
    key: unknown.key,
    cert: unknown.cert,
    SNICallback: (name, done) => {
      const context = contextFor(name.toLowerCase());
      if (context === 'refused') done(new Error('refused'));
      else done(null, context);
    },
    keepAliveTimeout: plain.keepAliveTimeout,
  });
  secure.on('request', (request, response) => plain.emit('request', request, response));
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  secure.on('clientError', (_error, socket) => socket.destroy());
  const sockets = new Set<Socket>();
  const door = createServer((socket) => {
    if (!mayEnter(socket)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Crawlers under test hang up in the middle; until a server has taken over, nobody else listens.
    socket.on('error', () => socket.destroy());
    socket.once('data', (first) => {
      socket.pause();
      socket.unshift(first);
      const server = first[0] === handshakeRecord ? secure : plain;
      server.emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen({ port: options.port, host: '0.0.0.0', backlog: 4_096 }, resolve);
  });
  return {
    port: (door.address() as AddressInfo).port,
    authority: authority.cert,
    intermediate: new X509Certificate(intermediate.cert).raw,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        door.close(() => resolve());
      }),
  };
}

/** Certificates by host and by what is wrong with them, made when first asked for. */
function createContexts(issuers: Issuers, byHost: ReadonlyMap<string, Site>) {
  const made = new Map<string, SecureContext>();
  return (name: string): SecureContext | 'refused' => {
    const fault = byHost.get(name)?.faults.find(({ definition }) => definition.handshake !== undefined);
    const handshake = fault?.definition.handshake;
    if (handshake === 'refused') return 'refused';
    const key = `${name} ${handshake ?? ''}`;
    let context = made.get(key);
    if (context === undefined) {
      context = createSecureContext(certificateFor(name, handshake, issuers));
      made.set(key, context);
    }
    return context;
  };
}

function certificateFor(
  name: string,
  handshake: Exclude<Handshake, 'refused'> | undefined,
  { authority, intermediate }: Issuers,
): { key: string; cert: string } {
  switch (handshake) {
    case 'untrusted':
      return createCertificate(name);
    case 'expired': {
      const notAfter = new Date(Date.now() - dayMs);
      return createCertificate(name, {
        issuer: authority,
        notBefore: new Date(notAfter.getTime() - dayMs),
        notAfter,
      });
    }
    case 'incomplete':
      return createCertificate(name, {
        issuer: intermediate,
        issuerAt: `http://${issuerHost}/intermediate.cer`,
      });
    case 'wrong-host':
      return createCertificate('somebody-else.test', { issuer: authority });
    default:
      return createCertificate(name, { issuer: authority });
  }
}
