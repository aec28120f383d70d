import { AppError, EXIT } from '../../../errors/index.ts';

/** One proxy of the settings. */
export type ProxyServer = {
  /** Its address without credentials: a key, and safe to show. */
  key: string;
  kind: 'http' | 'https' | 'socks5';
  host: string;
  port: number;
  credentials: { user: string; password: string } | null;
};

/** What a request goes through: a proxy, nothing, or nothing usable. */
export type ProxyChoice = { via: 'direct' } | { via: 'proxy'; proxy: ProxyServer } | { via: 'none_healthy' };

/** Chooses proxies and remembers which ones failed. */
export type ProxyChooser = {
  /** The proxy for a domain out of this list (the global one unless given; an empty list means direct). */
  choose(domain: string, list?: readonly string[]): ProxyChoice;
  /** A connection error: the proxy rests for 5 minutes. */
  rest(proxy: ProxyServer): void;
};

const STICKY_MS = 10 * 60 * 1000;
const REST_MS = 5 * 60 * 1000;
const MAX_STICKY = 50_000;
const DEFAULT_PORTS = { http: 80, https: 443, socks5: 1080 } as const;

/** Percent-decoding that leaves alone what is none: a password may hold a bare "%". */
function unescapeText(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

/** Reads `http://`, `https://`, `socks5://` addresses with optional credentials; throws on anything else. */
export function parseProxy(text: string): ProxyServer {
  const url = URL.canParse(text) ? new URL(text) : null;
  // socks5h asks for names to be resolved by the proxy; here they never are, so both mean the same.
  const kind = url?.protocol.replace(/h?:$/, '');
  if (url === null || url.hostname === '' || (kind !== 'http' && kind !== 'https' && kind !== 'socks5'))
    throw new AppError('proxy_invalid', 'a proxy address cannot be read', {
      exitCode: EXIT.usage,
      httpStatus: 400,
      advice: 'Write it like http://host:3128, https://user:password@host or socks5://host:1080.',
    });
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === '' ? DEFAULT_PORTS[kind] : Number(url.port);
  const credentials =
    url.username === '' ? null : { user: unescapeText(url.username), password: unescapeText(url.password) };
  return { key: `${kind}://${url.hostname}:${port}`, kind, host, port, credentials };
}

class Chooser implements ProxyChooser {
  private readonly globalList: readonly string[];
  private readonly now: () => number;
  private readonly parsed = new Map<string, ProxyServer>();
  private readonly restingUntil = new Map<string, number>();
  private readonly sticky = new Map<string, { key: string; until: number }>();
  private turn = 0;

  constructor(globalList: readonly string[], now: () => number) {
    this.globalList = globalList;
    this.now = now;
    for (const text of globalList) this.proxyOf(text);
  }

  choose(domain: string, list: readonly string[] = this.globalList): ProxyChoice {
    if (list.length === 0) return { via: 'direct' };
    const at = this.now();
    const healthy = list
      .map((text) => this.findProxy(text))
      .filter((proxy) => proxy !== null && (this.restingUntil.get(proxy.key) ?? 0) <= at) as ProxyServer[];
    const kept = this.sticky.get(domain);
    const same =
      kept !== undefined && kept.until > at ? healthy.find(({ key }) => key === kept.key) : undefined;
    if (same !== undefined) return { via: 'proxy', proxy: same };
    // Going out directly instead would show the very address the proxies are there to hide.
    if (healthy.length === 0) return { via: 'none_healthy' };
    const proxy = healthy[this.turn % healthy.length] as ProxyServer;
    this.turn = (this.turn + 1) % Number.MAX_SAFE_INTEGER;
    this.keep(domain, proxy, at);
    return { via: 'proxy', proxy };
  }

  rest(proxy: ProxyServer): void {
    this.restingUntil.set(proxy.key, this.now() + REST_MS);
  }

  /** A source's list is not checked at start: an entry that cannot be read serves nobody and throws nothing. */
  private findProxy(text: string): ProxyServer | null {
    try {
      return this.proxyOf(text);
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  private proxyOf(text: string): ProxyServer {
    let proxy = this.parsed.get(text);
    if (proxy === undefined) {
      proxy = parseProxy(text);
      this.parsed.set(text, proxy);
    }
    return proxy;
  }

  private keep(domain: string, proxy: ProxyServer, at: number): void {
    this.sticky.delete(domain);
    for (const oldest of this.sticky.keys()) {
      if (this.sticky.size < MAX_STICKY) break;
      this.sticky.delete(oldest);
    }
    this.sticky.set(domain, { key: proxy.key, until: at + STICKY_MS });
  }
}

/** Builds the chooser; a domain keeps its proxy for 10 minutes, new ones go round. */
export function createProxyChooser(
  proxies: readonly string[],
  now: () => number = () => performance.now(),
): ProxyChooser {
  return new Chooser(proxies, now);
}
