import {
  asciiDigits,
  type DateHabits,
  hasOtherDigits,
  isOfUnknownCalendar,
  noHabits,
  parseDate,
} from '../dates/index.ts';

/** A date written in a text, as it stands there and where. */
export type WrittenDate = { date: Date; raw: string; at: number };

const YEAR = '(?:19|20)\\d{2}';
const DAY = '(?:3[01]|[12]\\d|0?[1-9])';
// "Ada Lund17.5.2024": see GLUED.
const GLUED_START = '(?<=\\p{Ll}{2})';
const START = `(?:\\b|${GLUED_START})`;
// A month's name: marks count, as Devanagari and Thai words hold more of them than letters.
const NAME = '\\p{L}[\\p{L}\\p{M}]{1,14}';
// A month's other name: "24 نيسان / أبريل".
const ARABIC = '[\\u0600-\\u06ff]{2,12}';
const TIME = '(?:[T ]\\d{1,2}:\\d{2}(?::\\d{2})?)?';

// Written dates inside a line of text; each alternative has fixed bounds, so the search is linear.
const ALTERNATIVES = [
  `\\b${YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.]${DAY}(?!\\d)${TIME}`,
  `${START}\\d{1,2}(?:st|nd|rd|th|er|\\.|º)?\\s{0,2}(?:de\\s|of\\s)?\\s?${NAME}(?:\\s?/\\s?${ARABIC})?\\.?,?\\s{1,2}(?:de\\s|del\\s)?${YEAR}`,
  `${NAME}\\.?\\s{1,2}\\d{1,2}(?:st|nd|rd|th)?[.,]?\\s{1,2}${YEAR}`,
  `\\b\\d{1,2}[-.]\\p{L}{3,9}[-.]${YEAR}(?!\\d)`,
  `\\b\\d{1,2}[./-]\\d{1,2}[./-](?:19|20)?\\d{2}\\b`,
  `\\b\\d{1,2}\\.\\s\\d{1,2}\\.\\s${YEAR}\\b`,
  `${GLUED_START}\\d{1,2}[./]\\d{1,2}[./]${YEAR}\\b`,
  // Hungarian and Lithuanian begin with the year, Korean too, with or without its units.
  `\\b${YEAR}\\.?(?:\\sm\\.)?\\s${NAME}\\.?\\s\\d{1,2}(?!\\d)`,
  `\\b${YEAR}\\.\\s\\d{1,2}\\.\\s\\d{1,2}(?!\\d)`,
  `${YEAR}\\s?[年년]\\s?\\d{1,2}\\s?[月월]\\s?\\d{1,2}\\s?[日號号일]`,
  `\\b\\d{1,2}\\sth(?:án)?g\\s\\d{1,2}(?:,|\\snăm)\\s${YEAR}`,
];
const WRITTEN = new RegExp(ALTERNATIVES.join('|'), 'gu');

// Forms of few languages or of few writers, for lines that hold a sign of one. They were half of the cost of the search.
const UNUSUAL = /['’]\d\d(?!\d)|\d-[a-z]|\b(?:d|ta)['’]|\bda\s|\dko\s|\)ko\s|\sgada\s/i;
const UNUSUAL_ALTERNATIVES = [
  `\\b\\d{1,2}\\s(?:de\\s|da\\s|ta['’]\\s)?(?:d['’])?${NAME}\\.?,?\\s{1,2}(?:de\\s|del\\s)?${YEAR}`,
  // The year in two digits behind an apostrophe or between dashes; elsewhere they may be anything.
  `${START}\\d{1,2}(?:st|nd|rd|th)?\\s${NAME}\\.?,?\\s['’]\\d{2}(?![\\p{L}\\d])`,
  `${NAME}\\.?\\s\\d{1,2}(?:st|nd|rd|th)?,?\\s['’]\\d{2}(?![\\p{L}\\d])`,
  `\\b\\d{1,2}-\\p{L}{3,9}-\\d{2}(?!\\d)`,
  // Latvian and Basque begin with the year, Uzbek joins the day to the month.
  `\\b${YEAR}\\.\\sgada\\s\\d{1,2}\\.\\s${NAME}`,
  `\\b${YEAR}(?:\\(e\\))?ko\\s${NAME}\\.?\\s\\d{1,2}(?!\\d)`,
  `\\b\\d{1,2}-\\p{L}{3,9}\\.?,?\\s${YEAR}`,
];
const WRITTEN_UNUSUALLY = new RegExp([...UNUSUAL_ALTERNATIVES, ...ALTERNATIVES].join('|'), 'gu');

