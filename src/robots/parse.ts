import { isProbablyBinary, isProbablyHtml, readLines } from './lines.ts';

/** One Allow or Disallow line. */
export type RobotsRule = { allow: boolean; pattern: string; line: number };

/** Agents that share rules, as RFC 9309 section 2.2.1 groups them. */
export type RobotsGroup = {
  /** Values of the user-agent lines, lower case; `*` for the group of everyone else. */
  agents: string[];
  rules: RobotsRule[];
  /** The delay holds for the agents named before its line, `agents` from the start up to `count`. */
  delays: { seconds: number; line: number; count: number }[];
};

/** A robots.txt as plain JSON: it is cached in the database and shared by all workers. */
export type Robots = {
  version: 1;
  /** Why there are no rules, where the body was something else. */
  body: 'text' | 'html' | 'binary';
  groups: RobotsGroup[];
  sitemaps: { url: string; line: number }[];
  /** The body was longer than what is read. */
  truncated: boolean;
};

/** RFC 9309 section 2.5: a crawler reads at least this much. */
export const MAX_ROBOTS_BYTES = 500 * 1024;
// A crawler needs a few sitemaps, a hostile file could name twenty thousand.
const MAX_SITEMAPS = 1_000;

/** Reads a robots.txt (RFC 9309, with the leniencies of Google's parser); anything else gives no rules; never throws. */
export function parseRobots(body: Uint8Array): Robots {
  const bytes = readable(body);
  const robots: Robots = {
    version: 1,
    body: 'text',
    groups: [],
    sitemaps: [],
    truncated: body.length > MAX_ROBOTS_BYTES,
  };
  if (isProbablyBinary(bytes)) return { ...robots, body: 'binary' };
  if (isProbablyHtml(bytes)) return { ...robots, body: 'html' };
  const grouping: Grouping = { groups: robots.groups, current: null, hasRules: false };
  for (const { text, line } of readLines(bytes)) {
    const record = parseRecord(text);
    if (record === null) continue;
    if (record.key !== 'sitemap') addRecord(grouping, record, line);
    else if (record.value !== '' && robots.sitemaps.length < MAX_SITEMAPS)
      robots.sitemaps.push({ url: utf8Of(record.value), line });
  }
  return robots;
}

/** What is read of the body. A line cut in two is left out: the half of an Allow rule would allow too much. */
function readable(body: Uint8Array): Uint8Array {
  if (body.length <= MAX_ROBOTS_BYTES) return body;
  let end = MAX_ROBOTS_BYTES;
  while (end > 0 && body[end - 1] !== 10 && body[end - 1] !== 13) end -= 1;
  return body.subarray(0, end);
}

type Key = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';
type Grouping = { groups: RobotsGroup[]; current: RobotsGroup | null; hasRules: boolean };

// Google's parser accepts what begins with a key, and the typos it saw most often. By first letter: a hostile file has
// thirty thousand lines, and trying fifteen names on each took a third of its parsing.
const keys: Readonly<Record<string, readonly [prefix: string, key: Key][]>> = {
  u: [
    ['user-agent', 'user-agent'],
    ['useragent', 'user-agent'],
    ['user agent', 'user-agent'],
  ],
  a: [['allow', 'allow']],
  d: [
    ['disallow', 'disallow'],
    ['dissallow', 'disallow'],
    ['dissalow', 'disallow'],
    ['disalow', 'disallow'],
    ['diasllow', 'disallow'],
    ['disallaw', 'disallow'],
  ],
  s: [
    ['sitemap', 'sitemap'],
    ['site-map', 'sitemap'],
  ],
  c: [
    ['crawl-delay', 'crawl-delay'],
    ['crawldelay', 'crawl-delay'],
    ['crawl delay', 'crawl-delay'],
  ],
};

/** A line as key and value; text is latin-1, one character per byte. */
function parseRecord(text: string): { key: Key; value: string } | null {
  const hash = text.indexOf('#');
  const line = trimAscii(hash < 0 ? text : text.slice(0, hash));
  let at = line.indexOf(':');
  if (at < 0) {
    // Some forget the colon: blanks stand for it where the line is exactly two words.
    at = line.search(/[ \t]/);
    if (at < 0 || /[ \t]/.test(trimAscii(line.slice(at)))) return null;
  }
  const name = trimAscii(line.slice(0, at)).toLowerCase();
  const key = keys[name.charAt(0)]?.find(([prefix]) => name.startsWith(prefix))?.[1];
  return key === undefined ? null : { key, value: trimAscii(line.slice(at + 1)) };
}

function addRecord(grouping: Grouping, record: { key: Key; value: string }, line: number): void {
  if (record.key === 'user-agent') {
    // Only rules end a run of user-agent lines; other records do not interfere (RFC 9309 section 2.2.4).
    if (grouping.current === null || grouping.hasRules) {
      grouping.current = { agents: [], rules: [], delays: [] };
      grouping.groups.push(grouping.current);
      grouping.hasRules = false;
    }
    grouping.current.agents.push(record.value.toLowerCase());
    return;
  }
  const group = grouping.current;
  // Rules before any user-agent line belong to nobody.
  if (group === null) return;
  if (record.key === 'crawl-delay') {
    const seconds = parseSeconds(record.value);
    if (seconds !== null) group.delays.push({ seconds, line, count: group.agents.length });
    return;
  }
  grouping.hasRules = true;
  // An empty pattern says nothing: `Disallow:` is how a file allows everything.
  if (record.value !== '') group.rules.push({ allow: record.key === 'allow', pattern: record.value, line });
}

function parseSeconds(value: string): number | null {
  const match = /^(\d{1,9}(?:[.,]\d{0,9})?|[.,]\d{1,9})(?![\d.,])/.exec(value);
  if (match === null) return null;
  const seconds = Number(match[1]!.replace(',', '.'));
  return Number.isFinite(seconds) ? seconds : null;
}

function trimAscii(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function utf8Of(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
