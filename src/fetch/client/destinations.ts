import { isIP } from 'node:net';
import { getDomain } from 'tldts';
import { type AddressGuard, networkOf } from './address-guard.ts';
import type { DialTarget } from './dial.ts';
import { hostKey } from './hosts-table.ts';
import type { NameResolver, Resolution } from './name-resolver.ts';
import type { Gate } from './network-limits.ts';
import type { ProxyChooser, ProxyServer } from './proxies/index.ts';
import type { Failure, HttpClientOptions, HttpRequest } from './result.ts';

const MAX_URL_CHARS = 16_384;
const MAX_HOSTS = 10_000;

/** What is the same for every request to a host, as long as it has the same address. */
type HostFacts = { address: string; domain: string; gates: Gate[] };
/** Where a request goes, and the gates it passes on the way. */
export type Destination = { url: URL; target: DialTarget; gates: Gate[]; dnsMs: number };

/** How many may go where at once. */
export type DestinationLimits = {
  hosts: HttpClientOptions['hosts'];
  timeoutMs: number;
  maxConnections: number;
  maxConnectionsPerHost: number;
  maxPerDomain: number;
  maxPerNetwork: number;
  gapMs: number;
};

// Asking URL.canParse first would parse every address twice; addresses that are none seldom come this far.
function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

function parseWebUrl(text: string): URL | Failure {
  if (text.length > MAX_URL_CHARS) return { kind: 'refused_address', detail: 'the URL is too long' };
  const url = urlOf(text);
  if (url === null) return { kind: 'refused_address', detail: 'not a URL' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { kind: 'refused_address', detail: `scheme ${url.protocol.slice(0, 40)} is not fetched` };
  return url;
}

/** The value, or why it did not come in time. */
async function within<T>(
  promise: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<T | Failure> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  const interruption = new Promise<Failure>((resolve) => {
    const late: Failure = { kind: 'dns', detail: `ETIMEOUT: no answer within ${ms} ms` };
    timer = setTimeout(() => resolve(late), ms);
    onAbort = () => resolve({ kind: 'aborted', detail: 'the caller gave up' });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interruption]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
  }
}

/** Finds where requests go: every address is checked by the guard before anybody dials it. */
export class Destinations {
  readonly #limits: DestinationLimits;
  readonly #parts: { guard: AddressGuard; names: NameResolver; proxies: ProxyChooser };
  readonly #hostFacts = new Map<string, HostFacts>();

  constructor(
    limits: DestinationLimits,
    parts: { guard: AddressGuard; names: NameResolver; proxies: ProxyChooser },
  ) {
    this.#limits = limits;
    this.#parts = parts;
  }

  /**
   * URL, port, addresses and gates of a request, all checked. An issuer is asked by the way of the site that needs it
   * (`issuerVia`): by another, the site would see an address that its proxy hides.
   */
  async find(
    request: Pick<HttpRequest, 'url' | 'timeoutMs' | 'proxies'>,
    signal: AbortSignal | undefined,
    issuerVia?: ProxyServer | null,
  ): Promise<Destination | Failure> {
    const url = parseWebUrl(request.url);
    if ('kind' in url) return url;
    const secure = url.protocol === 'https:';
    const host = hostKey(url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname);
    const known = this.#limits.hosts?.get(host);
    const port = known?.port ?? (url.port === '' ? (secure ? 443 : 80) : Number(url.port));
    if (!this.#parts.guard.portCanPass(port))
      return { kind: 'refused_port', detail: `port ${port} is not one of the allowed ports` };
    const askedAt = performance.now();
    const timeoutMs = request.timeoutMs ?? this.#limits.timeoutMs;
    const resolution = await this.#resolve(host, known?.address, timeoutMs, signal);
    if ('kind' in resolution) return resolution;
    if (resolution.outcome === 'failed') return { kind: 'dns', detail: resolution.detail };
    for (const address of resolution.addresses) {
      const verdict = this.#parts.guard.check(address, port);
      if (!verdict.allowed) return { kind: verdict.kind, detail: `${host.slice(0, 255)}: ${verdict.detail}` };
    }
    const { domain, gates } = this.#factsOf(host, resolution.addresses[0] ?? '');
    const isOfIssuer = issuerVia !== undefined;
    const choice = isOfIssuer ? null : this.#parts.proxies.choose(domain, request.proxies);
    if (choice?.via === 'none_healthy')
      return { kind: 'no_proxy', detail: 'every proxy is resting after errors or cannot be read' };
    const proxy = isOfIssuer ? issuerVia : choice?.via === 'proxy' ? choice.proxy : null;
    return {
      url,
      target: {
        addresses: resolution.addresses,
        port,
        secure,
        host,
        proxy,
        // A search never starts another.
        issuersFor: isOfIssuer ? null : domain,
      },
      gates,
      dnsMs: performance.now() - askedAt,
    };
  }

  #resolve(
    host: string,
    known: string | undefined,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Resolution | Promise<Resolution | Failure> {
    if (known !== undefined) return { outcome: 'resolved', addresses: [known] };
    if (isIP(host) !== 0) return { outcome: 'resolved', addresses: [host] };
    const resolution = this.#parts.names.resolve(host);
    return resolution instanceof Promise ? within(resolution, timeoutMs, signal) : resolution;
  }

  #factsOf(host: string, address: string): HostFacts {
    const known = this.#hostFacts.get(host);
    if (known?.address === address) return known;
    // Without the private part of the Public Suffix List: all blogs of one platform share its servers and its cap.
    const domain = isIP(host) === 0 ? (getDomain(host, { validateHostname: false }) ?? host) : host;
    const facts = { address, domain, gates: this.#gatesOf(host, domain, address) };
    if (this.#hostFacts.size >= MAX_HOSTS) this.#hostFacts.clear();
    this.#hostFacts.set(host, facts);
    return facts;
  }

  /** Narrowest first, so that waiting happens where the crowd is and not at the door everybody uses. */
  #gatesOf(host: string, domain: string, address: string): Gate[] {
    const { maxPerDomain, maxPerNetwork, gapMs, maxConnectionsPerHost, maxConnections } = this.#limits;
    const gates: Gate[] = [];
    if (maxConnectionsPerHost > 0) gates.push({ key: `host ${host}`, max: maxConnectionsPerHost, gapMs: 0 });
    if (maxPerDomain > 0) gates.push({ key: `domain ${domain}`, max: maxPerDomain, gapMs });
    if (maxPerNetwork > 0) gates.push({ key: `network ${networkOf(address)}`, max: maxPerNetwork, gapMs });
    gates.push({ key: 'all', max: maxConnections, gapMs: 0 });
    return gates;
  }
}
