import {
  baseOf,
  formOf,
  isAlike,
  type NumberedAddress,
  numbersOf,
  type PagerForm,
  type ParsedForm,
  pageNumber,
} from './pager-forms.ts';
import {
  calendarWords,
  isStep,
  mostPagerText,
  nextText,
  numberText,
  pagePathWords,
  pageWords,
  plainName,
  previousText,
  saysPage,
  skipWords,
  yearBefore,
} from './pager-words.ts';

/** A link as far as pagers are concerned. */
export type PagerLink = { url: string; text: string; rel: string | null; inNav: boolean };

/** The pager of a listing as its links show it. */
export type Pager = {
  base: string;
  form: PagerForm;
  /** The page at hand. */
  page: number;
  /** Links that speak for it. */
  evidence: number;
  highest: number;
  /** The address of the next page, where it is linked. */
  next: string | null;
};

// Further pages may have parameters that the first goes without; more than these say another listing.
const mostExtra = 4;

type Group = { address: NumberedAddress; links: Map<number, PagerLink[]> };

/**
 * Pagers of the page at hand; where its own address may be read in several ways, the likeliest first. A pager needs two
 * sibling links that say their number, a link that says `rel=next` or `rel=prev`, or one link to the very next page by a
 * parameter that is called "page": `?p=123` is an article, and so are a dozen of them.
 */
export function inferPagers(
  url: string,
  links: readonly PagerLink[],
  { isArticle = false }: { isArticle?: boolean } = {},
): Pager[] {
  const site = hostOf(url);
  const first = baseOf(url);
  const bases = new Map<string, NumberedAddress | null>([[first, null]]);
  for (const address of numbersOf(url)) bases.set(address.base, address);
  const groups = new Map<string, Group>();
  const own = links.filter((link) => hostOf(link.url) === site);
  const linked = new Set(own.map((link) => baseOf(link.url)));
  for (const link of own) {
    const addresses = numbersOf(link.url);
    // `/news/a-2.html` is of `/news/a.html` where that is linked: on a board, the second page of a thread.
    const hasOwner = addresses.some(({ where, base }) => where === 'stem' && linked.has(base));
    for (const address of addresses) {
      if (hasOwner && address.where === 'path' && !plainName.test(address.name)) continue;
      const here = bases.get(address.base);
      if (here === undefined && !hasMore(address, first)) continue;
      // On `?a=3`, another number of the same address is no page of it.
      if (here != null && !isAlike(here, address)) continue;
      const key = `${address.base} ${address.where} ${address.name} ${address.suffix}`;
      const group = groups.get(key) ?? { address, links: new Map() };
      group.links.set(address.value, [...(group.links.get(address.value) ?? []), link]);
      groups.set(key, group);
    }
  }
  const pagers: Pager[] = [];
  const withMore: Pager[] = [];
  for (const group of groups.values()) {
    // The days of a calendar are bare numbers too, but not below an article.
    if (!isArticle && isBare(group.address) && !hasRel(group)) continue;
    const pager = judge(group, bases.get(group.address.base) ?? null, isArticle);
    if (pager === null) continue;
    if (bases.has(pager.base)) pagers.push(pager);
    else if (pager.next !== null) withMore.push(pager);
  }
  if (pagers.length === 0) return withMore.sort((a, b) => b.evidence - a.evidence).slice(0, 1);
  // Where the page at hand is `/news/a_2.html`, it depends on the same.
  const rank = ({ base, form }: Pager): number =>
    form.startsWith('/') || form.startsWith('?') ? 1 : linked.has(base) ? 0 : 2;
  return pagers.sort((a, b) => rank(a) - rank(b));
}

/** Whether a page of this address has all that the first page's has, and a few parameters more. */
function hasMore({ where, base, name }: NumberedAddress, first: string): boolean {
  if (where !== 'query') return false;
  const [path, query = ''] = base.split('?');
  const [firstPath, firstQuery = ''] = first.split('?');
  if (path !== firstPath) return false;
  const parameters = [...new URLSearchParams(query)].map((one) => one.join('='));
  const own = [...new URLSearchParams(firstQuery)];
  return (
    parameters.length <= own.length + mostExtra &&
    own.every((one) => one[0] !== name && parameters.includes(one.join('=')))
  );
}

