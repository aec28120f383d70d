import { copyString } from '../html/index.ts';
import { LANGUAGE_WORDS, SCRIPTS } from './language-words.ts';

const wordsOf = new Map(
  Object.entries(LANGUAGE_WORDS).map(([language, words]) => [language, new Set(words.split(' '))]),
);
const languagesOf = new Map<string, string[]>();
for (const [language, words] of wordsOf) {
  for (const word of words) {
    const known = languagesOf.get(word);
    if (known === undefined) languagesOf.set(word, [language]);
    else known.push(language);
  }
}

// What the beginning of a text tells, more of it tells no better; its first lines do where they are as declared.
const SAMPLE_CHARS = 1_200;
const FIRST_CHARS = 400;
const MIN_LETTERS = 20;
const MIN_SHARE = 0.06;
const MANY_WORDS = 60;
// A text in another language has fewer of these words, but for one that is hard to tell apart.
const OWN_SHARE = 0.2;
// Scripts in which several languages with word lists are written.
const SHARED_SCRIPTS = new Set(['Latn', 'Cyrl', 'Arab', 'Deva']);

/** The words of one language in a text: how many, and how many different ones. */
type Heard = { words: number; different: number };

// Letters and their marks, by where they stand: several times as fast as asking Unicode what each is.
const WORD =
  /[a-z\u00c0-\u060b\u060d-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u1fff\u2c00-\u2dff]+/g;

/** What the letters and words of a text say: its script and what is heard of each language written in it. */
type Reading = { script: string; words: number; heard: Map<string, Heard> };

const sampleOf = (text: string, chars: number) => text.slice(0, chars).normalize('NFC').toLowerCase();

/** Counts the letters of each script; alone, as the engine left its fast code at the end of the loop on every page. */
function countLetters(sample: string, counts: number[]): number {
  let letters = 0;
  for (let i = 0; i < sample.length; i++) {
    const code = sample.charCodeAt(i);
    let at = 0;
    while (at < SCRIPTS.length && code > SCRIPTS[at]![1]) at++;
    if (at === SCRIPTS.length || code < SCRIPTS[at]![0]) continue;
    letters++;
    counts[at]!++;
  }
  return letters;
}

function scriptOf(sample: string): string | null {
  const counts = new Array<number>(SCRIPTS.length).fill(0);
  const letters = countLetters(sample, counts);
  if (letters < MIN_LETTERS) return null;
  const share = (script: string) => counts[SCRIPTS.findIndex((one) => one[2] === script)]! / letters;
  // Kana among Chinese characters means Japanese, however few.
  if (share('Jpan') > 0.05) return 'Jpan';
  // Names and terms in Latin letters stand in texts of all scripts, hence the lower bar for the others.
  const other = SCRIPTS.find(([, , script], i) => script !== 'Latn' && counts[i]! > letters * 0.3);
  return other?.[2] ?? 'Latn';
}

function read(text: string): Reading | null {
  const sample = sampleOf(text, SAMPLE_CHARS);
  const script = scriptOf(sample);
  if (script === null) return null;
  const heard = new Map<string, Heard>();
  if (!SHARED_SCRIPTS.has(script)) return { script, words: 0, heard };
  const words = sample.match(WORD) ?? [];
  const seen = new Set<string>();
  for (const word of words) {
    const languages = languagesOf.get(word);
    if (languages === undefined) continue;
    // "a" and "o" are words everywhere.
    const isNew = (word.length > 1 || script !== 'Latn') && !seen.has(word);
    if (isNew) seen.add(word);
    for (const language of languages) {
      const one = heard.get(language);
      if (one === undefined) heard.set(language, { words: 1, different: isNew ? 1 : 0 });
      else {
        one.words++;
        if (isNew) one.different++;
      }
    }
  }
  return { script, words: words.length, heard };
}

/** The language of a text by its script and commonest words, or null when they do not tell. */
function languageOf({ script, words, heard }: Reading): string | null {
  if (!SHARED_SCRIPTS.has(script)) return commonestIn(script);
  const [first, second] = [...heard].sort((a, b) => b[1].words - a[1].words);
  const isClear =
    first !== undefined &&
    first[1].different >= (script === 'Latn' && words > MANY_WORDS ? 4 : 3) &&
    first[1].words / words >= MIN_SHARE &&
    first[1].words > (second?.[1].words ?? 0);
  if (isClear) return first[0];
  // A line or two of Cyrillic are most likely Russian; a page without any of its words is not.
  return script === 'Latn' || words > MANY_WORDS ? null : commonestIn(script);
}

