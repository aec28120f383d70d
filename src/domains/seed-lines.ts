import { messageOf } from '../errors/index.ts';
import { canonicalDomain, domainIdentity, identifyUrl, registrableDomain } from '../url/index.ts';

/** One line of a list of seeds. */
export type SeedLine =
  | { outcome: 'seed'; seed: Seed }
  /** Blank, or a comment. */
  | { outcome: 'skip' }
  | { outcome: 'bad'; reason: string };

/** A domain somebody lists, and where its crawl begins. */
export type Seed = {
  domain: string;
  parentDomain: string | null;
  domainKey: bigint;
  bucket: number;
  entryUrl: string;
  rank: number | null;
};

const mostLine = 2100;
const mostRank = 2_147_483_647;

/** Reads `domain`, `rank,domain` (as Tranco writes it), a URL, or an object with `domain` or `url`. Never throws. */
export function parseSeedLine(line: string): SeedLine {
  const text = line.replace(/^\ufeff/, '').trim();
  if (text === '' || text.startsWith('#')) return { outcome: 'skip' };
  if (text.length > mostLine) return { outcome: 'bad', reason: 'too long' };
  if (text.startsWith('{')) return parseSeedObject(text);
  const comma = text.indexOf(',');
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (isUrl || comma < 0) return parseSeed(text, null);
  const rank = text.slice(0, comma).trim();
  if (!/^\d{1,10}$/.test(rank) || Number(rank) < 1 || Number(rank) > mostRank)
    return { outcome: 'bad', reason: `"${rank.slice(0, 40)}" is not a rank` };
  return parseSeed(text.slice(comma + 1).trim(), Number(rank));
}

function parseSeedObject(text: string): SeedLine {
  let value: { domain?: unknown; url?: unknown; rank?: unknown };
  try {
    value = JSON.parse(text) as object;
  } catch (error) {
    return { outcome: 'bad', reason: `it is no JSON: ${messageOf(error).slice(0, 100)}` };
  }
  const name = value.url ?? value.domain;
  if (typeof name !== 'string') return { outcome: 'bad', reason: 'it names neither a domain nor a url' };
  const rank = value.rank ?? null;
  if (rank !== null && !(Number.isInteger(rank) && Number(rank) >= 1 && Number(rank) <= mostRank))
    return { outcome: 'bad', reason: 'its rank is not a number from 1 on' };
  return parseSeed(name.trim(), rank === null ? null : Number(rank));
}

function parseSeed(text: string, rank: number | null): SeedLine {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const identified = identifyUrl(hasScheme ? text : `https://${text}/`);
  const domain = hasScheme ? null : canonicalDomain(text);
  if (identified.outcome === 'rejected' || (!hasScheme && domain === null))
    return { outcome: 'bad', reason: `"${text.slice(0, 100)}" is not a domain or an address` };
  const { identity } = identified;
  // `*.example.com` is how lists of rules name what lies below a domain; nothing answers to it.
  if (identity.domain.includes('*'))
    return { outcome: 'bad', reason: `"${text.slice(0, 100)}" names many domains; give each its line` };
  // A word alone is a slip of the pen far more often than a host; one that is meant can be given as a URL.
  if (!hasScheme && (/[\s/?#@,;]/.test(text) || !/[.:]/.test(text)))
    return { outcome: 'bad', reason: `"${text.slice(0, 100)}" is not a domain` };
  return {
    outcome: 'seed',
    seed: {
      domain: identity.domain,
      parentDomain: identity.registrableDomain ?? registrableDomain(identity.domain),
      ...domainIdentity(identity.domain),
      entryUrl: identity.fetchUrl,
      rank,
    },
  };
}

/** Splits chunks of text into lines with their numbers; a line without an end is cut, so that memory stays bounded. */
export async function* readLines(
  chunks: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<{ number: number; text: string }> {
  let rest = '';
  let number = 0;
  for await (const chunk of chunks) {
    const lines = chunk.split('\n');
    for (const [index, piece] of lines.entries()) {
      if (rest.length <= mostLine) rest += piece.slice(0, mostLine + 1 - rest.length);
      if (index === lines.length - 1) break;
      number += 1;
      yield { number, text: rest };
      rest = '';
    }
  }
  if (rest !== '') yield { number: number + 1, text: rest };
}
