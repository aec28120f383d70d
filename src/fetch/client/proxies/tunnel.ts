import { isIP, isIPv4, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { NamedFailure } from '../failure.ts';
import { readBytes } from '../read-bytes.ts';
import type { ProxyServer } from './proxy-choice.ts';

const MAX_REPLY_BYTES = 8192;
// RFC 1928 section 6: these say that the target, not the proxy, is the trouble.
const TARGET_TROUBLE = new Map([
  [3, 'network unreachable'],
  [4, 'host unreachable'],
  [5, 'connection refused'],
  [6, 'TTL expired'],
]);

function broken(detail: string): NamedFailure {
  return new NamedFailure('proxy', detail);
}

/** Exactly so many bytes: reading more would take bytes that belong to the target. */
async function readExactly(socket: Socket, count: number): Promise<Buffer> {
  const bytes = await readBytes(socket, count);
  if (bytes.length === count) return bytes;
  throw socket.errored instanceof NamedFailure ? socket.errored : broken('the proxy closed the connection');
}

async function readHead(socket: Socket): Promise<string> {
  let head = '';
  while (!head.endsWith('\r\n\r\n')) {
    if (head.length >= MAX_REPLY_BYTES) throw broken('the proxy answers too much');
    head += (await readExactly(socket, 1)).toString('latin1');
  }
  return head;
}

async function connectHttp(socket: Socket, proxy: ProxyServer, address: string, port: number): Promise<void> {
  const authority = `${isIPv4(address) ? address : `[${address}]`}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (proxy.credentials !== null) {
    const { user, password } = proxy.credentials;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(await readHead(socket))?.[1] ?? 0);
  if (status >= 200 && status < 300) return;
  if (status === 502 || status === 503 || status === 504)
    throw new NamedFailure('connect', `the proxy could not reach ${authority} (${status})`);
  throw broken(
    status === 0 ? 'the proxy does not answer in HTTP' : `the proxy answered ${status} to CONNECT`,
  );
}

async function authenticateSocks(socket: Socket, proxy: ProxyServer): Promise<void> {
  const { credentials } = proxy;
  socket.write(Buffer.from(credentials === null ? [5, 1, 0] : [5, 2, 0, 2]));
  const [version, method] = await readExactly(socket, 2);
  if (version !== 5) throw broken('the proxy does not speak SOCKS5');
  if (method === 0) return;
  if (method !== 2 || credentials === null) throw broken('the proxy wants another way of signing in');
  // RFC 1929; both fields have a length byte.
  const user = Buffer.from(credentials.user).subarray(0, 255);
  const password = Buffer.from(credentials.password).subarray(0, 255);
  socket.write(
    Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]),
  );
  const [, result] = await readExactly(socket, 2);
  if (result !== 0) throw broken('the proxy refused the credentials');
}

async function connectSocks(
  socket: Socket,
  proxy: ProxyServer,
  address: string,
  port: number,
): Promise<void> {
  await authenticateSocks(socket, proxy);
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  const request = [
    Buffer.from([5, 1, 0, isIP(address) === 4 ? 1 : 4]),
    bytes,
    Buffer.from([port >> 8, port & 0xff]),
  ];
  socket.write(Buffer.concat(request));
  const [version, reply = 1, , kind] = await readExactly(socket, 4);
  if (version !== 5) throw broken('the proxy does not speak SOCKS5');
  const trouble = TARGET_TROUBLE.get(reply);
  if (trouble !== undefined)
    throw new NamedFailure('connect', `the proxy could not reach ${address}:${port} (${trouble})`);
  if (reply !== 0) throw broken(`the proxy refused the connection (reply ${reply})`);
  // The bound address follows and is of no use, but has to be read.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await readExactly(socket, 1))[0] ?? 0);
  await readExactly(socket, length + 2);
}

/**
 * Makes a connected proxy lead to an address. Plain http goes through CONNECT as well: a forwarding proxy given an
 * address in the request line must rewrite Host to it (RFC 9112 section 3.2.2), and the site would not be found.
 */
export async function openTunnel(
  socket: Socket,
  target: { proxy: ProxyServer; address: string; port: number },
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const { proxy, address, port } = target;
  const timer = setTimeout(
    () => socket.destroy(broken('the proxy did not answer in time')),
    limits.timeoutMs,
  );
  const onAbort = (): void => void socket.destroy(new NamedFailure('aborted', 'connection attempt given up'));
  limits.signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (proxy.kind === 'socks5') await connectSocks(socket, proxy, address, port);
    else await connectHttp(socket, proxy, address, port);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', onAbort);
  }
}
