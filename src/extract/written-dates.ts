import {
  asciiDigits,
  type DateHabits,
  hasOtherDigits,
  isOfOtherCalendar,
  noHabits,
  parseDate,
} from '../dates/index.ts';
import { matchesOf } from '../text/index.ts';
import { groupsOf, isElsewhere, patternOf } from './date-forms.ts';

/** A date written in a text, as it stands there and where. */
export type WrittenDate = { date: Date; raw: string; at: number };

// Elements side by side, set apart by their style alone: "Ada LundMay 17, 2024". No month has a capital inside.
const GLUED = /^\p{L}{0,13}\p{Ll}(?=\p{Lu}\p{Ll})/u;
const TWO_DIGITS = /\d\d/;
const MAX_TEXT_CHARS = 2_000;
// Every date holds one of these; looking for them first spares most numbers the long pattern.
const YEAR_OR_NUMBERS = /(?:19|20)\d\d|\d[./-]\d|['’]\d\d(?!\d)|[a-z]-\d\d(?!\d)/;
const BEYOND = /[\u0530-\u1fff\u200f\u2e80-\ud7af\uff10-\uff19]/;
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
  const written = text.length > MAX_TEXT_CHARS ? text.slice(0, MAX_TEXT_CHARS) : text;
  if (habits.calendar === null && !YEAR_OR_NUMBERS.test(written) && !BEYOND.test(written)) return found;
  const groups = groupsOf(written, habits);
  const elsewhere = isElsewhere(groups);
  const line = elsewhere ? asciiDigits(written) : written;
  if (!(elsewhere ? YEAR_OR_NUMBERS_ELSEWHERE : YEAR_OR_NUMBERS).test(line)) return found;
  const pattern = patternOf(groups);
  for (const match of matchesOf(pattern, line, startOf(line))) {
    const whole = match[0].trim();
    const glued = GLUED.exec(whole)?.[0].length ?? 0;
    const at = match.index + glued;
    // As it stands there: the digits tell a Persian year from an Arabic one.
    const raw = written.slice(at, match.index + whole.length);
    const date = elsewhere && isNotGregorian(line, at, at + raw.length) ? null : parseDate(raw, habits);
    if (date !== null) found.push({ date, raw, at });
    if (found.length >= limit) break;
  }
  return found;
}

function isNotGregorian(line: string, at: number, end: number): boolean {
  const before = line.slice(Math.max(0, at - CALENDAR_CHARS), at);
  return isOfOtherCalendar(before, line.slice(at, end), line.slice(end, end + CALENDAR_CHARS));
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
  /updat|modif|revis|edited|review|aktualis|mise à jour|mis à jour|actualiz|aggiorn|atualiz|bijgewerkt|opdater|oppdater|uppdater|aktualiz|zaktual|päivitetty|frissít|güncelle|обновл|оновлен|ενημερώ|تحديث|diperbarui|cập nhật|yenilən|yangilan|обновен|ажурира|жаңарт|განახლ|թարմացվ|עודכן|עדכון|به[\u200c ]?روز|ویرایش|اپ ڈیٹ|अपडेट|अद्यतन|আপডেট|อัปเดต|อัพเด[ตท]|ปรับปรุง|แก้ไข|更新|修改|修訂|修订|수정|업데이트/i;

/** Says that a date beside it is the one of publication. */
export const PUBLISHED_LABEL =
  /(?:publi(?:shed|é|cado|cato|cat|ziert|kowano|kováno|cerad|sert|ceret)|posted|veröffentlicht|erschienen|gepubliceerd|julkaistu|közzétéve|yayın|опублик|δημοσιε|نشر|انتشار|منتشر|شائع|פורסם|प्रकाशित|প্রকাশ|เผยแพร่|đăng|xuất bản|објав|публикуван|公開|發表|发表|刊登|掲載|发布|發布|發佈|입력|등록)(?![a-z])/i;

/** Begins the sentence in which blogs tell when an article appeared. */
export const ENTRY =
  /^(?:this (?:entry|post|article|item) was|dieser (?:beitrag|artikel|eintrag) wurde|cet article a été|ce billet a été|esta entrada fue|este (?:artículo|artigo|post) f(?:ue|oi)|quest[oa] (?:articolo|voce) è|dit (?:bericht|artikel) (?:is|werd))\b/i;

/** Says that the page appeared before, elsewhere or in another form. */
export const ORIGINALLY =
  /(?:originally|first) (?:published|posted|appeared)|(?:initialement|originalmente) publi|ursprünglich (?:veröffentlicht|erschienen)/i;
