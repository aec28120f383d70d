import type { X509Certificate } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { describeError, NamedFailure } from './failure.ts';
import { readChain } from './issuer-chain.ts';
import { settleSocket } from './settle-socket.ts';

/** Whom a handshake is with. */
export type TlsTarget = { host: string; port: number };
/** How long it may take, and who may break it off. */
export type TlsLimits = { timeoutMs: number; signal: AbortSignal };

const MAX_SESSIONS = 1000;
// OpenSSL's words for a chain that ends before a root: of the leaf alone, of more than it, and of a known intermediate.
const UNKNOWN_ISSUER =
  /^\S+ (?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\b/;

/** Whether a handshake failed for want of a certificate between the site's and a trusted root. */
export function isUnknownIssuer({ failure }: NamedFailure): boolean {
  return failure.kind === 'tls' && UNKNOWN_ISSUER.test(failure.detail);
}

/** Whether a handshake failed by what certificates say, and not by a connection that broke or fell silent. */
export function isRefusal({ failure }: NamedFailure): boolean {
  return failure.kind === 'tls' && !/\bE(?:CONNRESET|TIMEDOUT|PIPE)\b/.test(failure.detail);
}

/** Makes connections secure; what it hands out, Node has verified from the name to a trusted root. */
export class TlsUpgrade {
  private readonly context: SecureContext;
  private readonly sessions = new Map<string, Buffer>();

  constructor(ca: string | undefined) {
    // One context for all: building one per connection re-reads the root store each time.
    this.context = createSecureContext(ca === undefined ? {} : { ca: [...rootCertificates, ca] });
  }

  /** The secure connection; `context` in place of the one for all, for sites that leave certificates out. */
  async run(
    socket: Socket,
    target: TlsTarget,
    { timeoutMs, signal, context }: TlsLimits & { context?: SecureContext | undefined },
  ): Promise<TLSSocket> {
    const key = `${target.host}:${target.port}`;
    const session = this.sessions.get(key);
    const secure = connectTls({
      ...optionsFor(socket, target),
      ...(session === undefined ? {} : { session }),
      secureContext: context ?? this.context,
    });
    secure.on('session', (fresh: Buffer) => this.remember(key, fresh));
    try {
      await settleSocket(secure, 'secureConnect', timeoutMs, signal);
      return secure;
    } catch (error) {
      this.sessions.delete(key);
      socket.destroy();
      if (error instanceof NamedFailure) throw error;
      throw new NamedFailure('tls', `${target.host} ${describeError(error)}`);
    }
  }

  /**
   * The certificates a site sends. The only handshake that is not broken off at a chain that cannot be verified, since
   * nothing can be read of one that is: so its connection ends here, carries no request and leaves no session behind.
   */
  async look(
    socket: Socket,
    target: TlsTarget,
    { timeoutMs, signal }: TlsLimits,
  ): Promise<{ chain: X509Certificate[] } | { mismatch: string }> {
    const secure = connectTls({
      ...optionsFor(socket, target),
      secureContext: this.context,
      rejectUnauthorized: false,
    });
    try {
      await settleSocket(secure, 'secureConnect', timeoutMs, signal);
      const leaf = secure.getPeerCertificate(true);
      const mismatch = checkServerIdentity(target.host, leaf);
      return mismatch === undefined ? { chain: readChain(leaf) } : { mismatch: describeError(mismatch) };
    } catch (error) {
      if (error instanceof NamedFailure) throw error;
      throw new NamedFailure('tls', `${target.host} ${describeError(error)}`);
    } finally {
      secure.destroy();
      socket.destroy();
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

function optionsFor(socket: Socket, { host }: TlsTarget): ConnectionOptions {
  return {
    socket,
    // Server names are names (RFC 6066 section 3); for a literal the certificate is checked against `host`.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    host,
    ALPNProtocols: ['http/1.1'],
  };
}
