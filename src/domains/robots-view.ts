import type { Queryable } from '../db/index.ts';
import { type CrawlDelay, crawlDelayOf, decideRobots, type Robots } from '../robots/index.ts';
import { originOf, type UrlIdentity } from '../url/index.ts';
import type { DomainKey } from './operate.ts';
import { isRobotsUsable, loadRobots, type RobotsRecord } from './robots-cache.ts';

/** A robots.txt as people read it. */
export type RobotsView = {
  origin: string;
  outcome: RobotsRecord['outcome'];
  httpStatus: number | null;
  errorCode: string | null;
  fetchedAt: Date;
  expiresAt: Date;
  /** Why there are no rules, where the body was something else; null: none was read. */
  body: Robots['body'] | null;
  truncated: boolean;
  groups: {
    agents: string[];
    rules: { allow: boolean; pattern: string; line: number }[];
    delays: { seconds: number; line: number }[];
  }[];
  sitemaps: { url: string; line: number }[];
  /** What it asks of us, and how much of that is kept. */
  crawlDelay: CrawlDelay | null;
};

type Stored = Omit<RobotsView, 'body' | 'truncated' | 'groups' | 'sitemaps' | 'crawlDelay'> & {
  rules: Robots | null;
};

// A domain has two schemes and a handful of ports; a file may have thirty thousand lines.
const mostOrigins = 20;
const mostRules = 2000;

/** The robots.txt files of a domain, as they were last read. */
export async function listRobots(db: Queryable, key: DomainKey, productToken: string): Promise<RobotsView[]> {
  const result = await db.query<Stored>(
    `SELECT origin, outcome, http_status AS "httpStatus", error_code AS "errorCode", rules, fetched_at AS "fetchedAt",
            expires_at AS "expiresAt" FROM robots WHERE bucket = $1 AND domain_key = $2 ORDER BY origin LIMIT ${mostOrigins}`,
    [key.bucket, key.domainKey.toString()],
  );
  return result.rows.map(({ rules, ...rest }) => ({ ...rest, ...viewOf(rules, productToken) }));
}

function viewOf(
  rules: Robots | null,
  productToken: string,
): Pick<RobotsView, 'body' | 'truncated' | 'groups' | 'sitemaps' | 'crawlDelay'> {
  if (rules === null) return { body: null, truncated: false, groups: [], sitemaps: [], crawlDelay: null };
  let left = mostRules;
  const groups = rules.groups.slice(0, mostRules).map((group) => {
    const shown = group.rules.slice(0, Math.max(0, left));
    left -= shown.length;
    return {
      agents: group.agents.map(readable),
      // Patterns are kept byte by byte.
      rules: shown.map(({ allow, pattern, line }) => ({ allow, pattern: readable(pattern), line })),
      delays: group.delays.map(({ seconds, line }) => ({ seconds, line })),
    };
  });
  return {
    body: rules.body,
    truncated: rules.truncated || left <= 0,
    groups,
    sitemaps: rules.sitemaps,
    crawlDelay: crawlDelayOf(rules, productToken),
  };
}

const readable = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');

/** Whether an agent may fetch a URL, and which line says so; `unknown`: no robots.txt of its origin was read yet. */
export type RobotsVerdict = {
  outcome: 'allowed' | 'forbidden' | 'unknown' | 'unavailable';
  line: number | null;
  rule: string | null;
};

/** Tries a URL against the robots.txt of its origin. */
export async function testRobots(
  db: Queryable,
  identity: UrlIdentity,
  agent: string,
): Promise<RobotsVerdict> {
  const record = await loadRobots(db, identity.bucket, identity.domainKey, originOf(identity.fetchUrl));
  if (record === null) return { outcome: 'unknown', line: null, rule: null };
  if (!isRobotsUsable(record)) return { outcome: 'unavailable', line: null, rule: null };
  if (record.rules === null) return { outcome: 'allowed', line: null, rule: null };
  const { allowed, line, rule } = decideRobots(record.rules, agent, identity.fetchUrl);
  return { outcome: allowed ? 'allowed' : 'forbidden', line, rule };
}
