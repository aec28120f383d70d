import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { type AddressGuard, isSameAddress } from './address-guard.ts';
import { describeError, NamedFailure } from './failure.ts';
import { openTunnel, type ProxyServer } from './proxies/index.ts';

/** A checked place to connect to: addresses the guard has passed, the port of the connection, the name for TLS. */
export type DialTarget = {
  addresses: readonly string[];
  port: number;
  secure: boolean;
  /** The URL's host without brackets and trailing dot. */
  host: string;
  /** Goes there through this proxy, which is given the checked address and never the name. */
  proxy: ProxyServer | null;
};

/** Opens connections to checked addresses; failures are `NamedFailure`s. */
export type Dialler = (target: DialTarget, signal: AbortSignal) => Promise<Socket>;

/** What a dialler needs. */
export type DiallerOptions = {
  guard: AddressGuard;
  connectTimeoutMs: number;
  localAddress?: string | undefined;
  ca?: string | undefined;
};

// With another address to try, a silent one gets this long; the last one gets what is left of the whole time.
const FIRST_TRIES_MS = 3000;
const MAX_TRIES = 4;
const MAX_SESSIONS = 1000;

type TcpOptions = { address: string; port: number; timeoutMs: number; localAddress?: string | undefined };

const ignoreLateError = (): void => undefined;

/** Runs until `event`, an error, the abort or the limit; the socket is destroyed unless the event came. */
function settle(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error: Error | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onEvent);
      socket.off('close', onClose);
      socket.off('error', finish);
      if (error === null) {
        resolve();
        return;
      }
      socket.destroy();
      reject(error);
    };
    const onEvent = (): void => finish(null);
    const onClose = (): void => finish(Object.assign(new Error('connection closed'), { code: 'ECONNRESET' }));
    const onAbort = (): void => finish(new NamedFailure('aborted', 'connection attempt given up'));
    const timer = setTimeout(
      () => finish(Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })),
      timeoutMs,
    );
    // Stays: an error between two owners, or after our own destroy, would otherwise be thrown by Node.
    socket.on('error', ignoreLateError);
    socket.once(event, onEvent);
    socket.once('error', finish);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

async function openTcp(options: TcpOptions, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    host: options.address,
    port: options.port,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
    // The address is chosen: Node must neither resolve nor race families here.
    autoSelectFamily: false,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  try {
    await settle(socket, 'connect', options.timeoutMs, signal);
    return socket;
  } catch (error) {
    if (error instanceof NamedFailure) throw error;
    throw new NamedFailure('connect', `${options.address}:${options.port} ${describeError(error)}`);
  }
}

class TlsUpgrade {
  private readonly context: SecureContext;
  private readonly sessions = new Map<string, Buffer>();

  constructor(ca: string | undefined) {
    // One context for all: building one per connection re-reads the root store each time.
    this.context = createSecureContext(ca === undefined ? {} : { ca: [...rootCertificates, ca] });
  }

