import { parseSelectors } from '../extract/index.ts';
import { parseUrlPattern } from '../url/index.ts';

/** Settings of a source as checked, or what is wrong with them. */
export type CheckedSettings =
  | { outcome: 'ok'; settings: Record<string, unknown> }
  | { outcome: 'bad'; reason: string };

const mostChars = 100_000;
const mostPatterns = 500;

/** Checks what the engine will rely on; a name it does not know is kept, because a later version may. */
export function checkSettings(value: unknown): CheckedSettings {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return { outcome: 'bad', reason: 'settings is no object' };
  const json = jsonOf(value);
  if (json === null) return { outcome: 'bad', reason: 'settings is nested too deeply' };
  if (json.length > mostChars)
    return { outcome: 'bad', reason: `settings is longer than ${mostChars} characters` };
  if (unstorable.test(json))
    return { outcome: 'bad', reason: 'settings has characters that cannot be stored' };
  for (const [name, one] of Object.entries(value)) {
    const reason = checks[name]?.(one) ?? null;
    if (reason !== null) return { outcome: 'bad', reason: `settings.${name} ${reason}` };
  }
  return { outcome: 'ok', settings: value as Record<string, unknown> };
}

// A NUL, or half of a surrogate pair, which JSON.stringify writes as an escape: jsonb takes neither.
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

function jsonOf(value: object): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A few thousand levels: the writer calls itself for each.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const deepest = 5;

/** What somebody should know of settings that can be used: deep crawls cost more than they bring. */
export function warnOfSettings(settings: Readonly<Record<string, unknown>>): string[] {
  const { maxDepth } = settings;
  if (typeof maxDepth !== 'number' || (maxDepth >= 0 && maxDepth <= deepest)) return [];
  return [
    maxDepth < 0
      ? 'maxDepth -1 follows links without end; only budgets bound it'
      : `maxDepth ${maxDepth} is more than ${deepest} links from the front page; most of what lies there is not news`,
  ];
}

type Check = (value: unknown) => string | null;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= mostPatterns && value.every((one) => typeof one === 'string');

const patterns: Check = (value) => {
  if (!isTexts(value)) return `is no list of at most ${mostPatterns} patterns`;
  for (const pattern of value) {
    const parsed = parseUrlPattern(pattern);
    if (parsed.outcome === 'invalid') return `has a pattern nobody can match: ${parsed.reason.slice(0, 200)}`;
  }
  return null;
};
const yesOrNo: Check = (value) => (typeof value === 'boolean' ? null : 'is neither true nor false');

const checks: Readonly<Record<string, Check>> = {
  // A name such as "constructor" must not find a function here.
  __proto__: null as unknown as Check,
  articleUrlPatterns: patterns,
  include: patterns,
  exclude: patterns,
  allowLeaving: yesOrNo,
  respectRobots: yesOrNo,
  fixedInterval: yesOrNo,
  maxDepth: (value) =>
    Number.isInteger(value) && (value as number) >= -1 && (value as number) <= 1000
      ? null
      : 'is no whole number from -1 to 1000',
  render: (value) =>
    value === 'auto' || value === 'always' || value === 'never' ? null : 'is none of auto, always and never',
  copies: (value) => (value === 'deliver' || value === 'hold' ? null : 'is neither "deliver" nor "hold"'),
  pages: (value) => (value === 'all' || value === 'first' ? null : 'is neither "all" nor "first"'),
  proxies: (value) =>
    isTexts(value) && value.every((one) => /^(https?|socks5h?):\/\/\S+$/.test(one))
      ? null
      : 'is no list of proxy addresses',
  images: (value) =>
    value === 'off' || value === 'reference' || value === 'store'
      ? null
      : 'is none of off, reference and store',
  group: (value) =>
    typeof value !== 'string' || !/^[a-z0-9_-]{1,40}$/.test(value)
      ? 'is no short name of a-z, 0-9, - and _'
      : value === 'render'
        ? 'is a name that is kept for pages which need a browser'
        : null,
  selectors: (value) => {
    const parsed = parseSelectors(JSON.stringify(value));
    return parsed.outcome === 'ok' ? null : `cannot be used: ${parsed.message.slice(0, 200)}`;
  },
};