// Names may hold joiners, and end in signs of their own for what is left out.
const OTHER_NAME = '\\p{L}[\\p{L}\\p{M}\\u200c\\u200d]{1,16}[.॰׳]?';
const TWO_WORDS = `(?:(?:كانون|تشرين|کانوو?نی|تشرینی)\\s)?`;
const PERSIAN_YEAR = '1[34]\\d{2}(?!\\d)';
const PERSIAN_NAME = '[\\u0600-\\u06ff\\u200c]{2,12}(?:\\sماه)?(?:\\sسال)?';
const ERA = '(?:令和|平成|昭和|大正|明治|(?:中[華华])?民[國国])';
const MONTH_DAY = '\\s?\\d{1,2}\\s?月\\s?\\d{1,2}\\s?[日號号]';
const BRACKETS = '(?:\\s?[(（][^()（）]{1,12}[)）])?';
// Two digits of a Thai year are one where the line, the time or something else follows, but not "67 people".
const THAI_END = '(?=\\s{0,2}(?:$|[|•·,()–—-]|เวลา|\\d{1,2}[:.]\\d{2}))';

// Dates that only lines with letters or digits beyond the Latin ones hold, or of a writer with another calendar.
const WRITTEN_ELSEWHERE = new RegExp(
  [
    `(?<![\\d./-])(?:1[34]|25)\\d{2}[-/.]\\d{1,2}[-/.]\\d{1,2}(?![\\d/])${TIME}(?:\\s?\\(?ه\\u0640?\\.?\\s?[شق](?![\\u0600-\\u06ff]))?`,
    `(?<![\\d./-])\\d{1,2}[-/.]\\d{1,2}[-/.](?:1[34]|25)\\d{2}(?![\\d/])`,
    `(?<![\\d./-])1[0-3]\\d([-/.])\\d{1,2}\\1\\d{1,2}(?![\\d/.])`,
    `(?<!\\d)\\d{1,2}\\s?${PERSIAN_NAME}[،,]?\\s{1,2}${PERSIAN_YEAR}`,
    `(?<!\\d)${PERSIAN_YEAR}\\s${PERSIAN_NAME}\\s\\d{1,2}(?!\\d)`,
    `${ERA}\\s?(?:元|\\d{1,3})\\s?年${BRACKETS}${MONTH_DAY}`,
    `${ERA}\\s?\\d{1,3}([-/.])\\d{1,2}\\2\\d{1,2}(?!\\d)`,
    `(?<![\\p{L}\\d])[RHS]\\d{1,2}/\\d{1,2}/\\d{1,2}(?!\\d)`,
    `(?<!\\d)1[0-3]\\d\\s?年${MONTH_DAY}`,
    `${YEAR}\\s?年${BRACKETS}${MONTH_DAY}`,
    // Right-to-left marks around the strokes.
    `(?<!\\d)\\d{1,2}\\u200f/\\d{1,2}\\u200f/${YEAR}(?!\\d)`,
    `${YEAR}\\sоны\\s(?:арван\\s)?[\\p{L}\\d-]{1,14}\\sсарын\\s\\d{1,2}(?!\\d)`,
    `${YEAR}(?:-|\\s)?(?:թ\\.|ж\\.|оны|ел|жыл|жылы|жылғы)?,?\\s\\d{1,2}[\\s-]${OTHER_NAME}`,
    `${YEAR}\\s(?:թ\\.\\s|د\\s)?${OTHER_NAME}\\s\\d{1,2}(?!\\d)`,
    `(?<!\\d)\\d{1,2}(?:[.,-]|ی|-р)?\\s?${TWO_WORDS}${OTHER_NAME}(?:\\s?/\\s?${TWO_WORDS}${ARABIC})?[,،]?\\s{1,2}${YEAR}`,
    `(?<!\\d)\\d{1,2}\\s?[\\u0e01-\\u0e4e.]{3,12}\\s{0,2}(?:[พค]\\.?ศ\\.?\\s?)?(?:25|20|19)\\d{2}(?!\\d)`,
    `(?<!\\d)\\d{1,2}\\s[\\u0e01-\\u0e4e.]{3,12}\\s\\d{2}${THAI_END}`,
    ...UNUSUAL_ALTERNATIVES,
    ...ALTERNATIVES,
  ].join('|'),
  'gu',
);

