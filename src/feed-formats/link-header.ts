import { resolveUrl } from '../url/index.ts';

/** A link of an HTTP header. */
export type HeaderLink = { url: string; relations: string[] };

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
    const relations = relationsOf(text.slice(close + 1, end));
    if (url !== null && /^https?:/.test(url) && relations.length > 0)
      // Copied: a slice would keep the whole header alive.
      links.push({ url: Buffer.from(url).toString(), relations });
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

function relationsOf(parameters: string): string[] {
  // One parameter after the other, so that words inside another one's quotation marks are not taken for a relation.
  for (const match of parameters.matchAll(/;\s*([\w*-]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g))
    if (match[1]!.toLowerCase() === 'rel')
      return (match[2] ?? match[3] ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return [];
}
