import { leadOf, reporterIn, withoutPictures } from './byline-words.ts';
import { comparable } from './comparable.ts';

const WORDS = /\p{L}[\p{L}\p{M}'’-]*|\d+/gu;
const MAX_CHARS = 120;
const MAX_WORDS = 14;
// "By", "updated", a month, a zone: what else stands in such a line, whatever the language.
const MAX_OTHER_WORDS = 5;

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/** Whether a line says only who wrote the article, and perhaps when. The names must be known from elsewhere. */
export function isByline(text: string, authors: readonly string[]): boolean {
  if (text.length > MAX_CHARS || authors.length === 0) return false;
  const lower = text.toLowerCase();
  // Most lines hold no part of any name: cutting them into words can wait.
  if (!authors.some((name) => lower.includes(name.slice(name.lastIndexOf(' ') + 1).toLowerCase())))
    return false;
  if (isLedName(text, authors)) return true;
  const words = wordsOf(withoutPictures(text));
  if (words.length === 0 || words.length > MAX_WORDS) return false;
  const present = new Set(words);
  const named = authors
    .map(wordsOf)
    .filter((name) => name.length > 1 && name.every((word) => present.has(word)));
  if (named.length === 0) return false;
  const known = new Set(named.flat());
  return words.filter((word) => !known.has(word) && !/^\d/.test(word)).length <= MAX_OTHER_WORDS;
}

/** Whether a line is a word for "by" and a name, which in some languages is one word. */
function isLedName(text: string, authors: readonly string[]): boolean {
  const lead = leadOf(text, []);
  const name = lead === null ? reporterIn(text) : text.slice(lead.chars);
  return name !== null && authors.some((author) => comparable(author) === comparable(name));
}