// Elements side by side, set apart by their style alone: "Ada LundMay 17, 2024". No month has a capital inside.
const GLUED = /^\p{L}{0,13}\p{Ll}(?=\p{Lu}\p{Ll})/u;
const TWO_DIGITS = /\d\d/;
const MAX_TEXT_CHARS = 2_000;
// Every date holds one of these; looking for them first spares most numbers the long pattern.
const YEAR_OR_NUMBERS = /(?:19|20)\d\d|\d[./-]\d|['’]\d\d(?!\d)|[a-z]-\d\d(?!\d)/;
const ELSEWHERE = /[\u0370-\u1fff\u200f\u2e80-\ud7af\uff10-\uff19]/;
const YEAR_OR_NUMBERS_ELSEWHERE = /(?:1[34]|19|20|25)\d\d|\d\u200f?[./-]\d|\d\s?月|[\u0e00-\u0e7f]\.?\s?\d/;
const DIGIT = /\d/;
// The longest name of a month in code units.
const MAX_NAME_CHARS = 30;
// A calendar is named right before or after its date.
const CALENDAR_CHARS = 12;

/** Every date written in a short text, in order; how the writer writes dates settles those that leave it open. */
export function datesInText(text: string, limit = 5, habits: DateHabits = noHabits): WrittenDate[] {
  const found: WrittenDate[] = [];
  // Most lines hold no number at all; the long patterns are only for those that do.
  if (!TWO_DIGITS.test(text) && !hasOtherDigits(text) && !text.includes('月')) return found;
  const isElsewhere = ELSEWHERE.test(text) || OWN_YEARS.has(habits.calendar);
  const written = text.length > MAX_TEXT_CHARS ? text.slice(0, MAX_TEXT_CHARS) : text;
  const line = isElsewhere ? asciiDigits(written) : written;
  if (!(isElsewhere ? YEAR_OR_NUMBERS_ELSEWHERE : YEAR_OR_NUMBERS).test(line)) return found;
  const pattern = isElsewhere ? WRITTEN_ELSEWHERE : UNUSUAL.test(line) ? WRITTEN_UNUSUALLY : WRITTEN;
  pattern.lastIndex = startOf(line);
  for (const match of line.matchAll(pattern)) {
    const whole = match[0].trim();
    const glued = GLUED.exec(whole)?.[0].length ?? 0;
    const at = match.index + glued;
    // As it stands there: the digits tell a Persian year from an Arabic one.
    const raw = written.slice(at, match.index + whole.length);
    const date = isElsewhere && isNotGregorian(line, at, raw.length) ? null : parseDate(raw, habits);
    if (date !== null) found.push({ date, raw, at });
    if (found.length >= limit) break;
  }
  return found;
}

// Years of these writers need no letter beside them.
const OWN_YEARS = new Set<DateHabits['calendar']>(['persian', 'buddhist', 'minguo', 'japanese']);

function isNotGregorian(line: string, at: number, length: number): boolean {
  return isOfUnknownCalendar(
    line.slice(Math.max(0, at - CALENDAR_CHARS), at + length + CALENDAR_CHARS).toLowerCase(),
  );
}

/** Where the first date of a line can begin: at its first digit, or at the word before that. */
function startOf(line: string): number {
  let at = line.search(DIGIT);
  while (at > 0 && isSpace(line.charCodeAt(at - 1))) at--;
  for (let chars = 0; at > 0 && chars <= MAX_NAME_CHARS && !isSpace(line.charCodeAt(at - 1)); chars++) at--;
  return at;
}

const isSpace = (code: number) =>
  code === 32 || (code >= 9 && code <= 13) || (code > 127 && /\s/.test(String.fromCharCode(code)));

/** Says that a date beside it is one of change. */
export const UPDATED =
  /updat|modif|revis|edited|review|aktualis|mise à jour|mis à jour|actualiz|aggiorn|atualiz|bijgewerkt|opdater|oppdater|uppdater|aktualiz|zaktual|päivitetty|frissít|güncelle|обновл|оновлен|ενημερώ|تحديث|diperbarui|更新|수정|업데이트/i;

/** Says that a date beside it is the one of publication. */
export const PUBLISHED_LABEL =
  /(?:publi(?:shed|é|cado|cato|cat|ziert|kowano|kováno|cerad|sert|ceret)|posted|veröffentlicht|erschienen|gepubliceerd|julkaistu|közzétéve|yayın|опублик|δημοσιε|نشر|公開|掲載|发布|發布|發佈|입력|등록)(?![a-z])/i;

/** Begins the sentence in which blogs tell when an article appeared. */
export const ENTRY =
  /^(?:this (?:entry|post|article|item) was|dieser (?:beitrag|artikel|eintrag) wurde|cet article a été|ce billet a été|esta entrada fue|este (?:artículo|artigo|post) f(?:ue|oi)|quest[oa] (?:articolo|voce) è|dit (?:bericht|artikel) (?:is|werd))\b/i;

/** Says that the page appeared before, elsewhere or in another form. */
export const ORIGINALLY =
  /(?:originally|first) (?:published|posted|appeared)|(?:initialement|originalmente) publi|ursprünglich (?:veröffentlicht|erschienen)/i;