  async run(
    socket: Socket,
    target: { host: string; port: number },
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<TLSSocket> {
    const key = `${target.host}:${target.port}`;
    const session = this.sessions.get(key);
    const secure = connectTls({
      socket,
      // Server names are names (RFC 6066 section 3); for a literal the certificate is checked against `host`.
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      host: target.host,
      ...(session === undefined ? {} : { session }),
      secureContext: this.context,
      ALPNProtocols: ['http/1.1'],
    });
    secure.on('session', (fresh: Buffer) => this.remember(key, fresh));
    try {
      await settle(secure, 'secureConnect', timeoutMs, signal);
      return secure;
    } catch (error) {
      this.sessions.delete(key);
      socket.destroy();
      if (error instanceof NamedFailure) throw error;
      throw new NamedFailure('tls', `${target.host} ${describeError(error)}`);
    }
  }

  private remember(key: string, session: Buffer): void {
    this.sessions.delete(key);
    for (const oldest of this.sessions.keys()) {
      if (this.sessions.size < MAX_SESSIONS) break;
      this.sessions.delete(oldest);
    }
    this.sessions.set(key, session);
  }
}

/** The peer must be the address that was checked and pass the guard itself: the last line against rebinding. */
function checkPeer(socket: Socket, address: string, port: number, guard: AddressGuard): void {
  const peer = socket.remoteAddress;
  if (peer === undefined) throw new NamedFailure('reset', `${address}:${port} closed at once`);
  const verdict = guard.check(peer, port);
  if (!verdict.allowed) throw new NamedFailure(verdict.kind, verdict.detail);
  if (!isSameAddress(peer, address))
    throw new NamedFailure('refused_address', `connected to ${peer} instead of ${address}`);
}

/** Milliseconds until a moment, at least one: a timer of zero or less would be a lie about having tried. */
function msUntil(deadline: number): number {
  return Math.max(1, Math.ceil(deadline - performance.now()));
}

class Dialling {
  private readonly options: DiallerOptions;
  private readonly tls: TlsUpgrade;
  private readonly family: number;

  constructor(options: DiallerOptions) {
    this.options = options;
    this.tls = new TlsUpgrade(options.ca);
    this.family = options.localAddress === undefined ? 0 : isIP(options.localAddress);
  }

  async dial(target: DialTarget, signal: AbortSignal): Promise<Socket> {
    const deadline = performance.now() + this.options.connectTimeoutMs;
    const candidates = target.addresses
      .filter((address) => target.proxy !== null || this.family === 0 || isIP(address) === this.family)
      .slice(0, MAX_TRIES);
    let last = new NamedFailure('connect', 'no address of the family of the local address');
    for (const [index, address] of candidates.entries()) {
      const verdict = this.options.guard.check(address, target.port);
      if (!verdict.allowed) throw new NamedFailure(verdict.kind, verdict.detail);
      const isLast = index === candidates.length - 1;
      const until = isLast ? deadline : Math.min(deadline, performance.now() + FIRST_TRIES_MS);
      try {
        const socket =
          target.proxy === null
            ? await this.reach(address, target.port, until, signal)
            : await this.reachThrough(target.proxy, { address, port: target.port }, until, signal);
        return target.secure ? await this.tls.run(socket, target, msUntil(deadline), signal) : socket;
      } catch (error) {
        // Only a connection that did not come about is worth trying elsewhere.
        if (!(error instanceof NamedFailure) || error.failure.kind !== 'connect') throw error;
        last = error;
      }
      if (performance.now() >= deadline) break;
    }
    throw last;
  }

  private async reach(address: string, port: number, until: number, signal: AbortSignal): Promise<Socket> {
    const { guard, localAddress } = this.options;
    const socket = await openTcp({ address, port, timeoutMs: msUntil(until), localAddress }, signal);
    try {
      checkPeer(socket, address, port, guard);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** The guard has passed the target; the proxy itself comes from the operator and may be private. */
  private async reachThrough(
    proxy: ProxyServer,
    to: { address: string; port: number },
    until: number,
    signal: AbortSignal,
  ): Promise<Socket> {
    const { localAddress } = this.options;
    let socket: Socket;
    try {
      const { host, port } = proxy;
      socket = await openTcp({ address: host, port, timeoutMs: msUntil(until), localAddress }, signal);
      if (proxy.kind === 'https') socket = await this.tls.run(socket, proxy, msUntil(until), signal);
    } catch (error) {
      if (error instanceof NamedFailure && error.failure.kind === 'aborted') throw error;
      throw new NamedFailure('proxy', `${proxy.key}: ${describeError(error)}`);
    }
    await openTunnel(socket, { proxy, ...to }, { timeoutMs: msUntil(until), signal });
    return socket;
  }
}

/** Builds a dialler: literal addresses only, in order, each checked before and after connecting. */
export function createDialler(options: DiallerOptions): Dialler {
  const dialling = new Dialling(options);
  return (target, signal) => dialling.dial(target, signal);
}
