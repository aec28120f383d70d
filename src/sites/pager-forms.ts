import { parseUrl, resolveUrl } from '../url/index.ts';

/**
 * How the address of a listing's N-th page is made from its first: `?page={N}`, `/page/{N}`, `?page={N-1}` where counting
 * begins with 0, `?offset={20N}` where twenty entries are skipped for each page before.
 */
export type PagerForm = string;

/** A form taken apart. */
export type ParsedForm = {
  where: 'query' | 'path';
  /** The parameter, or what stands before the number in the last segments. */
  name: string;
  step: number;
  /** The number of the page that stands at 0. */
  zero: 0 | 1;
};

const queryForm = /^\?(.{1,60})=\{(\d*)N(-1)?\}$/;
const pathForm = /^\/(.{0,60})\{N\}$/;

/** Reads a form; null for what is none. */
export function parseForm(form: PagerForm): ParsedForm | null {
  const query = queryForm.exec(form);
  if (query !== null) {
    const step = query[2] === '' ? 1 : Number(query[2]);
    return { where: 'query', name: query[1]!, step, zero: step > 1 || query[3] !== undefined ? 1 : 0 };
  }
  const path = pathForm.exec(form);
  return path === null ? null : { where: 'path', name: path[1]!, step: 1, zero: 0 };
}

/** Writes a form. */
export function formOf({ where, name, step, zero }: ParsedForm): PagerForm {
  if (where === 'path') return `/${name}{N}`;
  return step > 1 ? `?${name}={${step}N}` : `?${name}={N${zero === 1 ? '-1' : ''}}`;
}

/** A number in an address that may be a page's, and the address without it. */
export type NumberedAddress = { base: string; where: 'query' | 'path'; name: string; value: number };

const mostValue = 1_000_000;
const pathNumber = /^(.*)\/(\p{L}{1,12}(?:[/=_-]|(?=\d)))(\d{1,6})$/u;
const bareNumber = /^(.+)\/(\d{1,4})$/;

/** What a listing is known by among its pages: path and parameters in order, without host and last slash. */
export function baseOf(url: string): string {
  const at = parseUrl(url);
  return at === null ? '' : keyOf(at.pathname, at.searchParams);
}

function keyOf(path: string, parameters: URLSearchParams): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = new URLSearchParams(sorted).toString();
  return `${path.replace(/\/+$/, '') || '/'}${query === '' ? '' : `?${query}`}`;
}

/** Every number of an address that may count pages. */
export function numbersOf(url: string): NumberedAddress[] {
  const at = parseUrl(url);
  if (at === null) return [];
  const found: NumberedAddress[] = [];
  for (const [name, text] of at.searchParams) {
    const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= mostValue) || !/^[\w.[\]-]{1,60}$/.test(name)) continue;
    const rest = new URLSearchParams(at.searchParams);
    rest.delete(name);
    found.push({ base: keyOf(at.pathname, rest), where: 'query', name, value });
  }
  const path = at.pathname.replace(/\/+$/, '');
  const worded = pathNumber.exec(path);
  const bare = worded === null ? bareNumber.exec(path) : null;
  const [, before, name, digits] = worded ?? (bare === null ? [] : [bare[0], bare[1], '', bare[2]]);
  if (before !== undefined && name !== undefined && digits !== undefined)
    found.push({ base: keyOf(before, at.searchParams), where: 'path', name, value: Number(digits) });
  return found;
}

/** The number of the page in a form, 1 for the first. */
export const pageNumber = (form: ParsedForm, value: number): number => value / form.step + form.zero;

/** The address of a listing's page in a form; null where it cannot be made. */
export function pageAddress(firstUrl: string, form: PagerForm, page: number): string | null {
  const parsed = parseForm(form);
  const at = parseUrl(firstUrl);
  if (parsed === null || at === null) return null;
  if (page <= 1) return firstUrl;
  const value = String((page - parsed.zero) * parsed.step);
  if (parsed.where === 'query') at.searchParams.set(parsed.name, value);
  else at.pathname = `${at.pathname.replace(/\/+$/, '')}/${parsed.name}${value}`;
  return resolveUrl(at.href);
}

/** The address of the first page, from any page in a form. */
export function firstAddress(url: string, form: PagerForm): string | null {
  const parsed = parseForm(form);
  const at = parseUrl(url);
  if (parsed === null || at === null) return null;
  if (parsed.where === 'query') at.searchParams.delete(parsed.name);
  else {
    const path = at.pathname.replace(/\/+$/, '').replace(/\d+$/, '');
    if (!path.endsWith(`/${parsed.name}`)) return null;
    at.pathname = `${path.slice(0, path.length - parsed.name.length)}`;
  }
  return at.href;
}
