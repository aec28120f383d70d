import { getDomain } from 'tldts';
import { sha256 } from './hash.ts';
import { parseUrl } from './whatwg.ts';

// Private suffixes count (`a.github.io` and `b.github.io` are two publishers), as in the list's own test data.
const pslOptions = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;

/** The registrable domain by the Public Suffix List, private part included; null for suffixes, addresses, nonsense. */
export function registrableDomain(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '');
  if (name === '' || name.length > 253 || name.startsWith('.') || name.includes('..')) return null;
  if (!/^[^\s/:?#@[\]\\]+$/.test(name)) return null;
  return getDomain(name, pslOptions);
}

/** The crawl entity of a URL or bare host: no scheme, no `www.`, no default port, punycode; null when it is no host. */
export function canonicalDomain(urlOrHost: string): string | null {
  const text = urlOrHost.trim();
  if (text === '' || text.length > 2048) return null;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? parseUrl(text) : parseBareHost(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return domainOf(url.hostname, url.port === '443' ? '' : url.port);
}

function parseBareHost(text: string): URL | null {
  const host = text.startsWith('//') ? text.slice(2) : text;
  if (/[\s@]/.test(host) || /^[/?#\\]/.test(host)) return null;
  // As http, `:80` goes by itself; the caller drops 443: a bare host may carry either default port.
  return parseUrl(`http://${host}`) ?? parseUrl(`http://[${host}]`);
}

/** The canonical domain of a host as the WHATWG parser serialises it, and its port where that is not the default. */
export function domainOf(hostname: string, port: string): string | null {
  let host = hostname.replace(/\.+$/, '');
  if (host === '') return null;
  // `www.co.uk` is a site: what remains must not be a bare public suffix. Repeated, so that the result is canonical.
  while (host.startsWith('www.') && registrableDomain(host.slice(4)) !== null) host = host.slice(4);
  return port === '' ? host : `${host}:${port}`;
}

/** Key of a domain (first 8 bytes of its SHA-256, signed as PostgreSQL's bigint is) and its bucket (the last of them). */
export function domainIdentity(domain: string): { domainKey: bigint; bucket: number } {
  const digest = sha256(domain);
  return { domainKey: digest.readBigInt64BE(0), bucket: digest[7] ?? 0 };
}
