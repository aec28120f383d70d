import { normaliseEscapes } from './escapes.ts';
import type { HostRules } from './host-rules.ts';
import { isTrackingParameter } from './tracking.ts';
import { parseUrl, pathOf } from './whatwg.ts';

/** The parts of a key that the domain is made from. */
export type KeyHost = { hostname: string; port: string };

/** The host of a parsed http(s) URL as its key has it; null when none remains. */
export function hostOf(url: URL): KeyHost | null {
  const hostname = hostnameOf(url);
  // The parser has removed the port of the scheme it came with. `http://h:443` loses its port as well: the key says
  // https, where 443 is the default, and a key of a key must be itself.
  return hostname === null ? null : { hostname, port: url.port === '443' ? '' : url.port };
}

/** The key of a parsed http(s) URL. */
export function keyOf(url: URL, { hostname, port }: KeyHost, rules: HostRules = {}): string {
  const path = keyPath(pathOf(url), rules.keepTrailingSlash === true);
  const query = keyQuery(url.search, rules);
  return `https://${hostname}${port && `:${port}`}${path}${query}`;
}

function hostnameOf(url: URL): string | null {
  const { hostname } = url;
  if (!hostname.endsWith('.')) return hostname;
  let end = hostname.length;
  while (end > 0 && hostname.charCodeAt(end - 1) === 46) end -= 1;
  if (end === 0) return null;
  // Without its dot the name may read as an address (`1.2.3.4..`) or as none (`a.0x1..`): the parser decides.
  return parseUrl(`https://${hostname.slice(0, end)}/`)?.hostname ?? null;
}

function keyPath(path: string, keepTrailingSlash: boolean): string {
  const normal = normaliseEscapes(path);
  if (keepTrailingSlash) return normal;
  let end = normal.length;
  while (end > 0 && normal.charCodeAt(end - 1) === 47) end -= 1;
  return end === 0 ? '/' : normal.slice(0, end);
}

function keyQuery(search: string, rules: HostRules): string {
  if (search.length < 2) return '';
  const strip = lowerSet(rules.stripParameters);
  const keep = lowerSet(rules.keepParameters);
  const parameters: { name: string; text: string }[] = [];
  for (const piece of search.slice(1).split('&')) {
    if (piece === '') continue;
    const text = normaliseEscapes(piece);
    const equals = text.indexOf('=');
    const name = equals < 0 ? text : text.slice(0, equals);
    const lower = name.toLowerCase();
    if (!keep.has(lower) && (strip.has(lower) || isTrackingParameter(lower))) continue;
    parameters.push({ name, text });
  }
  // Array sort is stable: equal names keep their order. By code unit, never by locale.
  parameters.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return parameters.length === 0 ? '' : `?${parameters.map((p) => p.text).join('&')}`;
}

function lowerSet(names: readonly string[] | undefined): ReadonlySet<string> {
  return names === undefined || names.length === 0 ? none : new Set(names.map((name) => name.toLowerCase()));
}

const none: ReadonlySet<string> = new Set();
