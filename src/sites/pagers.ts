import {
  baseOf,
  formOf,
  type NumberedAddress,
  numbersOf,
  type PagerForm,
  type ParsedForm,
  pageNumber,
} from './pager-forms.ts';

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

const pageWords =
  /^(?:page|paged|pageno|page_no|pagenum|pagenumber|pg|seite|pagina|página|pag|sida|side|strona)$/i;
const pagePathWords = /^(?:page|paged|pg|seite|pagina|pag|sida|side|strona)[/=_-]?$/i;
const skipWords = /^(?:offset|start|from|skip|first|begin|startindex)$/i;
const otherWords = /^p$/i;
const stepWords =
  /^(?:[‹›«»←→<>]+|…|(?:next|previous|prev|older|newer|weiter|zurück|vor|suivante?|précédente?|siguiente|anterior|nästa|föregående)\b.*)$/iu;

type Group = { address: NumberedAddress; links: Map<number, PagerLink[]> };

/**
 * Pagers of the page at hand. A rule needs two sibling links, a link that says `rel=next` or `rel=prev`, or one link to
 * the very next page by a parameter that is called "page": a single `?p=123` is an article.
 */
export function inferPagers(url: string, links: readonly PagerLink[]): Pager[] {
  const own = numbersOf(url);
  const bases = new Map<string, NumberedAddress | null>([[baseOf(url), null]]);
  const site = hostOf(url);
  for (const one of own) bases.set(one.base, one);
  const groups = new Map<string, Group>();
  for (const link of links) {
    if (hostOf(link.url) !== site) continue;
    for (const address of numbersOf(link.url)) {
      const here = bases.get(address.base);
      if (here === undefined) continue;
      // On `?a=3`, another number of the same address is no page of it.
      if (here !== null && (here.name !== address.name || here.where !== address.where)) continue;
      const key = `${address.base} ${address.where} ${address.name}`;
      const group = groups.get(key) ?? { address, links: new Map() };
      group.links.set(address.value, [...(group.links.get(address.value) ?? []), link]);
      groups.set(key, group);
    }
  }
  const pagers: Pager[] = [];
  for (const group of groups.values()) {
    const pager = judge(group, bases.get(group.address.base) ?? null);
    if (pager !== null) pagers.push(pager);
  }
  return pagers;
}

function judge({ address, links }: Group, here: NumberedAddress | null): Pager | null {
  const values = [...links.keys()].sort((a, b) => a - b);
  const all = [...links.values()].flat();
  const named = isNamed(address);
  const hasRel = all.some((link) => relOf(link) !== null);
  const likely = values.filter((value) => links.get(value)!.some((link) => isPagerLike(link)));
  const form = formFrom(address, links, here);
  const page = here === null ? 1 : pageNumber(form, here.value);
  const numberOf = (value: number) => pageNumber(form, value);
  // The days of a calendar look like this too.
  if (address.where === 'path' && address.name === '' && !hasRel) return null;
  // Ids are no pages: nearly all of them are far away, and a listing has no page of half a step.
  if (!Number.isInteger(page) || values.some((value) => !Number.isInteger(numberOf(value)))) return null;
  const isPlain =
    hasRel ||
    (likely.length >= 2 &&
      (named || likely.every((value) => saysPage(links.get(value)!, numberOf(value))))) ||
    (isPageWord(address) && values.length === 1 && numberOf(values[0]!) === page + 1);
  if (!isPlain) return null;
  const pages = values.map(numberOf);
  const next = values.find((value) => numberOf(value) === page + 1);
  return {
    base: address.base,
    form: formOf(form),
    page,
    evidence: values.length,
    highest: Math.max(page, ...pages),
    next: next === undefined ? null : links.get(next)![0]!.url,
  };
}

const isPageWord = ({ where, name }: NumberedAddress): boolean =>
  where === 'query' ? pageWords.test(name) : pagePathWords.test(name);
const isNamed = (address: NumberedAddress): boolean =>
  isPageWord(address) ||
  (address.where === 'query' && (skipWords.test(address.name) || otherWords.test(address.name)));

function relOf({ rel }: PagerLink): 'next' | 'prev' | null {
  const words = rel?.toLowerCase().split(/\s+/) ?? [];
  if (words.includes('next')) return 'next';
  return words.includes('prev') || words.includes('previous') ? 'prev' : null;
}

const isPagerLike = (link: PagerLink): boolean =>
  relOf(link) !== null || link.inNav || /^\d{1,6}$/.test(link.text) || stepWords.test(link.text);
const saysPage = (links: readonly PagerLink[], page: number): boolean =>
  links.some(({ text }) => text === String(page));

function formFrom(
  { where, name }: NumberedAddress,
  links: Group['links'],
  here: NumberedAddress | null,
): ParsedForm {
  if (where === 'path') return { where, name, step: 1, zero: 0 };
  const values = [...links.keys(), ...(here === null ? [] : [here.value])].filter((value) => value > 0);
  if (skipWords.test(name)) {
    const step = values.reduce(gcd, 0);
    return { where, name, step: Math.max(1, step), zero: 1 };
  }
  // "2" that leads to `?page=1`: counting begins with 0.
  let fromZero = 0;
  let fromOne = 0;
  for (const [value, of] of links)
    for (const { text } of of) {
      if (text === String(value + 1)) fromZero += 1;
      if (text === String(value)) fromOne += 1;
    }
  return { where, name, step: 1, zero: fromZero > fromOne ? 1 : 0 };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

const hostOf = (url: string): string =>
  /^https?:\/\/(?:www\.)?([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
