import { parseUrl, resolveUrl } from '../url/index.ts';

/**
 * How the address of a listing's N-th page is made from its first: `?page={N}`, `/page/{N}`, `?page={N-1}` where counting
 * begins with 0, `?offset={20N}` where twenty entries are skipped for each page before, `/list_7_{N}.html` below it, and
 * `-{N}.html` at the end of its own name.
 */
export type PagerForm = string;

/** Where the number stands: in a parameter, in a segment below the listing, or behind the listing's own name. */
type Place = 'query' | 'path' | 'stem';

/** A form taken apart. */
export type ParsedForm = {
  where: Place;
  /** The parameter, or what stands before the number. */
  name: string;
  /** What stands behind the number in a path: nothing, or `.html`. */
  suffix: string;
  step: number;
  /** The number of the page that stands at 0. */
  zero: 0 | 1;
};

const queryForm = /^\?(.{1,60})=\{(\d*)N(-1)?\}$/;
const pathForm = /^(\/?)([^{}]{0,60})\{N(-1)?\}(\.\p{L}{2,5})?$/u;

/** Reads a form; null for what is none. */
export function parseForm(form: PagerForm): ParsedForm | null {
  const query = queryForm.exec(form);
  if (query !== null) {
    const step = query[2] === '' ? 1 : Number(query[2]);
    const zero = step > 1 || query[3] !== undefined ? 1 : 0;
    return { where: 'query', name: query[1]!, suffix: '', step, zero };
  }
  const path = pathForm.exec(form);
  if (path === null) return null;
  const [, slash, name, fromZero, suffix] = path;
  return {
    where: slash === '' ? 'stem' : 'path',
    name: name!,
    suffix: suffix ?? '',
    step: 1,
    zero: fromZero === undefined ? 0 : 1,
  };
}

/** Writes a form. */
export function formOf({ where, name, suffix, step, zero }: ParsedForm): PagerForm {
  if (step > 1) return `?${name}={${step}N}`;
  const number = zero === 1 ? '{N-1}' : '{N}';
  if (where === 'query') return `?${name}=${number}`;
  return `${where === 'path' ? '/' : ''}${name}${number}${suffix}`;
}

/** A number in an address that may be a page's, and the address without it. */
export type NumberedAddress = NumberPlace & { base: string; value: number };
type NumberPlace = Pick<ParsedForm, 'where' | 'name' | 'suffix'>;

/** Whether two numbers stand in the same place of the same listing. */
export const isAlike = (a: NumberPlace, b: NumberPlace): boolean =>
  a.where === b.where && a.name === b.name && a.suffix === b.suffix;

const mostValue = 1_000_000;
const numberedSegment = /^(.*)\/([^/]*?)(?<!\d)([1-9]\d{0,5}|0)(\.\p{L}{2,5})?$/u;
// "page" of `/page/2`.
const wordBefore = /^(.*)\/(\p{L}{1,12})$/u;
// "-", "_" or "-p" behind the listing's own name.
const stemAndMark = /^(.*[^-_.])([-_.]\p{L}{0,4})$/u;
// Looked for from the first of a run alone: paths of thousands of slashes took a second for a page of links.
const lastSlashes = /(?<!\/)\/+$/;
const mostName = 40;
// Each may be the one that counts: a page of links with hundreds of them would take minutes.
const mostParameters = 12;

/** What a listing is known by among its pages: path and parameters in order, without host and last slash. */
export function baseOf(url: string): string {
  const at = parseUrl(url);
  return at === null ? '' : keyOf(at.pathname, at.searchParams);
}

function keyOf(path: string, parameters: URLSearchParams): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = new URLSearchParams(sorted).toString();
  return `${path.replace(lastSlashes, '') || '/'}${query === '' ? '' : `?${query}`}`;
}

/** Every number of an address that may count pages, in each way it may be read. */
export function numbersOf(url: string): NumberedAddress[] {
  const at = parseUrl(url);
  if (at === null) return [];
  const found: NumberedAddress[] = [];
  const parameters = [...at.searchParams];
  for (const [name, text] of parameters.length > mostParameters ? [] : parameters) {
    const value = /^(?:[1-9]\d{0,6}|0)$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= mostValue) || !/^[\w.[\]-]{1,60}$/.test(name)) continue;
    const rest = new URLSearchParams(at.searchParams);
    rest.delete(name);
    found.push({ base: keyOf(at.pathname, rest), where: 'query', name, suffix: '', value });
  }
  const segment = numberedSegment.exec(at.pathname.replace(lastSlashes, ''));
  if (segment === null) return found;
  const [folder, name, digits, suffix] = [segment[1]!, segment[2]!, segment[3]!, segment[4] ?? ''];
  const add = (where: 'path' | 'stem', base: string, before: string): void => {
    if (before.length > mostName) return;
    found.push({ base: keyOf(base, at.searchParams), where, name: before, suffix, value: Number(digits) });
  };
  if (name === '') {
    const worded = wordBefore.exec(folder);
    if (worded !== null) add('path', worded[1]!, `${worded[2]!}/`);
    add('path', folder, '');
    return found;
  }
  add('path', folder, name);
  const [, stem, mark] = stemAndMark.exec(name) ?? (suffix === '' ? [] : ['', name, '']);
  if (stem === undefined || mark === undefined) return found;
  if (suffix !== '') add('stem', `${folder}/${stem}${suffix}`, mark);
  add('stem', `${folder}/${stem}`, mark);
  return found;
}

/** The number of the page in a form, 1 for the first. */
export const pageNumber = (form: ParsedForm, value: number): number => value / form.step + form.zero;

/** A listing and how its pages are numbered. */
export type Numbering = { base: string; form: PagerForm };

/** The address of a listing's page, from that of its first; null where it cannot be made. */
export function pageAddress(firstUrl: string, { base, form }: Numbering, page: number): string | null {
  const parsed = parseForm(form);
  const at = parseUrl(firstUrl);
  if (parsed === null || at === null) return null;
  if (page <= 1) return firstUrl;
  const { where, name, suffix, step, zero } = parsed;
  const value = String((page - zero) * step);
  const path = at.pathname.replace(lastSlashes, '');
  if (where === 'query') {
    // Further pages may have parameters that the first goes without.
    for (const [one, of] of new URLSearchParams(base.split('?')[1]))
      if (!at.searchParams.has(one)) at.searchParams.append(one, of);
    at.searchParams.set(name, value);
  } else if (where === 'path') at.pathname = `${path}/${name}${value}${suffix}`;
  else {
    const stem = path.endsWith(suffix) ? path.slice(0, path.length - suffix.length) : path;
    at.pathname = `${stem}${name}${value}${suffix}`;
  }
  return resolveUrl(at.href);
}

/** The address of the first page, from any page of a listing. */
export function firstAddress(url: string, { base, form }: Numbering): string | null {
  const parsed = parseForm(form);
  const at = parseUrl(url);
  if (parsed === null || at === null) return null;
  const { where, name, suffix } = parsed;
  if (where === 'query') at.searchParams.delete(name);
  else if (where === 'path') {
    const path = at.pathname.replace(lastSlashes, '');
    const before = path.slice(0, path.length - suffix.length).replace(/\d+$/, '');
    if (!path.endsWith(suffix) || !before.endsWith(`/${name}`)) return null;
    at.pathname = before.slice(0, before.length - name.length);
  } else at.pathname = base.replace(/\?.*$/, '');
  return at.href;
}
