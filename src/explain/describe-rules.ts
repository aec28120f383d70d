import type { RekeyState } from '../frontier/index.ts';
import { applyHostRules, type HostRules, hasRules } from '../url/index.ts';
import { ago, many, until } from './words.ts';

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const parameters = (names: readonly string[]): string =>
  `parameter${names.length === 1 ? '' : 's'} ${list(names)}`;

/** What the rules of a domain say of its addresses, and how far what waits follows them. */
export function domainRulesText(rules: HostRules, rekey: RekeyState | null, now: Date): string[] {
  const parts = [
    rules.keepTrailingSlash === true
      ? 'an address with a slash at its end is another page than without'
      : null,
    rules.keepParameters === undefined
      ? null
      : `the ${parameters(rules.keepParameters)} ${rules.keepParameters.length === 1 ? 'tells' : 'tell'} pages apart`,
    rules.stripParameters === undefined
      ? null
      : `the ${parameters(rules.stripParameters)} ${rules.stripParameters.length === 1 ? 'says' : 'say'} nothing about a page`,
  ].filter((part) => part !== null);
  const words = hasRules(rules) ? [`By its host rules ${list(parts)}.`] : [];
  if (rekey === null) return words;
  const done = `so far ${many(rekey.moved, 'URL')} moved and ${rekey.merged} joined another`;
  const next = rekey.dueAt > now ? `; it is looked through again ${until(rekey.dueAt, now)}` : '';
  return [
    ...words,
    `Its host rules changed ${ago(rekey.changedAt, now)}: what waits is given its key by them, ${done}${next}.`,
  ];
}

/** Which rules of its domain a URL is known by. `isOlder`: its row has the key it was given before. */
export function urlRulesText(url: string, rules: HostRules, isOlder: boolean): string[] {
  const work = applyHostRules(url, rules);
  const older =
    'Its key is older than the host rules of this domain: what was fetched before keeps it, what waits gets a new one.';
  if (work === null) return isOlder ? [older] : [];
  const keeps = [
    ...(work.keptParameters.length === 0 ? [] : [`its ${parameters(work.keptParameters)}`]),
    ...(work.keepsSlash ? ['the slash at its end'] : []),
  ];
  const parts = [
    ...(keeps.length === 0 ? [] : [`keeps ${list(keeps)}`]),
    ...(work.strippedParameters.length === 0
      ? []
      : [`is the same page without its ${parameters(work.strippedParameters)}`]),
  ];
  return [`It ${list(parts)}, by the host rules of this domain.`, ...(isOlder ? [older] : [])];
}
