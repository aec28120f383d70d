/** A family of addresses that hold a month or a year each: `/news/{Y}/{M}/`. {M} has two digits, {m} as many as needed. */
export type DatePattern = {
  template: string;
  /** The newest month that was seen in it; January where only the year is known. */
  newest: Month;
};

/** A month as a number that grows by one with each. */
export type Month = number;

/** The number of a month. */
export const monthOf = (year: number, month: number): Month => year * 12 + month - 1;

// The web is older, its archives hardly.
const firstYear = 1995;
// One address may carry a number by chance.
const leastSeen = 2;
const mostPatterns = 3;
const longestPath = 500;

// A folder or two, then the date, then something that is dated by it. Linear: no part can be matched in two ways.
const dated =
  /^((?:\/[a-z][a-z0-9_-]{0,40}){0,2})\/((?:19|20)\d\d)(?:([/-])(1[0-2]|0?[1-9]))?(?=[/-])(?:[/-]\d{1,2})?\/[^/]{3}/i;

/** Date patterns of addresses that were seen, the commonest first. Pure. */
export function learnDatePatterns(urls: readonly string[], now: Date): DatePattern[] {
  const newestYear = now.getUTCFullYear();
  const seen = new Map<string, { count: number; newest: Month }>();
  for (const url of urls) {
    const found = datesIn(url);
    if (found === null || found.year < firstYear || found.year > newestYear) continue;
    const known = seen.get(found.template) ?? { count: 0, newest: 0 };
    seen.set(found.template, {
      count: known.count + 1,
      newest: Math.max(known.newest, monthOf(found.year, found.month)),
    });
  }
  return [...seen.entries()]
    .filter(([, { count }]) => count >= leastSeen)
    .sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1))
    .slice(0, mostPatterns)
    .map(([template, { newest }]) => ({ template, newest }));
}

function datesIn(url: string): { template: string; year: number; month: number } | null {
  const path = URL.canParse(url) ? new URL(url).pathname.slice(0, longestPath) : '';
  const match = dated.exec(path);
  if (match === null) return null;
  const [, prefix, year, separator, month] = match;
  if (month === undefined) return { template: `${prefix}/{Y}/`, year: Number(year), month: 1 };
  const form = month.length === 1 ? '{m}' : '{M}';
  return { template: `${prefix}/{Y}${separator}${form}/`, year: Number(year), month: Number(month) };
}

/** The pattern of the years in which the months of a pattern lie; null: it is one of years. */
export function yearPatternOf({ template, newest }: DatePattern): DatePattern | null {
  const years = template.replace(/\{Y\}.*/, '{Y}/');
  return years === template ? null : { template: years, newest };
}

/** The paths of a pattern, newest first, going back as far as archives may. */
export function* pathsOf({ template, newest }: DatePattern): Generator<string> {
  const isYearly = !/\{m\}/i.test(template);
  for (let month = newest; month >= monthOf(firstYear, 1); month -= isYearly ? 12 : 1) {
    const year = String(Math.floor(month / 12));
    const number = String((month % 12) + 1);
    yield template.replace('{Y}', year).replace('{M}', number.padStart(2, '0')).replace('{m}', number);
  }
}
