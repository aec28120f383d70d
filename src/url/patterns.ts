import { RE2JS, RE2JSException } from 're2js';

/** Longest pattern a person may enter; RE2 programs grow with the pattern, not with the input. */
const MAX_PATTERN_LENGTH = 1_000;
// Compiling costs a thousand times more than testing a URL; sources share few patterns. Oldest entry goes first.
const MAX_CACHED = 5_000;
const cache = new Map<string, RE2JS | null>();

/** Checks a pattern a person entered, so that the API can refuse it with the reason; never throws. */
export function parseUrlPattern(pattern: string): { outcome: 'ok' } | { outcome: 'invalid'; reason: string } {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return { outcome: 'invalid', reason: `longer than ${MAX_PATTERN_LENGTH} characters` };
  const compiled = compile(pattern);
  return typeof compiled === 'string' ? { outcome: 'invalid', reason: compiled } : { outcome: 'ok' };
}

/** The first of the patterns found anywhere in the URL (RE2 syntax, linear time); an invalid pattern matches nothing. */
export function findUrlPattern(patterns: readonly string[] | undefined, url: string): string | null {
  if (patterns === undefined) return null;
  for (const pattern of patterns) if (compiledPattern(pattern)?.test(url) === true) return pattern;
  return null;
}

function compiledPattern(pattern: string): RE2JS | null {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const compiled = pattern.length > MAX_PATTERN_LENGTH ? 'too long' : compile(pattern);
  const value = typeof compiled === 'string' ? null : compiled;
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  cache.set(pattern, value);
  return value;
}

function compile(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}
