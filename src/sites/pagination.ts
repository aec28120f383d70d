import {
  baseOf,
  firstAddress,
  isAlike,
  numbersOf,
  type PagerForm,
  pageAddress,
  pageNumber,
  parseForm,
} from './pager-forms.ts';
import type { Pager } from './pagers.ts';

/** What is known of a listing's pages in one form. */
export type PagerRule = {
  base: string;
  form: PagerForm;
  /** Most links that spoke for it at once; 0: it was only a guess. */
  evidence: number;
  /** The highest page that a link named or that was there. */
  highest: number;
  /** The highest page that had a list of its own, and how many did. */
  reached: number;
  pages: number;
  /** The page that is wanted next; null: the walk has ended. */
  wanted: number | null;
  /** Why no further page is asked for, and since when; null: nothing speaks against it. */
  ended: { reason: PagerEnd; atMs: number } | null;
  /** Entries of the first page, shortened: a page that shows them again is no other page. */
  first: string[];
};

export type PagerEnd = 'not_found' | 'empty' | 'repeat';

/** Rules that are kept for one domain. */
export const mostRules = 200;
const mostEntries = 60;
const guesses: readonly PagerForm[] = ['?page={N}', '/page/{N}', '?p={N}'];
// A guess that failed at so many listings and nowhere worked is not made again on this domain.
const guessesLost = 2;
// A list of fewer entries has no second page worth a guess.
const fullPage = 5;
/** Listings grow: what has ended is asked again after this rest. */
export const pagerRestMs = 30 * 86_400_000;
const repeatShare = 0.8;
const mostPage = 10_000;

/** What a page of a listing showed. */
export type ListingPage = {
  url: string;
  /** Pagers that its links show. */
  pagers: readonly Pager[];
  /** What it lists, each entry by a short name. */
  entries: readonly string[];
  /** Entries that nobody knew. */
  news: number;
  /** It was fetched before. */
  isAgain: boolean;
  /** Page two may be asked for without a link to it. */
  mayGuess: boolean;
};

/** The next page to ask for. */
export type NextPage = { url: string; guessed: boolean; again: boolean };

/** Rules of a domain; changes are kept apart until they are saved. */
export class Pagination {
  readonly #rules = new Map<string, PagerRule>();
  /** Keys of the rules by base: every link of a page is asked for its place. */
  readonly #keys = new Map<string, string[]>();
  #changed = new Set<string>();
  /** Entries of the page before, by base: the first page's are in the rule. */
  readonly #before = new Map<string, readonly string[]>();

  constructor(known: Iterable<PagerRule> = []) {
    for (const rule of known) this.#keep(rule);
  }

  /** The rule an address is a further page of, and which. */
  placeOf(url: string): { rule: PagerRule; page: number } | null {
    for (const address of numbersOf(url)) {
      for (const rule of this.#rulesOf(address.base)) {
        const form = parseForm(rule.form);
        if (form === null || !isAlike(form, address)) continue;
        const page = pageNumber(form, address.value);
        // What is far behind the last page that anybody named is none: an article of that number.
        const most = Math.max(rule.highest, rule.reached) + 1;
        if (Number.isInteger(page) && page > 1 && page <= most) return { rule, page };
      }
    }
    return null;
  }

  /** Whether a page that is known need not be read: nobody wants it, since those before it brought nothing new. */
  isUnwanted(url: string): boolean {
    const place = this.placeOf(url);
    return place !== null && place.rule.wanted !== place.page;
  }

