import dns from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { messageOf } from '../../errors/index.ts';
import { type HostsTable, parseHostsFile } from './hosts-table.ts';

/** What a name led to; a failure's detail starts with the DNS code. */
export type Resolution =
  | { outcome: 'resolved'; addresses: readonly string[] }
  | { outcome: 'failed'; detail: string };

/** A cache in front of a resolver. */
export type NameResolver = {
  /** A promise only when the answer is not at hand. */
  resolve(host: string): Resolution | Promise<Resolution>;
  /** Drops an answer that led nowhere, so that the next try asks again. */
  forget(host: string): void;
  size(): number;
  close(): void;
};

/** Limits of the cache and of the lookups behind it. */
export type NameResolverOptions = {
  lookup?: ((host: string) => Promise<string[]>) | undefined;
  localAddress?: string | undefined;
  ttlMs?: number;
  negativeTtlMs?: number;
  maxEntries?: number;
  maxConcurrent?: number;
  timeoutMs?: number;
  now?: () => number;
};

type Entry = { resolution: Resolution; expiresAt: number };
type SystemLookup = { lookup: (host: string) => Promise<string[]>; cancel: () => void };

// More addresses than any honest site publishes for one name.
const MAX_ADDRESSES = 16;
// "No such record" and "no such name" are answers; anything else is a fault of the way there.
const NO_RECORD = new Set(['ENODATA', 'ENOTFOUND']);

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'EUNKNOWN';
}

/** IPv4 first unless this machine can only speak IPv6: one query per name instead of two. */
function familyOrder(localAddress: string | undefined): readonly [4 | 6, 4 | 6] {
  if (localAddress !== undefined) return isIPv6(localAddress) ? [6, 4] : [4, 6];
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = all.filter((entry) => !entry.internal);
  const onlyV6 = outside.length > 0 && outside.every((entry) => entry.family === 'IPv6');
  return onlyV6 ? [6, 4] : [4, 6];
}

async function loadSystemHosts(): Promise<HostsTable> {
  try {
    return parseHostsFile(await readFile('/etc/hosts', 'utf8'));
  } catch (error) {
    // Not every system has one, and DNS answers without it.
    if (codeOf(error) === 'EUNKNOWN') throw error;
    return new Map();
  }
}

/**
 * DNS over c-ares, with the system's hosts file first. Not `dns.lookup`: getaddrinfo occupies one of libuv's four
 * threads for as long as a dead name server keeps it, and four such names stop zlib and file access of the process.
 */
function createSystemLookup(localAddress: string | undefined): SystemLookup {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  // A resolver of one's own starts with the system's servers; servers chosen for the process must not be passed over.
  // Asked through the default export: dns.setServers replaces the functions, and a named import keeps the old one.
  const servers = dns.getServers();
  if (servers.join() !== resolver.getServers().join()) resolver.setServers(servers);
  const order = familyOrder(localAddress);
  let hosts: Promise<HostsTable> | null = null;
  return {
    async lookup(host) {
      hosts ??= loadSystemHosts();
      const known = (await hosts).get(host);
      if (known !== undefined) return [known.address];
      // RFC 6761 section 6.3: such names never leave the machine.
      if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1'];
      try {
        return await (order[0] === 4 ? resolver.resolve4(host) : resolver.resolve6(host));
      } catch (error) {
        if (!NO_RECORD.has(codeOf(error))) throw error;
        return await (order[1] === 4 ? resolver.resolve4(host) : resolver.resolve6(host));
      }
    },
    cancel: () => resolver.cancel(),
  };
}

class CachedResolver implements NameResolver {
  private readonly options: Required<Omit<NameResolverOptions, 'lookup' | 'localAddress'>>;
  private readonly lookup: (host: string) => Promise<string[]>;
  private readonly cancel: () => void;
  private readonly entries = new Map<string, Entry>();
  private readonly pending = new Map<string, Promise<Resolution>>();
  private readonly queue: (() => void)[] = [];
  private running = 0;

  constructor(options: NameResolverOptions) {
    this.options = {
      ttlMs: options.ttlMs ?? 60_000,
      negativeTtlMs: options.negativeTtlMs ?? 10_000,
      maxEntries: options.maxEntries ?? 10_000,
      maxConcurrent: options.maxConcurrent ?? 64,
      timeoutMs: options.timeoutMs ?? 10_000,
      now: options.now ?? (() => performance.now()),
    };
    const system = options.lookup === undefined ? createSystemLookup(options.localAddress) : null;
    this.lookup = options.lookup ?? system?.lookup ?? (() => Promise.resolve([]));
    this.cancel = () => system?.cancel();
  }

  resolve(host: string): Resolution | Promise<Resolution> {
    const entry = this.entries.get(host);
    if (entry !== undefined && entry.expiresAt > this.options.now()) return entry.resolution;
    let pending = this.pending.get(host);
    if (pending === undefined) {
      pending = this.ask(host);
      this.pending.set(host, pending);
    }
    return pending;
  }

  forget(host: string): void {
    this.entries.delete(host);
  }

  size(): number {
    return this.entries.size;
  }

  close(): void {
    this.entries.clear();
    this.cancel();
  }

  private async ask(host: string): Promise<Resolution> {
    if (this.running >= this.options.maxConcurrent)
      await new Promise<void>((resolve) => this.queue.push(resolve));
    this.running += 1;
    const resolution = await this.askNow(host);
    this.running -= 1;
    this.queue.shift()?.();
    this.pending.delete(host);
    this.remember(host, resolution);
    return resolution;
  }

  private async askNow(host: string): Promise<Resolution> {
    const { timeoutMs } = this.options;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), timeoutMs);
    });
    try {
      const answer = await Promise.race([this.lookup(host), late]);
      if (answer === null)
        return { outcome: 'failed', detail: `ETIMEOUT: no answer for ${host} within ${timeoutMs} ms` };
      const addresses = answer.filter((address) => isIP(address) !== 0).slice(0, MAX_ADDRESSES);
      if (addresses.length === 0) return { outcome: 'failed', detail: `ENODATA: ${host} has no address` };
      return { outcome: 'resolved', addresses };
    } catch (error) {
      return { outcome: 'failed', detail: `${codeOf(error)}: ${messageOf(error)}`.slice(0, 300) };
    } finally {
      clearTimeout(timer);
    }
  }

  private remember(host: string, resolution: Resolution): void {
    const { now, ttlMs, negativeTtlMs, maxEntries } = this.options;
    this.entries.delete(host);
    // Oldest first: a Map keeps the order of insertion, and every answer is inserted anew.
    for (const oldest of this.entries.keys()) {
      if (this.entries.size < maxEntries) break;
      this.entries.delete(oldest);
    }
    const keepMs = resolution.outcome === 'resolved' ? ttlMs : negativeTtlMs;
    this.entries.set(host, { resolution, expiresAt: now() + keepMs });
  }
}

/** Builds the resolver: bounded cache, coalesced and bounded lookups, a limit on each. */
export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  return new CachedResolver(options);
}
