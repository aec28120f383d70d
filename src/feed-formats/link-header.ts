import { resolveUrl } from '../url/index.ts';

/** A link of an HTTP header. */
export type HeaderLink = { url: string; relations: string[]; type: string | null; title: string | null };

const mostLinks = 50;
const mostChars = 8192;

/**
 * Reads a Link header (RFC 8288), several joined by commas: http(s) addresses with their relations in lower case. What
 * cannot be read is left out; never throws.
 */
export function parseLinkHeader(value: string, base: string): HeaderLink[] {
  const text = value.slice(0, mostChars);
  const links: HeaderLink[] = [];
  let at = text.indexOf('<');
  while (at >= 0 && links.length < mostLinks) {
    const close = text.indexOf('>', at);
    if (close < 0) break;
    const end = endOfParameters(text, close + 1);
    const url = resolveUrl(text.slice(at + 1, close).trim(), base);
    const given = parametersOf(text.slice(close + 1, end));
    const relations = (given.get('rel') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    if (url !== null && /^https?:/.test(url) && relations.length > 0)
      links.push({
        url: copy(url),
        relations,
        type: given.has('type') ? copy(given.get('type')!.trim().toLowerCase()) : null,
        title: given.has('title') ? copy(given.get('title')!.replace(/\\(.)/g, '$1')) : null,
      });
    at = text.indexOf('<', end);
  }
  return links;
}

/** Where the parameters of a link end: at a comma outside quotation marks. */
function endOfParameters(text: string, start: number): number {
  let isQuoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (isQuoted && char === '\\') at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === ',' && !isQuoted) return at;
  }
  return text.length;
}

// A slice would keep the whole header alive.
const copy = (text: string): string => Buffer.from(text).toString();

/** Parameters by their names in lower case; the first of a name counts (RFC 8288, section 3.3). */
function parametersOf(text: string): Map<string, string> {
  const given = new Map<string, string>();
  // One after the other, so that words inside another one's quotation marks are not taken for a relation.
  for (const match of text.matchAll(/;\s*([\w*-]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g)) {
    const name = match[1]!.toLowerCase();
    if (!given.has(name)) given.set(name, match[2] ?? match[3] ?? '');
  }
  return given;
}
