import { rewriteEastAsian } from './east-asia.ts';
import { type DateHabits, noHabits } from './habits.ts';
import type { Reading } from './iso.ts';
import { parseIso } from './iso.ts';
import type { Moment } from './moment.ts';
import { foldWord } from './names.ts';
import { isUnsureFor, rewriteOtherYears, saysOtherCalendar } from './other-years.ts';
import { parseRfc822 } from './rfc822.ts';
import { parseWords } from './words.ts';
import { offsetAt, parseOffset, toInstantMs } from './zones.ts';

export { type DateHabits, type DateOrder, habitsOfLanguage, noHabits } from './habits.ts';
export { type Moment, writeMoment } from './moment.ts';
export { isOfOtherCalendar } from './other-years.ts';

// The longest real date text seen is about 70 characters; anything longer is prose.
const maxLength = 120;
// What machines write, and most pages have; days that some months lack go the long way, which knows them.
const machineDate =
  /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|([+-](?:0\d|1[0-3]):[0-5]\d))$/;
const utc = { offsetMinutes: 0 };
const koreanTime = { offsetMinutes: 9 * 60 };

/**
 * Reads any date a feed, sitemap or page may contain: the right instant, or null where the text leaves room for
 * doubt. A missing time is midnight, a missing zone UTC. Who knows how the writer's language writes dates says so: it
 * settles "02/03/2024" and "1403/05/12", and nothing that is certain without it.
 */
export function parseDate(text: string, habits: DateHabits = noHabits): Date | null {
  return parseMoment(text, habits)?.date ?? null;
}

/** The same with the offset that the writer's clock has there. */
export function parseMoment(text: string, habits: DateHabits = noHabits): Moment | null {
  if (text.length > 4 * maxLength) return null;
  const trimmed = text.trim();
  if (trimmed.length < 4 || trimmed.length > maxLength) return null;
  const machine = machineDate.exec(trimmed);
  if (machine !== null)
    return { date: new Date(Date.parse(trimmed)), offsetMinutes: minutesOf(machine[1] ?? '+00:00') };
  const stamp = parseTimestamp(trimmed);
  if (stamp !== null) return stamp;
  const common = parseRfc822(trimmed);
  if (common) return toMoment(common, false);
  const folded = fold(trimmed);
  if (saysOtherCalendar(folded) || isUnsureFor(folded, habits.calendar)) return null;
  const gregorian = rewriteOtherYears(folded, trimmed, habits);
  const { text: prepared, korean } = rewriteEastAsian(gregorian, habits.calendar === 'japanese');
  const reading = parseIso(prepared) ?? parseWords(prepared, habits);
  return reading && toMoment(reading, korean);
}

function minutesOf(offset: string): number | null {
  const zone = parseOffset(offset);
  return zone !== null && 'offsetMinutes' in zone ? zone.offsetMinutes : null;
}

function toMoment(reading: Reading, korean: boolean): Moment | null {
  const { hour, minute, second } = reading.fields;
  // A date without a time stays midnight UTC in every language, so that its day is what the writer wrote.
  const local = korean && hour + minute + second > 0 ? koreanTime : null;
  const zone = reading.zone ?? local;
  const instantMs = toInstantMs(reading.fields, zone ?? utc);
  if (instantMs === null) return null;
  const date = new Date(instantMs);
  const year = date.getUTCFullYear();
  // Databases and other readers know four-digit years only.
  if (year < 1 || year > 9999) return null;
  return { date, offsetMinutes: zone === null ? null : offsetAt(reading.fields, instantMs) };
}

// Seconds or milliseconds since 1970, and 14-digit stamps; other digit strings are left to the ISO reader.
function parseTimestamp(text: string): Moment | null {
  if (/^[12]\d{9}$/.test(text)) return { date: new Date(Number(text) * 1000), offsetMinutes: 0 };
  if (/^[12]\d{12}$/.test(text)) return { date: new Date(Number(text)), offsetMinutes: 0 };
  const stamp = /^((?:19|20)\d{6})(\d{2})(\d{2})(\d{2})$/.exec(text);
  if (!stamp) return null;
  const reading = parseIso(`${stamp[1]}t${stamp[2]}${stamp[3]}${stamp[4]}`);
  return reading && toMoment(reading, false);
}

// The zeros of Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Thai,
// Lao, Burmese, Khmer and full-width digits.
const zeros = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0x1040, 0x17e0,
  0xff10,
];
const otherDigits = zeros
  .map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`)
  .join('');
const digitsOf = new RegExp(`[${otherDigits}]`, 'g');

/** Whether a text holds digits other than 0 to 9. */
export const hasOtherDigits = (text: string): boolean => otherDigit.test(text);
const otherDigit = new RegExp(`[${otherDigits}]`);

/** Digits of other scripts as 0 to 9; the text keeps its length. */
export function asciiDigits(text: string): string {
  return text.replace(digitsOf, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - zeros.findLast((zero) => zero <= code)!);
  });
}

function fold(text: string): string {
  return asciiDigits(foldWord(text))
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
}
