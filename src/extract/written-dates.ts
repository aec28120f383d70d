import { asciiDigits, type DateOrder, parseDate } from '../dates/index.ts';

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

// Written dates inside a line of text; each alternative has fixed bounds, so the search is linear.
const WRITTEN = new RegExp(
  [
    `\\b${YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.]${DAY}(?!\\d)(?:[T ]\\d{1,2}:\\d{2}(?::\\d{2})?)?`,
    `${START}\\d{1,2}(?:st|nd|rd|th|er|\\.|º)?\\s{0,2}(?:de\\s|of\\s)?\\s?${NAME}(?:\\s?/\\s?${ARABIC})?\\.?,?\\s{1,2}(?:de\\s|del\\s)?${YEAR}`,
    `${NAME}\\.?\\s{1,2}\\d{1,2}(?:st|nd|rd|th)?[.,]?\\s{1,2}${YEAR}`,
    `\\b\\d{1,2}[-.]\\p{L}{3,9}[-.]${YEAR}(?!\\d)`,
    `\\b\\d{1,2}[./-]\\d{1,2}[./-](?:19|20)?\\d{2}\\b`,
    `\\b\\d{1,2}\\.\\s\\d{1,2}\\.\\s${YEAR}\\b`,
    `${GLUED_START}\\d{1,2}[./]\\d{1,2}[./]${YEAR}\\b`,
    // Hungarian and Lithuanian begin with the year, Korean too, with or without its units.
    `\\b${YEAR}\\.?(?:\\sm\\.)?\\s${NAME}\\.?\\s\\d{1,2}(?!\\d)`,
    `\\b${YEAR}\\.\\s\\d{1,2}\\.\\s\\d{1,2}(?!\\d)`,
    `${YEAR}\\s?[年년]\\s?\\d{1,2}\\s?[月월]\\s?\\d{1,2}\\s?[日号號일]`,
    `\\b\\d{1,2}\\stháng\\s\\d{1,2}(?:,|\\snăm)\\s${YEAR}`,
    // Thai counts the years of the Buddha.
    `\\b\\d{1,2}\\s[\\u0e01-\\u0e4e.]{3,12}\\s25\\d{2}(?!\\d)`,
  ].join('|'),
  'gu',
);

// Elements side by side, set apart by their style alone: "Ada LundMay 17, 2024". No month has a capital inside.
const GLUED = /^\p{L}{0,13}\p{Ll}(?=\p{Lu}\p{Ll})/u;
const TWO_DIGITS = /\d\d/;
const OTHER_DIGITS = /[\u0660-\u0e59]{2}/;
const MAX_TEXT_CHARS = 2_000;
// Every date holds one of these; looking for them first spares most numbers the long pattern.
const YEAR_OR_NUMBERS = /(?:19|20|25)\d\d|\d[./-]\d/;
const DIGIT = /\d/;
// The longest name of a month in code units.
const MAX_NAME_CHARS = 30;

/** Every date written in a short text, in order; how the writer orders numbers settles those that leave it open. */
export function datesInText(text: string, limit = 5, order: DateOrder | null = null): WrittenDate[] {
  const found: WrittenDate[] = [];
  // Most lines hold no number at all; the long pattern is only for those that do.
  let line = text;
  if (!TWO_DIGITS.test(line)) {
    if (!OTHER_DIGITS.test(line)) return found;
    line = asciiDigits(line.slice(0, MAX_TEXT_CHARS));
    if (!TWO_DIGITS.test(line)) return found;
  }
  line = line.length > MAX_TEXT_CHARS ? line.slice(0, MAX_TEXT_CHARS) : line;
  if (!YEAR_OR_NUMBERS.test(line)) return found;
  WRITTEN.lastIndex = startOf(line);
  for (const match of line.matchAll(WRITTEN)) {
    const written = match[0].trim();
    const glued = GLUED.exec(written)?.[0].length ?? 0;
    const raw = glued === 0 ? written : written.slice(glued);
    const date = parseDate(raw, order);
    if (date !== null) found.push({ date, raw, at: match.index + glued });
    if (found.length >= limit) break;
  }
  return found;
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
