import { type CompiledPattern, compilePattern, matchesPattern, pathTokens } from './match.ts';
import type { Robots, RobotsGroup, RobotsRule } from './parse.ts';

/** Whether a URL may be fetched, and the line that says so (null: no rule speaks of it). */
export type RobotsDecision = { allowed: boolean; line: number | null; rule: string | null };

/** Longest crawl delay that is honoured; a longer one is cut and flagged. */
export const MAX_CRAWL_DELAY_SECONDS = 60;

type CompiledRule = { rule: RobotsRule; pattern: CompiledPattern; indexPattern: CompiledPattern | null };

/** Decides by the longest matching rule of our group, Allow winning a tie (RFC 9309 section 2.2.2). */
export function decideRobots(robots: Robots, productToken: string, url: string): RobotsDecision {
  const path = pathOf(url);
  if (path === '/robots.txt') return { allowed: true, line: null, rule: null };
  const forDisallow = pathTokens(path, false);
  const forAllow = forDisallow.hasRaw ? pathTokens(path, true) : forDisallow;
  let best: CompiledRule | null = null;
  let bestPriority = 0;
  for (const compiled of rulesFor(robots, productToken)) {
    const { rule, pattern, indexPattern } = compiled;
    const tokens = rule.allow ? forAllow : forDisallow;
    let priority = 0;
    if (pattern.priority >= bestPriority && matchesPattern(pattern, tokens)) priority = pattern.priority;
    else if (indexPattern !== null && matchesPattern(indexPattern, tokens)) priority = indexPattern.priority;
    const wins =
      priority > bestPriority || (priority === bestPriority && rule.allow && best?.rule.allow === false);
    if (priority === 0 || !wins) continue;
    best = compiled;
    bestPriority = priority;
  }
  if (best === null) return { allowed: true, line: null, rule: null };
  const { allow, line, pattern } = best.rule;
  const shown = Buffer.from(pattern, 'latin1').toString('utf8');
  return { allowed: allow, line, rule: `${allow ? 'Allow' : 'Disallow'}: ${shown}` };
}

/** A crawl delay: what is kept of it, what the file asks for, and where it says so. */
export type CrawlDelay = { seconds: number; askedSeconds: number; line: number; capped: boolean };

/** The crawl delay of our group, its longest where it names several; null when it names none. */
export function crawlDelayOf(robots: Robots, productToken: string): CrawlDelay | null {
  const { groups, isOurs } = groupsFor(robots, productToken);
  let longest: { seconds: number; line: number } | null = null;
  for (const group of groups) {
    for (const delay of group.delays) {
      if (!group.agents.slice(0, delay.count).some(isOurs)) continue;
      if (longest === null || delay.seconds > longest.seconds) longest = delay;
    }
  }
  if (longest === null) return null;
  const { seconds: askedSeconds, line } = longest;
  const seconds = Math.min(askedSeconds, MAX_CRAWL_DELAY_SECONDS);
  return { seconds, askedSeconds, line, capped: askedSeconds > seconds };
}

/** Whether our group forbids everything and allows nothing: there is no use in asking again before it changes. */
export function disallowsEverything(robots: Robots, productToken: string): boolean {
  const rules = rulesFor(robots, productToken);
  return (
    rules.some(({ rule }) => !rule.allow && /^\/?\**$/.test(rule.pattern)) &&
    !rules.some(({ rule }) => rule.allow)
  );
}

// The value is plain JSON and shared; compiling again for each URL would cost more than matching.
const compiledRules = new WeakMap<Robots, Map<string, CompiledRule[]>>();

function rulesFor(robots: Robots, productToken: string): CompiledRule[] {
  let byToken = compiledRules.get(robots);
  if (byToken === undefined) {
    byToken = new Map();
    compiledRules.set(robots, byToken);
  }
  const known = byToken.get(productToken);
  if (known !== undefined) return known;
  // The same pattern twice in one file changes nothing; hostile files repeat it ten thousand times.
  const seen = new Set<string>();
  const rules: CompiledRule[] = [];
  for (const rule of groupsFor(robots, productToken).groups.flatMap((group) => group.rules)) {
    const id = `${rule.allow}${rule.pattern}`;
    if (seen.has(id)) continue;
    seen.add(id);
    rules.push(compileRule(rule));
  }
  byToken.set(productToken, rules);
  return rules;
}

function compileRule(rule: RobotsRule): CompiledRule {
  const slash = rule.pattern.lastIndexOf('/');
  // Google's extension: allowing `/a/index.html` allows `/a/`.
  const isIndex = rule.allow && slash >= 0 && rule.pattern.startsWith('/index.htm', slash);
  return {
    rule,
    pattern: compilePattern(rule.pattern),
    indexPattern: isIndex ? compilePattern(`${rule.pattern.slice(0, slash + 1)}$`) : null,
  };
}

/** All groups that name us, else all groups of `*`; a group that names us hides those of `*` even without rules. */
function groupsFor(
  robots: Robots,
  productToken: string,
): { groups: RobotsGroup[]; isOurs: (agent: string) => boolean } {
  const token = productToken.toLowerCase();
  const isOurs = (agent: string) => token !== '' && namesToken(agent, token);
  const ours = robots.groups.filter((group) => group.agents.some(isOurs));
  if (ours.length > 0) return { groups: ours, isOurs };
  const isGlobal = (agent: string) => /^\*(?:\s|$)/.test(agent);
  return { groups: robots.groups.filter((group) => group.agents.some(isGlobal)), isOurs: isGlobal };
}

/**
 * Whether a user-agent line means the token: letters, `_` and `-` (RFC 9309 section 2.2.1); what follows them on the
 * line (`/2.1`, ` Bot`) is ignored. So a product token with a digit in it is never found by its own name.
 */
function namesToken(agent: string, token: string): boolean {
  return agent.startsWith(token) && !/^[a-z_-]/.test(agent.slice(token.length)) && !/[^a-z_-]/.test(token);
}

/** Path and query of a URL as it stands, without parsing it: rules speak of the bytes that are requested. */
function pathOf(url: string): string {
  // `example.com/a?u=http://b`: a scheme stands before any path or query.
  const scheme = /^[^/?;#]*:\/\//.exec(url);
  const authority = scheme !== null ? scheme[0].length : url.startsWith('//') ? 2 : 0;
  const hash = url.indexOf('#', authority);
  const end = hash < 0 ? url.length : hash;
  const rest = url.slice(authority, end);
  const start = rest.search(/[/?;]/);
  if (start < 0) return '/';
  return rest[start] === '/' ? rest.slice(start) : `/${rest.slice(start)}`;
}
