import { UNSPACED } from '../text/index.ts';

/** The words of a title; where no spaces part them (Chinese, Japanese, Thai …) every two letters stand for one. */
export function wordSet(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  if (!IS_UNSPACED.test(text)) return new Set(words);
  return new Set(words.flatMap((word) => (IS_UNSPACED.test(word) ? pairsOf(word) : word)));
}

const IS_UNSPACED = new RegExp(UNSPACED, 'u');
const pairsOf = (word: string) => Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));

/** The share of the shorter text's words that the other has too. */
export function overlap(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  return shared / Math.min(a.size, b.size);
}

// Two titles that share this much are one title in two wordings.
const SAME_TITLE = 0.65;

/** Whether two titles are one in other words: most words shared and no other number ("Trends of 2024" is another). */
export function saysTheSame(a: string, b: string): boolean {
  const words = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  const [one, other] = [words(a), words(b)];
  let shared = 0;
  for (const word of one) if (other.has(word)) shared++;
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).sort().join();
  return shared >= SAME_TITLE * (one.size + other.size - shared) && numbers(a) === numbers(b);
}

/** Whether an h1 is og:title with a date, a count, the source's host or a byline set beside it. */
export function addsOnlyData(h1: string, og: string): boolean {
  const at = h1.indexOf(og);
  if (at < 0 || h1.length === og.length || og.length < 10) return false;
  const rest = `${h1.slice(0, at)} ${h1.slice(at + og.length)}`.trim();
  if (rest.length < MAX_BYLINE_CHARS && at === 0 && BYLINE.test(rest)) return true;
  return rest.length < 40 && /\d|\.[a-z]/.test(rest) && DATA_ONLY.test(rest);
}

const DATA_ONLY =
  /^(?:[\s\d/.,:()|-]|\([a-z0-9.-]{4,30}\)|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:[a-z]{2,6})?\b)+$/i;
const BYLINE = /^(?:posted|published|updated|written)\s(?:on|by|in)\b.*\d{4}/i;
const MAX_BYLINE_CHARS = 80;

/** Whether an h1 is og:title after a section or a kicker: "Blog: …", "Minority in Lampland - …". */
export function followsKicker(h1: string, og: string): boolean {
  if (!h1.endsWith(og) || h1.length === og.length || og.split(' ').length < 3) return false;
  const kicker = h1.slice(0, -og.length);
  // Set off by a sign, and a title of its own behind it: "7 lamps: tested" is all headline.
  return kicker.length <= MAX_KICKER_CHARS && /\s?[:|/•·–—-]\s+$/.test(kicker) && /^[^\p{Ll}]/u.test(og);
}

const MAX_KICKER_CHARS = 40;

/**
 * Whether the page's address was made from one title and hardly from the other. An h1 that has no more than half of the
 * address's words, where the title in the head has them all, is a slogan or a call (5 of 5 pages, none the other way).
 */
export function isNamedByAddress(url: string, title: string, other: string): boolean {
  const last = nameInAddress(url);
  if (last === null) return false;
  const words = stems(last);
  if (words.size < MIN_ADDRESS_WORDS) return false;
  const [here, there] = [stems(title), stems(other)];
  let found = 0;
  for (const word of words) {
    if (!here.has(word)) return false;
    if (there.has(word)) found++;
  }
  return found * 2 <= words.size;
}

/** The last part of an address, without an ending such as ".html". */
function nameInAddress(url: string): string | null {
  const last = /^https?:\/\/[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)\/?(?:[?#]|$)/i.exec(url)?.[1];
  if (last === undefined || last.length > MAX_ADDRESS_CHARS || /%/.test(last)) return null;
  return last.replace(/\.[a-z]{3,5}$/i, '');
}

/**
 * Whether the page's address spells a title word for word, but for a number behind it: then that title is the one the
 * page was saved under.
 */
export function isSpeltByAddress(url: string, title: string): boolean {
  const name = nameInAddress(url)?.toLowerCase();
  if (name === undefined || title.length > MAX_ADDRESS_CHARS) return false;
  const bare = name.replace(/[-_,.]+[a-z]{0,3}[.-]?\d[\d.]{4,}$/, '');
  if (bare.split(/[-_]+/).length < MIN_SPELT_WORDS) return false;
  const letters = bare.replace(/[^a-z0-9]+/g, '');
  const text = title.normalize('NFC').toLowerCase();
  return [LOOSE_LETTERS, PAIRED_LETTERS].some((letterMap) => {
    const latin = text.replace(/[^\x00-\x7f]/g, (letter) => letterMap[letter] ?? letter);
    return ['and', ''].some((and) => plainLetters(latin.replaceAll('&', and)) === letters);
  });
}

const MIN_SPELT_WORDS = 4;
// Addresses write letters outside of ASCII in one of two ways, besides leaving their marks off.
const LOOSE_LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' };
const PAIRED_LETTERS: Record<string, string> = {
  ...LOOSE_LETTERS,
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  ø: 'oe',
};

const plainLetters = (text: string) => text.normalize('NFKD').replace(/[^a-z0-9]+/g, '');

const MAX_ADDRESS_CHARS = 200;
const MIN_ADDRESS_WORDS = 3;
// Addresses leave out small words, accents and endings: "companies" stands for "company" too.
const STEM_CHARS = 5;

function stems(text: string): Set<string> {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return new Set((plain.match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => word.slice(0, STEM_CHARS)));
}
