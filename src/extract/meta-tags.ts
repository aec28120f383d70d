import { attribute, collapse, copyString, type Page } from '../html/index.ts';
import { decodeEntities } from './json-ld.ts';
import { parseLdScript } from './json-ld-script.ts';

/** The page's meta tags in three bags; the first of a name wins. */
export type MetaTags = {
  openGraph: Record<string, string>;
  twitter: Record<string, string>;
  meta: Record<string, string>;
  /** Names that may repeat, such as `article:author`, with every value. */
  lists: Map<string, string[]>;
};

const MAX_VALUE_CHARS = 5_000;
const MAX_TAGS = 300;

/** Bags without a prototype: a page may well name a tag `__proto__`. */
const bag = (): Record<string, string> => Object.create(null) as Record<string, string>;

/** Reads `<meta>` by name, property or itemprop, with entities decoded and white space collapsed. */
export function readMetaTags(page: Page): MetaTags {
  const tags: MetaTags = { openGraph: bag(), twitter: bag(), meta: bag(), lists: new Map() };
  let count = 0;
  for (const node of page.metas) {
    const name =
      attribute(node, 'property') ||
      attribute(node, 'name') ||
      attribute(node, 'itemprop') ||
      attribute(node, 'http-equiv');
    const content = attribute(node, 'content') ?? attribute(node, 'value');
    if (!name || content === null || name.length > 100) continue;
    const value = copyString(collapse(decodeEntities(content.slice(0, MAX_VALUE_CHARS))));
    if (value === '') continue;
    for (const one of name.toLowerCase().split(/\s+/, 3)) {
      if (one === '' || ++count > MAX_TAGS) continue;
      const key = copyString(one);
      const target = key.startsWith('og:')
        ? tags.openGraph
        : key.startsWith('twitter:')
          ? tags.twitter
          : tags.meta;
      if (target[key] === undefined) target[key] = value;
      const list = tags.lists.get(key);
      if (list === undefined) tags.lists.set(key, [value]);
      else if (list.length < 50) list.push(value);
    }
  }
  addParsely(tags);
  return tags;
}

/** What one analytics service has in a single tag, as JSON; its later tags, one a value, say the same. */
function addParsely(tags: MetaTags): void {
  const json = tags.meta['parsely-page'];
  const data = json === undefined ? null : parseLdScript(json);
  if (typeof data !== 'object' || data === null) return;
  const fields = new Map<string, unknown>(Object.entries(data));
  for (const [field, name] of PARSELY) {
    const values = [fields.get(field)]
      .flat()
      .filter((one): one is string => typeof one === 'string' && one !== '');
    if (values.length === 0 || tags.meta[name] !== undefined) continue;
    tags.meta[name] = values[0]!;
    tags.lists.set(name, values.slice(0, 50));
  }
}

const PARSELY = [
  ['pub_date', 'parsely-pub-date'],
  ['author', 'parsely-author'],
  ['authors', 'parsely-author'],
  ['section', 'parsely-section'],
] as const;

/** The first value among several names of the same thing. */
export function firstOf(tags: MetaTags, names: readonly string[]): { name: string; value: string } | null {
  for (const name of names) {
    const value = tags.openGraph[name] ?? tags.twitter[name] ?? tags.meta[name];
    if (value !== undefined) return { name, value };
  }
  return null;
}
