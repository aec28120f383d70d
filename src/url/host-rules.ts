import { AppError, EXIT } from '../errors/index.ts';
import { normaliseEscapes } from './escapes.ts';
import { parseUrl } from './whatwg.ts';

/** What the operator knows about one domain; changes the key, never the address that is fetched. */
export type HostRules = {
  /** `/a` and `/a/` are two pages there. */
  keepTrailingSlash?: boolean;
  /** Further parameters that say nothing about the page. */
  stripParameters?: readonly string[];
  /** Parameters to keep although they look like tracking (`ref` selects content on a few sites). */
  keepParameters?: readonly string[];
};

/** The rules of a domain; undefined: it has none, as nearly all. */
export type RulesOf = (domain: string) => HostRules | undefined;

/** Most names in either list, and characters in one. */
export const mostRuleNames = 50;
export const mostRuleNameLength = 100;

const invalid = (message: string): AppError =>
  new AppError('host_rules_invalid', message, {
    httpStatus: 422,
    exitCode: EXIT.usage,
    advice: 'Give names of parameters as they stand in addresses, as ref or page_id.',
  });

/** Rules as they are stored: names lower case, sorted, each once; what says nothing is left out. Throws what is wrong. */
export function parseHostRules(given: HostRules): HostRules {
  const strip = parseNames(given.stripParameters);
  const keep = parseNames(given.keepParameters);
  const both = strip.find((name) => keep.includes(name));
  if (both !== undefined) throw invalid(`the parameter "${both}" cannot be stripped and kept at once`);
  return {
    ...(given.keepTrailingSlash === true ? { keepTrailingSlash: true } : {}),
    ...(strip.length === 0 ? {} : { stripParameters: strip }),
    ...(keep.length === 0 ? {} : { keepParameters: keep }),
  };
}

function parseNames(given: readonly string[] | undefined): string[] {
  const names = [...new Set((given ?? []).map(parseName))].sort();
  if (names.length > mostRuleNames)
    throw invalid(`${names.length} parameters are named, and ${mostRuleNames} are the most`);
  return names;
}

// A name is compared as keys have it, so it is written as the URL parser would: `größe` as `gr%c3%b6%c3%9fe`.
function parseName(given: string): string {
  const text = given.trim();
  const search = parseUrl(`https://name.invalid/?${text}`)?.search ?? '';
  const name = normaliseEscapes(search.slice(1)).toLowerCase();
  if (name === '' || name.length > mostRuleNameLength || /[\s&=#?*\p{C}]/u.test(text))
    throw invalid(`"${text.slice(0, mostRuleNameLength)}" is not the name of a parameter`);
  return name;
}

/** Whether rules say anything. */
export const hasRules = (rules: HostRules): boolean =>
  rules.keepTrailingSlash === true ||
  (rules.stripParameters?.length ?? 0) > 0 ||
  (rules.keepParameters?.length ?? 0) > 0;

/** What rules have to say about one address; null: nothing. */
export type RulesAtWork = { keptParameters: string[]; strippedParameters: string[]; keepsSlash: boolean };

/** Which of the rules of its domain apply to an address. */
export function applyHostRules(address: string, rules: HostRules): RulesAtWork | null {
  const url = parseUrl(address);
  if (url === null) return null;
  const names = new Set(
    url.search
      .slice(1)
      .split('&')
      .map((piece) => normaliseEscapes(piece.split('=', 1)[0]!).toLowerCase()),
  );
  const among = (listed: readonly string[] | undefined): string[] =>
    (listed ?? []).filter((name) => names.has(name));
  const work = {
    keptParameters: among(rules.keepParameters),
    strippedParameters: among(rules.stripParameters),
    keepsSlash: rules.keepTrailingSlash === true && url.pathname.length > 1 && url.pathname.endsWith('/'),
  };
  const says = work.keepsSlash || work.keptParameters.length > 0 || work.strippedParameters.length > 0;
  return says ? work : null;
}
