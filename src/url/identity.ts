import { domainIdentity, domainOf, registrableDomain } from './domain.ts';
import { sha256 } from './hash.ts';
import type { RulesOf } from './host-rules.ts';
import { hostOf, keyOf } from './key.ts';
import { parseUrl, pathOf } from './whatwg.ts';

/** Everything the frontier knows a URL by. */
export type UrlIdentity = {
  /** What is requested: as found, resolved, without fragment and user-info. */
  fetchUrl: string;
  /** What the URL is: compared, never requested. */
  key: string;
  /** SHA-256 of the key, 32 bytes. */
  hash: Buffer;
  /** Canonical domain: the unit of politeness. */
  domain: string;
  domainKey: bigint;
  bucket: number;
  registrableDomain: string | null;
};

/** Why a string is not a URL of ours. */
export type UrlRejection =
  | 'empty'
  | 'too_long'
  | 'no_scheme'
  | 'unsupported_scheme'
  | 'invalid_base'
  | 'invalid';

export type IdentifyOptions = {
  /** Address of the document the URL was found in. */
  base?: string;
  /** What operators know of domains; without it every key follows the general rules alone. */
  rules?: RulesOf;
};

export type IdentifyResult =
  | { outcome: 'ok'; identity: UrlIdentity }
  | { outcome: 'rejected'; reason: UrlRejection };

/** Longest URL we take, in characters; applies to what was found, to the fetch URL and to the key. */
export const MAX_URL_LENGTH = 2048;

/** Gives a discovered string its identity, or says why it has none; never throws. */
export function identifyUrl(input: string, options: IdentifyOptions = {}): IdentifyResult {
  const text = input.trim();
  if (text === '') return rejected('empty');
  if (text.length > MAX_URL_LENGTH) return rejected('too_long');
  const url = parseUrl(text, options.base);
  if (url === null) return rejected(rejectionOf(text, options.base));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return rejected('unsupported_scheme');
  const named = hostOf(url);
  if (named === null) return rejected('invalid');
  const host = identifyHost(named.hostname, named.port);
  if (host === null) return rejected('invalid');
  const key = keyOf(url, named, options.rules?.(host.domain));
  const fetchUrl = fetchUrlOf(url);
  if (fetchUrl.length > MAX_URL_LENGTH || key.length > MAX_URL_LENGTH) return rejected('too_long');
  return { outcome: 'ok', identity: { fetchUrl, key, hash: sha256(key), ...host } };
}

type HostIdentity = Pick<UrlIdentity, 'domain' | 'domainKey' | 'bucket' | 'registrableDomain'>;

// Links come by the hundred from one host; its suffix and hash cost as much as all the rest of an identity.
const MAX_KNOWN_HOSTS = 10_000;
const knownHosts = new Map<string, HostIdentity | null>();

function identifyHost(hostname: string, port: string): HostIdentity | null {
  const name = `${hostname}:${port}`;
  const known = knownHosts.get(name);
  if (known !== undefined) return known;
  const parent = isAddress(hostname) ? null : registrableDomain(hostname);
  const domain = domainOf(hostname, port);
  const identity = domain === null ? null : { domain, ...domainIdentity(domain), registrableDomain: parent };
  if (knownHosts.size >= MAX_KNOWN_HOSTS) knownHosts.clear();
  knownHosts.set(name, identity);
  return identity;
}

/** The robots.txt cache key of a fetch URL: scheme, host with `www.`, port; empty when the argument is no URL. */
export function originOf(fetchUrl: string): string {
  return parseUrl(fetchUrl)?.origin ?? '';
}

/** Whether a serialised host is an IPv4 or IPv6 address: the parser leaves no other name that ends in a digit label. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /(?:^|\.)\d+$/.test(hostname);
}

function fetchUrlOf(url: URL): string {
  if (url.hash !== '' || url.href.endsWith('#')) url.hash = '';
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
  }
  const path = url.pathname;
  if (!path.includes('^')) return url.href;
  const at = url.href.indexOf(path, url.protocol.length + 2);
  return url.href.slice(0, at) + pathOf(url) + url.href.slice(at + path.length);
}

function rejectionOf(text: string, base: string | undefined): UrlRejection {
  if (base !== undefined && parseUrl(base) === null) return 'invalid_base';
  return base === undefined && !/^[a-z][a-z0-9+.-]*:/i.test(text) ? 'no_scheme' : 'invalid';
}

function rejected(reason: UrlRejection): IdentifyResult {
  return { outcome: 'rejected', reason };
}
