import type { Database } from '../db/index.ts';
import { loadSelectorRates, type SelectorRate } from '../documents/index.ts';
import { listSelectingSources, type Source } from '../sources/index.ts';
import { type CheckResult, ok, warn } from './check.ts';

// The newest pages tell of a redesign; those before it would hide it.
const newest = 20;
const fewest = 5;
const mostSources = 50;
// What a source's newest documents are has no index of its own: with large domains a look at each takes a while.
const patienceMs = 3000;

/** Selectors that find nothing on most of a source's newest pages: the site has another design, or never had this one. */
export async function checkSelectors({ pool }: Database): Promise<CheckResult[]> {
  const sources = await listSelectingSources(pool, mostSources);
  if (sources.length === 0) return [ok('No source has selectors of its own.')];
  const until = performance.now() + patienceMs;
  const results: CheckResult[] = [];
  let looked = 0;
  for (const source of sources) {
    if (performance.now() > until) break;
    looked += 1;
    const failing = (await loadSelectorRates(pool, source, newest)).filter((rate) => isFailing(rate, source));
    if (failing.length > 0) results.push(troubleOf(source, failing));
  }
  if (results.length > 0) return results;
  const many = looked === 1 ? 'one source matches' : `${looked} sources match`;
  return [ok(`The selectors of ${many} their newest pages.`)];
}

function isFailing({ field, documents, matched }: SelectorRate, { settings }: Source): boolean {
  // What is excluded or looked for inside a container is not on every page.
  const isWanted = field !== 'exclude' && settings.selectors !== undefined && field in settings.selectors;
  return isWanted && documents >= fewest && matched * 2 < documents;
}

function troubleOf({ name, slug }: Source, failing: readonly SelectorRate[]): CheckResult {
  const told = failing.map(({ field, matched, documents }) => `${field} (${matched} of ${documents})`);
  return warn(
    `Selectors of ${name} find nothing on most of its newest pages: ${told.join(', ')}.`,
    `The site may have another design. See when it began with "outrider sources selectors ${slug}", and try others on a page with "outrider extract URL --selectors …".`,
  );
}