  /** Learns from a listing that was read, and says which page comes next. */
  follow(page: ListingPage, nowMs: number): NextPage | null {
    const place = this.placeOf(page.url);
    for (const rule of this.#rulesOf(place?.rule.base ?? baseOf(page.url)))
      if (rule.ended !== null && nowMs - rule.ended.atMs >= pagerRestMs) this.#put({ ...rule, ended: null });
    this.learnPagers(page.pagers);
    if (place !== null) return this.#followFurther(page, place, nowMs);
    return this.#followFirst(page);
  }

  /** Learns the pagers that a page shows. */
  learnPagers(pagers: readonly Pager[]): void {
    for (const { base, form, evidence, highest } of this.#oneReading(pagers)) {
      const before = this.#rules.get(keyOf({ base, form }));
      if (before !== undefined && before.evidence >= evidence && before.highest >= highest) continue;
      this.#put({
        ...(before ?? newRule(base, form)),
        evidence: Math.max(evidence, before?.evidence ?? 0),
        highest: Math.max(highest, before?.highest ?? 1),
      });
    }
  }

  /** A further page's address may be read in several ways: that which is known counts, else the likeliest. */
  #oneReading(pagers: readonly Pager[]): readonly Pager[] {
    if (pagers.every(({ page }) => page === 1)) return pagers;
    const known = pagers.filter((pager) => this.#rules.has(keyOf(pager)));
    return known.length > 0 ? known : pagers.slice(0, 1);
  }

  #followFirst(page: ListingPage): NextPage | null {
    const own = baseOf(page.url);
    // Further pages may have parameters that the first goes without.
    const shown =
      page.pagers.find((pager) => pager.base === own) ?? page.pagers.find((pager) => pager.page === 1);
    const base = shown?.base ?? own;
    const entries = page.entries.slice(0, mostEntries);
    for (const rule of this.#rulesOf(base)) {
      this.#put({ ...rule, first: [...entries], wanted: null });
      // A walk begins: the last page of the one before says nothing about the second of this.
      this.#before.delete(keyOf(rule));
    }
    // Read again without news: what lies behind it is older still, and known as far as the walk came.
    if (page.isAgain && page.news === 0) return this.#resume(base, page.url);
    if (shown !== undefined) {
      const rule = this.#rules.get(keyOf(shown));
      if (rule === undefined || !mayAsk(rule)) return null;
      return shown.next === null ? null : this.#want(rule, 2, shown.next, page.isAgain);
    }
    const proven = this.#rulesOf(base).find((rule) => rule.pages > 0);
    if (proven !== undefined) {
      if (proven.reached < 2) return null;
      return this.#want(proven, 2, pageAddress(page.url, proven, 2), page.isAgain);
    }
    return page.mayGuess ? this.#guess(page.url, base, entries) : null;
  }

  #followFurther(page: ListingPage, at: { rule: PagerRule; page: number }, nowMs: number): NextPage | null {
    const key = keyOf(at.rule);
    const before = this.#before.get(key) ?? [];
    const wasLast = this.#rules.get(key)!;
    const end = judgePage(page.entries, [wasLast.first, before]);
    if (end !== null) return this.#end(wasLast, end, page.url, nowMs);
    const rule: PagerRule = {
      ...wasLast,
      reached: Math.max(wasLast.reached, at.page),
      highest: Math.max(wasLast.highest, at.page),
      pages: page.isAgain ? wasLast.pages : wasLast.pages + 1,
      wanted: null,
      // It has grown beyond its end.
      ended: at.page > wasLast.reached ? null : wasLast.ended,
    };
    this.#put(rule);
    this.#before.set(key, page.entries.slice(0, mostEntries));
    if (page.isAgain && page.news === 0) return this.#resume(rule.base, firstAddress(page.url, rule) ?? '');
    const shown = page.pagers.find((pager) => keyOf(pager) === key);
    // It has a pager, and that ends here.
    if (rule.evidence > 0 && (shown?.next ?? null) === null) return null;
    const next = at.page + 1;
    if (next > mostPage) return null;
    const url = shown?.next ?? pageAddress(firstAddress(page.url, rule) ?? '', rule, next);
    return this.#want(rule, next, url, page.isAgain && next <= rule.reached);
  }

  /** Goes on where a walk was broken off: a run may end in the middle of it. */
  #resume(base: string, first: string): NextPage | null {
    const rule = this.#rulesOf(base).find(isUnfinished);
    if (rule === undefined) return null;
    const next = rule.reached + 1;
    return this.#want(rule, next, pageAddress(first, rule, next), false, rule.evidence === 0);
  }

  /** A further page that was not there; answers what may be tried instead. */
  fail(url: string, nowMs: number): NextPage | null {
    const place = this.placeOf(url);
    return place === null ? null : this.#end(place.rule, 'not_found', url, nowMs);
  }

  #end(rule: PagerRule, reason: PagerEnd, url: string, nowMs: number): NextPage | null {
    this.#put({ ...rule, wanted: null, ended: { reason, atMs: nowMs } });
    if (rule.evidence > 0 || rule.pages > 0) return null;
    const first = firstAddress(url, rule);
    return first === null ? null : this.#guess(first, rule.base, rule.first);
  }

  /** Page 2 of a listing that shows no pager: in a form that works elsewhere on the domain, else in one that is usual. */
  #guess(url: string, base: string, entries: readonly string[]): NextPage | null {
    if (entries.length < fullPage || base.includes('?')) return null;
    const forms = this.#formsToGuess(entries.length);
    for (const form of forms) {
      const known = this.#rules.get(keyOf({ base, form }));
      if (known !== undefined && !mayAsk(known)) continue;
      const rule = { ...(known ?? newRule(base, form)), first: [...entries] };
      return this.#want(rule, 2, pageAddress(url, rule, 2), false, true);
    }
    return null;
  }

  #formsToGuess(entries: number): PagerForm[] {
    const rules = [...this.#rules.values()];
    const working = new Set(rules.filter((rule) => rule.pages > 0).map((rule) => rule.form));
    if (working.size > 0) return [...working];
    return [...guesses, `?offset={${entries}N}`].filter((form) => {
      const kind = form.replace(/\d+/, '');
      return (
        rules.filter((rule) => rule.ended !== null && rule.form.replace(/\d+/, '') === kind).length <
        guessesLost
      );
    });
  }

  #want(rule: PagerRule, page: number, url: string | null, again: boolean, guessed = false): NextPage | null {
    if (url === null || page > Math.max(rule.highest, rule.reached) + 1) return null;
    if (rule.ended !== null && page > rule.reached) return null;
    this.#put({ ...rule, wanted: page });
    return this.#rules.has(keyOf(rule)) ? { url, guessed, again } : null;
  }

  #rulesOf(base: string): PagerRule[] {
    return (this.#keys.get(base) ?? []).map((key) => this.#rules.get(key)!);
  }

  #keep(rule: PagerRule): void {
    const key = keyOf(rule);
    if (!this.#rules.has(key)) this.#keys.set(rule.base, [...(this.#keys.get(rule.base) ?? []), key]);
    this.#rules.set(key, rule);
  }

  #put(rule: PagerRule): void {
    const key = keyOf(rule);
    const known = this.#rules.get(key);
    if (known === undefined && this.#rules.size >= mostRules) return;
    this.#keep(rule);
    this.#changed.add(key);
  }

  /** What has changed since it was last taken, whole. */
  takeChanges(): PagerRule[] {
    const changes = [...this.#changed].map((key) => this.#rules.get(key)!);
    this.#changed = new Set();
    return changes;
  }

  /** Changes that could not be saved wait for the next time. */
  putBack(changes: readonly PagerRule[]): void {
    for (const rule of changes) this.#changed.add(keyOf(rule));
  }
}

const keyOf = ({ base, form }: { base: string; form: PagerForm }): string => `${base} ${form}`;

const mayAsk = (rule: PagerRule): boolean => rule.ended === null || rule.pages > 0;

// A pager names what is left; a walk without one goes on until something ends it.
const isUnfinished = ({ ended, evidence, highest, reached }: PagerRule): boolean =>
  ended === null && (evidence === 0 || highest > reached);

const newRule = (base: string, form: PagerForm): PagerRule => ({
  base,
  form,
  evidence: 0,
  highest: 1,
  reached: 1,
  pages: 0,
  wanted: null,
  ended: null,
  first: [],
});

/** Why a further page is none; null: it lists something of its own. */
export function judgePage(
  entries: readonly string[],
  others: readonly (readonly string[])[],
): PagerEnd | null {
  if (entries.length === 0) return 'empty';
  for (const other of others) {
    const known = new Set(other);
    if (entries.filter((entry) => known.has(entry)).length >= entries.length * repeatShare) return 'repeat';
  }
  return null;
}
