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
  const words = wordsOf(text);
  if (words.length === 0 || words.length > MAX_WORDS) return false;
  const present = new Set(words);
  const named = authors
    .map(wordsOf)
    .filter((name) => name.length > 1 && name.every((word) => present.has(word)));
  if (named.length === 0) return false;
  const known = new Set(named.flat());
  return words.filter((word) => !known.has(word) && !/^\d/.test(word)).length <= MAX_OTHER_WORDS;
}
