import type { Publisher } from './publisher.ts';
import type { Item } from './timeline.ts';

const cyrillic = 'абвгдежзийклмнопрстуфхцчшщъыьэюяё';
const latin = 'a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya e'.split(' ');
const transliteration = new Map([...cyrillic].map((letter, i) => [letter, latin[i] ?? '']));
const maxSlugWords = 8;

/** ASCII words joined by hyphens; Japanese stays as it is and is percent-encoded, as its publishers do. */
export function slugOf(text: string): string {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  let ascii = '';
  for (const letter of plain) ascii += transliteration.get(letter) ?? letter;
  const words = ascii
    .replace(/[ßøłæœ]/g, (letter) => ({ ß: 'ss', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe' })[letter] ?? letter)
    .split(/[\u0000-\u002f\u003a-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+/)
    .filter((word) => word !== '');
  return encodeURIComponent(words.slice(0, maxSlugWords).join('-').slice(0, 80));
}

/** Path and query of an article in its publisher's style; the item's number closes it, so no index is needed. */
export function articlePath(
  publisher: Publisher,
  item: Item,
  about: { title: string; section: string },
): string {
  const token = item.id.toString(36);
  const slug = `${slugOf(about.title)}-${token}`;
  // A forbidden section needs a path that robots.txt can name.
  if (about.section === publisher.forbiddenSection) return `/${about.section}/${slug}`;
  const [year, month, day] = new Date(item.atMs).toISOString().slice(0, 10).split('-') as [
    string,
    string,
    string,
  ];
  switch (publisher.urlStyle) {
    case 'query':
      return `/article.php?id=${token}`;
    case 'dated':
      return `/${year}/${month}/${day}/${slug}`;
    case 'section':
      return `/${about.section}/${slug}`;
    case 'flat':
      return `/${slug}`;
    case 'html':
      return `/${about.section}/${slug}.html`;
    default:
      return `/news/${year}/${month}/${slug}/`;
  }
}

const pathToken = /-([0-9a-z]{4,7})(?:\.html|\/)?$/;

/** The item number that an address seems to carry. */
export function itemIdIn(path: string, query: string): number | undefined {
  const token =
    path === '/article.php'
      ? (new URLSearchParams(query).get('id') ?? '')
      : (pathToken.exec(path)?.[1] ?? '');
  if (!/^[0-9a-z]{4,7}$/.test(token)) return undefined;
  return Number.parseInt(token, 36);
}
