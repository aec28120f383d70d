/**
 * Patterns of robots.txt against paths, in time linear in both. Both become sequences of numbers that compare equal
 * where RFC 9309 section 2.2.2 says so: a plain character is its code, an escape of an unreserved character is that
 * character, another escape is 256 + its byte, as is a byte outside ASCII.
 */

const STAR = 0x2a;
const DOLLAR = 0x24;
const QUESTION = 0x3f;
const ESCAPED = 256;
/** A raw character outside ASCII in a URL that an Allow rule may not match; see `pathTokens`. */
const UNMATCHABLE = 0xffff;

/** A path and query to be matched; `queryAt` is where the query begins, behind the `?`. */
export type PathTokens = { tokens: Uint16Array; queryAt: number };

/** A rule's pattern, ready to match. */
export type CompiledPattern = {
  /** Literal parts between the wildcards. */
  parts: { plain: Uint16Array; folded: Uint16Array }[];
  /** `$` at the end: the last part must end the path. */
  anchored: boolean;
  /** Octets of the pattern: the longest match wins. */
  priority: number;
};

/** Compiles a pattern (latin-1 text, one character per byte). */
export function compilePattern(pattern: string): CompiledPattern {
  const parts: CompiledPattern['parts'] = [];
  let part: number[] = [];
  let priority = 0;
  let anchored = false;
  const close = () => {
    parts.push({ plain: Uint16Array.from(part), folded: Uint16Array.from(part, foldQuery) });
    part = [];
  };
  eachToken(pattern, (token, _isEscape, isLast) => {
    priority += token >= ESCAPED ? 3 : 1;
    if (token === STAR) close();
    else if (token === DOLLAR && isLast) anchored = true;
    else part.push(foldSpecial(token));
  });
  close();
  return { parts, anchored, priority };
}

/**
 * The path of a URL as tokens. Fetch URLs are serialised, so all is ASCII; where a raw character does come, a Disallow
 * rule compares it as its escape and an Allow rule does not match it (`forAllow`): Google's matcher takes the URL as
 * it stands, and of two readings the one that forbids is taken.
 */
export function pathTokens(path: string, forAllow: boolean): PathTokens {
  const ascii = !/[^\x00-\x7f]/.test(path);
  const text = ascii ? path : Buffer.from(path, 'utf8').toString('latin1');
  const tokens: number[] = [];
  let queryAt = -1;
  eachToken(text, (token, isEscape) => {
    if (token >= ESCAPED && !isEscape && forAllow) tokens.push(UNMATCHABLE);
    else tokens.push(queryAt < 0 ? foldSpecial(token) : foldQuery(foldSpecial(token)));
    if (queryAt < 0 && token === QUESTION) queryAt = tokens.length;
  });
  return { tokens: Uint16Array.from(tokens), queryAt: queryAt < 0 ? tokens.length : queryAt };
}

/** Whether the pattern matches the path from its start. Leftmost places of the parts suffice: `*` takes anything. */
export function matchesPattern(pattern: CompiledPattern, path: PathTokens): boolean {
  const { parts, anchored } = pattern;
  const first = parts[0]!;
  const length = path.tokens.length;
  if (!partAt(first, path, 0)) return false;
  let at = first.plain.length;
  if (parts.length === 1) return !anchored || at === length;
  const lastIndex = parts.length - 1;
  for (let index = 1; index <= lastIndex; index += 1) {
    const part = parts[index]!;
    if (index === lastIndex && anchored) {
      const start = length - part.plain.length;
      return start >= at && partAt(part, path, start);
    }
    const found = findPart(part, path, at);
    if (found < 0) return false;
    at = found + part.plain.length;
  }
  return true;
}

type Part = CompiledPattern['parts'][number];

function partAt(part: Part, path: PathTokens, start: number): boolean {
  const { plain, folded } = part;
  if (start + plain.length > path.tokens.length) return false;
  for (let i = 0; i < plain.length; i += 1) {
    const at = start + i;
    if (path.tokens[at] !== (at < path.queryAt ? plain[i] : folded[i])) return false;
  }
  return true;
}

/** First place at or after `start`; Knuth–Morris–Pratt, since `*aaa…b` against `aaa…` makes plain search quadratic. */
function findPart(part: Part, path: PathTokens, start: number): number {
  const { plain, folded } = part;
  const size = plain.length;
  if (size === 0) return start;
  if (size > path.tokens.length - start) return -1;
  // Up to the `?` characters compare as they are, behind it reserved ones equal their escapes. A place that spans both
  // has its first `?` where the URL has it: one candidate, between the two searches.
  const inPath = search(plain, path.tokens, start, path.queryAt);
  if (inPath >= 0) return inPath;
  const mark = plain.indexOf(QUESTION);
  const spanning = path.queryAt - 1 - mark;
  if (mark >= 0 && spanning >= start && partAt(part, path, spanning)) return spanning;
  return search(folded, path.tokens, Math.max(start, path.queryAt), path.tokens.length);
}

function search(part: Uint16Array, tokens: Uint16Array, start: number, end: number): number {
  const size = part.length;
  if (end - start < size) return -1;
  if (size === 1) {
    const at = tokens.indexOf(part[0]!, start);
    return at >= 0 && at < end ? at : -1;
  }
  const back = new Uint16Array(size);
  for (let i = 1, k = 0; i < size; i += 1) {
    while (k > 0 && part[i] !== part[k]) k = back[k - 1]!;
    if (part[i] === part[k]) k += 1;
    back[i] = k;
  }
  for (let i = start, k = 0; i < end; i += 1) {
    while (k > 0 && tokens[i] !== part[k]) k = back[k - 1]!;
    if (tokens[i] === part[k]) k += 1;
    if (k === size) return i - size + 1;
  }
  return -1;
}

function eachToken(text: string, take: (token: number, isEscape: boolean, isLast: boolean) => void): void {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const value = code === 0x25 ? escapedByte(text, at) : -1;
    if (value >= 0) {
      at += 2;
      take(isUnreserved(value) ? value : ESCAPED + value, true, at === text.length - 1);
    } else if (code === 0x20) {
      // A blank inside a rule means the escape every URL carries in its place.
      take(ESCAPED + code, true, at === text.length - 1);
    } else {
      take(code >= 0x80 ? ESCAPED + code : code, false, at === text.length - 1);
    }
  }
}

function escapedByte(text: string, at: number): number {
  const digits = text.slice(at + 1, at + 3);
  return /^[0-9a-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
}

function isUnreserved(code: number): boolean {
  return /[A-Za-z0-9\-._~]/.test(String.fromCharCode(code));
}

/** `$` and `*` are written as escapes in rules that mean the characters themselves. */
function foldSpecial(token: number): number {
  return token === DOLLAR || token === STAR ? ESCAPED + token : token;
}

const foldedInQuery = new Set([...":/?@[]!'(),;"].map((character) => character.charCodeAt(0)));

/** In a query, reserved characters without a role there equal their escapes (the second row of RFC 9309's table). */
function foldQuery(token: number): number {
  return foldedInQuery.has(token) ? ESCAPED + token : token;
}
