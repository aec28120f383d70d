import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type AddressGuard, isSameAddress } from './address-guard.ts';
import { describeError, NamedFailure } from './failure.ts';
import type { ChainSender, MissingIssuers } from './missing-issuers.ts';
import { openTunnel, type ProxyServer } from './proxies/index.ts';
import { settleSocket } from './settle-socket.ts';
import { isRefusal, isUnknownIssuer, TlsUpgrade } from './tls-upgrade.ts';

/** A checked place to connect to: addresses the guard has passed, the port of the connection, the name for TLS. */
export type DialTarget = {
  addresses: readonly string[];
  port: number;
  secure: boolean;
  /** The URL's host without brackets and trailing dot. */
  host: string;
  /** Goes there through this proxy, which is given the checked address and never the name. */
  proxy: ProxyServer | null;
  /** The registrable domain on whose account missing issuers are looked for; null looks for none. */
  issuersFor: string | null;
};

/** Opens connections to checked addresses; failures are `NamedFailure`s. */
export type Dialler = (target: DialTarget, signal: AbortSignal) => Promise<Socket>;

/** What a dialler needs. */
export type DiallerOptions = {
  guard: AddressGuard;
  connectTimeoutMs: number;
  localAddress?: string | undefined;
  ca?: string | undefined;
  issuers: MissingIssuers;
};

// With another address to try, a silent one gets this long; the last one gets what is left of the whole time.
const FIRST_TRIES_MS = 3000;
const MAX_TRIES = 4;

type TcpOptions = { address: string; port: number; timeoutMs: number; localAddress?: string | undefined };

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
    await settleSocket(socket, 'connect', options.timeoutMs, signal);
    return socket;
  } catch (error) {
    if (error instanceof NamedFailure) throw error;
    throw new NamedFailure('connect', `${options.address}:${options.port} ${describeError(error)}`);
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

function senderOf({ host, port, proxy, issuersFor }: DialTarget): ChainSender | null {
  if (issuersFor === null) return null;
  const way = proxy === null ? '' : ` via ${proxy.key}`;
  return { key: `${host}:${port}${way}`, domain: issuersFor, via: proxy };
}

/** What others may be waiting for too is not broken off with one who waits. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new NamedFailure('aborted', 'connection attempt given up'));
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
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
        const socket = await this.open(target, address, until, signal);
        if (!target.secure) return socket;
        return await this.secure(socket, { target, address, deadline }, signal);
      } catch (error) {
        // Only a connection that did not come about is worth trying elsewhere.
        if (!(error instanceof NamedFailure) || error.failure.kind !== 'connect') throw error;
        last = error;
      }
      if (performance.now() >= deadline) break;
    }
    throw last;
  }

  private open(target: DialTarget, address: string, until: number, signal: AbortSignal): Promise<Socket> {
    return target.proxy === null
      ? this.reach(address, target.port, until, signal)
      : this.reachThrough(target.proxy, { address, port: target.port }, until, signal);
  }

  private async secure(
    socket: Socket,
    to: { target: DialTarget; address: string; deadline: number },
    signal: AbortSignal,
  ): Promise<Socket> {
    const { target, address, deadline } = to;
    const { issuers } = this.options;
    const sender = senderOf(target);
    const context = sender === null ? undefined : issuers.contextOf(sender);
    try {
      return await this.tls.run(socket, target, { timeoutMs: msUntil(deadline), signal, context });
    } catch (error) {
      if (!(error instanceof NamedFailure) || !isRefusal(error) || sender === null) throw error;
      if (context !== undefined) issuers.forget(sender);
      if (!isUnknownIssuer(error)) throw error;
      const why = await this.repair(sender, { target, address }, signal);
      if (why === 'repaired') return this.again(sender, { target, address }, signal);
      throw why === null ? error : new NamedFailure('tls', `${error.failure.detail}; ${why}`);
    }
  }

  /** Looks for what the chain lacks; otherwise the reason why it could not be had, if there is one to tell. */
  private async repair(
    sender: ChainSender,
    { target, address }: { target: DialTarget; address: string },
    signal: AbortSignal,
  ): Promise<'repaired' | string | null> {
    const { issuers, connectTimeoutMs } = this.options;
    const refusal = issuers.refusalOf(sender);
    if (refusal !== undefined) return refusal;
    // The first handshake is over and refused; these are further connections, with the time of one each.
    const until = performance.now() + connectTimeoutMs;
    const socket = await this.open(target, address, until, signal);
    const seen = await this.tls.look(socket, target, { timeoutMs: msUntil(until), signal });
    if ('mismatch' in seen) {
      // No issuer would mend it.
      issuers.giveUp(sender, seen.mismatch);
      return seen.mismatch;
    }
    const search = await orAborted(issuers.find(sender, seen.chain), signal);
    return search.outcome === 'found' ? 'repaired' : search.why;
  }

  /** The second and last handshake: OpenSSL itself judges the chain with what was found, from the leaf to a root. */
  private async again(
    sender: ChainSender,
    { target, address }: { target: DialTarget; address: string },
    signal: AbortSignal,
  ): Promise<Socket> {
    const { issuers, connectTimeoutMs } = this.options;
    const until = performance.now() + connectTimeoutMs;
    const socket = await this.open(target, address, until, signal);
    const context = issuers.contextOf(sender);
    try {
      return await this.tls.run(socket, target, { timeoutMs: msUntil(until), signal, context });
    } catch (error) {
      if (error instanceof NamedFailure && isRefusal(error)) issuers.giveUp(sender, null);
      throw error;
    }
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
      if (proxy.kind === 'https')
        socket = await this.tls.run(socket, proxy, { timeoutMs: msUntil(until), signal });
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