function judge(group: Group, here: NumberedAddress | null, isArticle: boolean): Pager | null {
  const { address, links } = group;
  const values = [...links.keys()].sort((a, b) => a - b);
  const form = formFrom(address, links, here);
  const page = here === null ? 1 : pageNumber(form, here.value);
  const numberOf = (value: number) => pageNumber(form, value);
  // Ids are no pages: a listing has no page of half a step.
  if (!Number.isInteger(page) || values.some((value) => !Number.isInteger(numberOf(value)))) return null;
  const all = [...links.values()].flat();
  if (isOfCalendar(address, here === null ? values : [...values, here.value])) return null;
  const saying = (says: (text: string, page: number) => boolean): number =>
    values.filter((value) => links.get(value)!.some(({ text }) => says(text, numberOf(value)))).length;
  const said = saying(saysPage);
  const stepped = saying(
    (text, to) => (to === page + 1 && nextText.test(text)) || (to === page - 1 && previousText.test(text)),
  );
  const hasNeighbour = values.some((value) => Math.abs(numberOf(value) - page) === 1);
  const isPlain =
    (hasRel(group) && (said > 0 || isPlainlyNamed(address))) ||
    (isNamed(address) && values.filter((value) => links.get(value)!.some(isPagerLike)).length >= 2) ||
    // By any other name nearly all of them are numbers and steps: articles have titles.
    (hasNeighbour &&
      // An article of two pages links one of them, and what it leads to is compared.
      said + stepped >= (isArticle || (page === 1 && stepped > 0) ? 1 : 2) &&
      all.filter(({ text }) => text.length > mostPagerText && !isStep(text)).length <= said / 3) ||
    (isPageWord(address) && values.length === 1 && numberOf(values[0]!) === page + 1);
  if (!isPlain) return null;
  const next = values.find((value) => numberOf(value) === page + 1);
  return {
    base: address.base,
    form: formOf(form),
    page,
    evidence: values.length,
    highest: Math.max(page, ...values.map(numberOf)),
    next: next === undefined ? null : links.get(next)![0]!.url,
  };
}

// Days, months and years say their numbers too, and have a next one.
const isOfCalendar = (address: NumberedAddress, values: readonly number[]): boolean =>
  (address.where === 'query' ? calendarWords : yearBefore).test(address.name) ||
  (!isNamed(address) && values.every((value) => value >= 1900 && value <= 2100));

const isBare = ({ where, name }: NumberedAddress): boolean => where === 'path' && name === '';
const hasRel = ({ links }: Group): boolean =>
  [...links.values()].some((of) => of.some((link) => relOf(link) !== null));

const isPageWord = ({ where, name }: NumberedAddress): boolean =>
  where === 'query' ? pageWords.test(name) : where === 'path' && pagePathWords.test(name);
const isNamed = (address: NumberedAddress): boolean =>
  isPageWord(address) || (address.where === 'query' && skipWords.test(address.name));
const isPlainlyNamed = ({ where, name }: NumberedAddress): boolean =>
  where === 'query' || (where === 'path' && plainName.test(name));

function relOf({ rel }: PagerLink): 'next' | 'prev' | null {
  const words = rel?.toLowerCase().split(/\s+/) ?? [];
  if (words.includes('next')) return 'next';
  return words.includes('prev') || words.includes('previous') ? 'prev' : null;
}

const isPagerLike = (link: PagerLink): boolean =>
  relOf(link) !== null || link.inNav || numberText.test(link.text) || isStep(link.text);

function formFrom(
  { where, name, suffix }: NumberedAddress,
  links: Group['links'],
  here: NumberedAddress | null,
): ParsedForm {
  // "2" that leads to `?page=1`: counting begins with 0. So it does where 1 comes after the first page.
  const saying = (pageOf: (value: number) => number): number =>
    [...links].flatMap(([value, of]) => of.filter(({ text }) => saysPage(text, pageOf(value)))).length;
  const fromOne = saying((value) => value);
  if (where === 'query' && skipWords.test(name)) {
    const values = [...links.keys(), ...(here === null ? [] : [here.value])].filter((value) => value > 0);
    const step = Math.max(1, values.reduce(gcd, 0));
    if (saying((value) => value / step + 1) >= fromOne) return { where, name, suffix, step, zero: 1 };
  }
  const isAfterFirst =
    here === null && links.get(1)?.some((link) => relOf(link) === 'next' || nextText.test(link.text));
  const fromZero = saying((value) => value + 1) + (isAfterFirst === true ? 1 : 0);
  return { where, name, suffix, step: 1, zero: fromZero > fromOne ? 1 : 0 };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

const hostOf = (url: string): string =>
  /^https?:\/\/(?:www\.)?([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