function commonestIn(script: string): string {
  return new Intl.Locale(`und-${script}`).maximize().language;
}

// Languages without a list of words, by the one whose words they share.
const KIN: Readonly<Record<string, string>> = {
  nb: 'no',
  nn: 'no',
  bs: 'hr',
  sr: 'hr',
  sh: 'hr',
  ms: 'id',
  tl: 'fil',
  lb: 'de',
  gsw: 'de',
  nds: 'de',
  fy: 'nl',
  sco: 'en',
  ast: 'es',
  oc: 'ca',
  fo: 'is',
};
// So many words of another language, and twice as many as of the declared one, are no quotation.
const CLEAR_SHARE = 0.12;

/** Whether a text that is in `language` by its letters and words cannot be in the declared one. */
function contradicts({ script, words, heard }: Reading, language: string, declared: string): boolean {
  const code = declared.split('-')[0]!;
  if (code === language || KIN[code] === language) return false;
  if (!SHARED_SCRIPTS.has(script)) return scriptWritten(declared) !== script;
  const others = Math.max(heard.get(code)?.words ?? 0, heard.get(KIN[code] ?? code)?.words ?? 0);
  const own = heard.get(language)?.words ?? 0;
  return own >= (own >= 6 * others ? MIN_SHARE : CLEAR_SHARE) * words && own >= 2 * others;
}

function scriptWritten(tag: string): string {
  const script = new Intl.Locale(tag).maximize().script ?? '';
  return /^Han[st]$/.test(script) ? 'Hani' : script;
}

/** Whether the first lines of a text may be in the declared language: most are, and then nothing else need be asked. */
function isIn(declared: string, text: string): boolean {
  const own = wordsOf.get(declared.split('-')[0]!);
  if (own === undefined) return false;
  const words = sampleOf(text, FIRST_CHARS).match(WORD) ?? [];
  return words.length >= 20 && words.filter((word) => own.has(word)).length >= words.length * OWN_SHARE;
}

/** The language of a text, unless it may be the declared one as well. */
function overruling(declared: string | null, text: string): string | null {
  const reading = read(text);
  const written = reading === null ? null : languageOf(reading);
  return written !== null && declared !== null && !contradicts(reading!, written, declared) ? null : written;
}

/** A language and what told it. */
export type FoundLanguage = { value: string; from: 'lang' | 'og:locale' | 'text' };

/** The language the page declares, or that of its text where it clearly is another: many templates declare English. */
export function decideLanguage(
  lang: string | null,
  locale: string | undefined,
  text: string,
): FoundLanguage | null {
  const own = normalizeLanguage(lang);
  const declared = own ?? normalizeLanguage(locale);
  const written = declared !== null && isIn(declared, text) ? null : overruling(declared, text);
  if (written !== null) return { value: written, from: 'text' };
  return declared === null ? null : { value: declared, from: own === null ? 'og:locale' : 'lang' };
}

const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
const knownTags = new Map<string, string | null>();
const MAX_KNOWN_TAGS = 500;

/** A declared language tag in its common form (`en`, `pt-BR`), or null when it names no language. */
export function normalizeLanguage(tag: string | null | undefined): string | null {
  const match = /^\s*([a-z]{2,3})(?:[-_]([a-z]{2}|\d{3}|[a-z]{4}))?(?![a-z\d])/i.exec(tag ?? '');
  if (match === null) return null;
  const plain = match[2] === undefined ? match[1]! : `${match[1]}-${match[2]}`;
  let known = knownTags.get(plain);
  if (known === undefined) {
    if (knownTags.size >= MAX_KNOWN_TAGS) knownTags.clear();
    known = canonicalLanguage(plain);
    knownTags.set(copyString(plain), known);
  }
  return known;
}

function canonicalLanguage(tag: string): string | null {
  const canonical = Intl.getCanonicalLocales(tag)[0]!;
  const code = canonical.split('-')[0]!;
  return NO_LANGUAGE.has(code) || languageNames.of(code) === undefined ? null : canonical;
}

// Codes for "several", "none" and "undetermined".
const NO_LANGUAGE = new Set(['mul', 'zxx', 'und', 'mis']);
