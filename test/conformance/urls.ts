import { canonicalDomain, identifyUrl, registrableDomain, resolveUrl } from '../../src/url/index.ts';
import { attempt, loadJson, type Part, type PartOptions } from './part.ts';

type Score = { cases: number; right: number };
type IdentityCase = { input: string; normalized?: string; domain?: string };

/** URL keys, canonical domains, the Public Suffix List and the WHATWG parser. */
export const urls: Part = {
  name: 'urls',
  async run(corpusDir, options) {
    const load = <T>(file: string) => loadJson<T[]>(corpusDir, 'formats', 'urls', file);
    const scores: Record<string, object> = {};
    const identity = load<IdentityCase>('identity.json');
    if (identity !== null) scores.identity = await score('identity', identity, options, decideIdentity);
    const psl = load<{ host: string; registrable: string | null }>('psl.json');
    if (psl !== null)
      scores.psl = await score('psl', psl, options, (one) => [one.registrable, registrableDomain(one.host)]);
    const wpt = load<{ input: string; base: string | null; href?: string }>('wpt-urltestdata.json');
    if (wpt !== null)
      scores.wptUrl = await score('wptUrl', wpt, options, (one) => [
        one.href ?? null,
        resolveUrl(one.input, one.base ?? undefined),
      ]);
    return Object.keys(scores).length === 0 ? null : scores;
  },
};

function decideIdentity(one: IdentityCase): [unknown, unknown] {
  if (one.domain !== undefined) return [one.domain, canonicalDomain(one.input)];
  const result = identifyUrl(one.input);
  return [one.normalized ?? null, result.outcome === 'ok' ? result.identity.key : null];
}

/** Counts the cases whose expected and actual value are the same. */
async function score<T extends object>(
  part: string,
  cases: readonly T[],
  options: PartOptions,
  decide: (one: T) => [expected: unknown, got: unknown],
): Promise<Score> {
  options.progress(`${part}: ${cases.length} cases`);
  let right = 0;
  for (const one of cases) {
    const result = await attempt(() => decide(one));
    const [expected, got] = 'value' in result ? result.value : [one, result.threw];
    if ('value' in result && expected === got) right += 1;
    else options.fail({ part, case: JSON.stringify(one), expected, got });
  }
  return { cases: cases.length, right };
}
