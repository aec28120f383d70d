import type { DateFields } from './calendar.ts';
import { daysInMonth, expandTwoDigitYear, isGregorianYear, weekdayOfDate } from './calendar.ts';
import type { Reading } from './iso.ts';
import { applyMeridiem, readZone } from './iso.ts';
import { monthOf, weekdayOf } from './names.ts';
import type { DateOrder } from './order.ts';

type Day = { year: number; month: number; day: number };

/** What the parts of a date text turned out to be, in reading order. */
type Parts = {
  numbers: string[];
  numeric: string | null;
  months: { month: number; afterNumbers: number; thai: boolean }[];
  // "mar" is March or mardi, "sen" is September or Senin: decided once all parts are known.
  monthOrWeekday: { month: number; weekday: number; afterNumbers: number }[];
  weekday: number | null;
  time: RegExpExecArray | null;
  meridiem: string | null;
  zone: string[];
};

const timeToken = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?(am|pm)?([a-z+-][a-z\d:+-]{0,8})?$/;
const offsetToken = /^[+-]\d{1,2}(?::?\d{2})?$/;
const zoneToken = /^[a-z]{1,5}(?:[+-]\d{1,2}(?::?\d{2})?)?$|^[a-z_]+\/[a-z_/+\d-]+$/;
const numericToken = /^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/;
const numberToken = /^'?(\d{1,4})(?:st|nd|rd|th|er|e|[.º°ª])?$/;
// Words that join the parts in some language and say nothing themselves.
const fillers = new Set(
  'on the of de del di da le el il den der am um at kl klo kello kell a las alle ore o w v ve dne г года год в р року r m d gada god - – | • and à klokken uhr'.split(
    ' ',
  ),
);

/** Reads dates written with words, in any order and many languages, and numeric day-month-year dates; or null. */
export function parseWords(text: string, order: DateOrder | null = null): Reading | null {
  const prepared = separate(text);
  const comment = /\(([^()]*)\)/.exec(prepared);
  const parts = classify(prepared.replace(/\([^()]*\)/g, ' '));
  if (!parts) return null;
  if (comment?.[1] !== undefined && parts.zone.length === 0 && parts.time) {
    if (!zoneToken.test(comment[1])) return null;
    parts.zone.push(comment[1]);
  }
  const fields: DateFields = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, millisecond: 0 };
  if (parts.time) {
    fields.hour = Number(parts.time[1]);
    fields.minute = Number(parts.time[2]);
    fields.second = Number(parts.time[3] ?? 0);
    fields.millisecond = Number((parts.time[4] ?? '').slice(0, 3).padEnd(3, '0'));
  } else if (!readMilitaryTime(parts, fields)) return null;
  if (!applyMeridiem(fields, parts.meridiem)) return null;
  const day = decideDay(parts, order);
  if (!day) return null;
  Object.assign(fields, day);
  if (parts.zone.length === 0) return { fields, zone: null };
  const zone = readZone(parts.zone.join(' '));
  return zone && { fields, zone };
}

// Puts spaces where writers left them out, and clock times into the colon form.
function separate(text: string): string {
  return text
    .replace(/(?<=[\u0600-\u06ff]) ?\/ ?(?=[\u0600-\u06ff])/, ' ')
    .replace(/(\d{1,4})[-/.]?([\p{L}\p{M}]{3,12})\.?[-/]?(?=\d)/gu, (whole, digits: string, word: string) =>
      monthOf(word) === null ? whole : `${digits} ${word} `,
    )
    .replace(/^([\p{L}\p{M}]{3,12})\.?[-/]?(?=\d)/u, (whole, word: string) =>
      monthOf(word) === null && weekdayOf(word) === null ? whole : `${word} `,
    )
    .replace(/ (\d{1,2})t(?=\d{1,2}:\d)/, ' $1 ')
    .replace(/(\d{4}):(?=\d{2}:\d{2}:\d{2})/, '$1 ')
    .replace(/(^|[\s\d])([ap])\. ?m\.?(?=$|[\s,(])/g, '$1$2m')
    .replace(/(^|[\s,])(\d{1,2}) ?([ap]m)(?=$|[\s,])/g, '$1$2:00 $3')
    .replace(
      /(^|[\s,])(\d{1,2}) ?h ?(\d{2})?(?=$|[\s,])/g,
      (_, lead: string, hour: string, minute = '00') => `${lead}${hour}:${minute}`,
    )
    .replace(/(^|\s)(\d{1,2})\.(\d{2}) uhr(?=$|\s)/, '$1$2:$3')
    .replace(/(^|\s)klo?\.? ?(\d{1,2})\.(\d{2})(?=$|\s)/, '$1$2:$3');
}

function classify(text: string): Parts | null {
  const parts: Parts = {
    numbers: [],
    numeric: null,
    months: [],
    monthOrWeekday: [],
    weekday: null,
    time: null,
    meridiem: null,
    zone: [],
  };
  for (const token of text.split(/[\s,;]+/)) {
    if (token !== '' && !place(token, parts)) return null;
  }
  return parts;
}

function place(token: string, parts: Parts): boolean {
  const time = timeToken.exec(token);
  if (time) {
    if (parts.time) return false;
    parts.time = time;
    if (time[5]) parts.meridiem = time[5];
    if (time[6]) parts.zone.push(time[6]);
    return true;
  }
  if (parts.time && !parts.meridiem && (token === 'am' || token === 'pm')) {
    parts.meridiem = token;
    return true;
  }
  const number = numberToken.exec(token);
  if (number?.[1]) return parts.numbers.push(number[1]) <= 4;
  if (numericToken.test(token)) {
    if (parts.numeric !== null) return false;
    parts.numeric = token;
    return true;
  }
  if (offsetToken.test(token)) return parts.zone.push(token) <= 2;
  // After the clock time "pt" is Pacific time, before it piatek; so zones go first there and last elsewhere.
  if (parts.time && isZone(token)) return parts.zone.push(token) <= 2;
  if (placeName(token.replace(/\.$/, ''), parts)) return true;
  if (fillers.has(token.replace(/\.$/, ''))) return true;
  return isZone(token) && parts.zone.push(token) <= 2;
}

function isZone(token: string): boolean {
  return zoneToken.test(token) && readZone(token) !== null;
}

function placeName(word: string, parts: Parts): boolean {
  const month = monthOf(word) ?? monthOf(word.replaceAll('.', '').replace(/^\u05d1/, ''));
  const weekday = weekdayOf(word);
  if (month === null && weekday === null) return false;
  const afterNumbers = parts.numbers.length;
  if (month !== null && weekday !== null) parts.monthOrWeekday.push({ month, weekday, afterNumbers });
  else if (month !== null && !isNamedTwice(month, parts))
    parts.months.push({ month, afterNumbers, thai: /[\u0e00-\u0e7f]/.test(word) });
  else if (weekday !== null) parts.weekday = weekday;
  return parts.months.length < 2;
}

// Arabic papers give a month both its names: "24 نيسان / أبريل".
const isNamedTwice = (month: number, { months }: Parts) => months.at(-1)?.month === month;

// RFC 822 clocks without a colon: "03 Apr 02 1500 GMT". Only believed when a zone follows.
function readMilitaryTime(parts: Parts, fields: DateFields): boolean {
  const last = parts.numbers[2];
  if (parts.months.length === 0 || last === undefined) return parts.meridiem === null;
  if (parts.numbers.length !== 3 || last.length !== 4 || parts.zone.length === 0) return false;
  fields.hour = Number(last.slice(0, 2));
  fields.minute = Number(last.slice(2));
  parts.numbers.pop();
  return true;
}

function decideDay(parts: Parts, order: DateOrder | null): Day | null {
  const doubtful = [...parts.monthOrWeekday];
  let month = parts.months[0];
  if (!month) {
    const last = doubtful.pop();
    if (last) month = { ...last, thai: false };
  }
  const weekday = parts.weekday ?? doubtful[0]?.weekday ?? null;
  if (month) return parts.numeric === null ? dayWithMonth(parts, month) : null;
  if (parts.numeric !== null) {
    const separator = /[./-]/.exec(parts.numeric)?.[0] ?? '-';
    const numbers = parts.numeric.split(separator);
    return parts.numbers.length === 0 ? numericDay(numbers, separator, { weekday, order }) : null;
  }
  return parts.numbers.length === 3 ? numericDay(parts.numbers, ' ', { weekday, order }) : null;
}

function dayWithMonth(
  parts: Parts,
  month: { month: number; afterNumbers: number; thai: boolean },
): Day | null {
  const [first, second, third] = parts.numbers;
  if (first === undefined || third !== undefined) return null;
  if (second === undefined) {
    // "Nov. 2020" is a date; "16 Nov" is not one, for want of a year.
    if (first.length !== 4 || parts.time || parts.weekday !== null) return null;
    return withYear(first, month, 1);
  }
  if (first.length > 2 && second.length <= 2) return withYear(first, month, Number(second));
  // Two short numbers after the month's name are day and year; a name after both says nothing of their order.
  if (first.length <= 2 && month.afterNumbers < 2) return withYear(second, month, Number(first));
  return first.length <= 2 && second.length > 2 ? withYear(second, month, Number(first)) : null;
}

function withYear(digits: string, month: { month: number; thai: boolean }, day: number): Day | null {
  const value = Number(digits);
  let year: number | null = value;
  if (digits.length <= 2) year = digits.length === 2 ? expandTwoDigitYear(value) : null;
  // Programs that print "years since 1900" made three-digit years (RFC 2822 4.3).
  else if (digits.length === 3) year = value < 200 ? 1900 + value : null;
  else if (month.thai && value >= 2400) year = value - 543;
  if (year === null || !isGregorianYear(year)) return null;
  return { year, month: month.month, day };
}

type OrderedDay = Day & { order: DateOrder };

/** Decides a date of three numbers; where its order stays in doubt the answer is null, not a guess. */
function numericDay(
  texts: readonly string[],
  separator: string,
  { weekday, order }: { weekday: number | null; order: DateOrder | null },
): Day | null {
  let readings = readingsOf(texts, separator).filter(exists);
  if (readings.length > 1 && weekday !== null && weekday >= 0)
    readings = readings.filter((day) => weekdayOfDate(day.year, day.month, day.day) === weekday);
  const isCertain = readings.every((day) => isSameDay(day, readings[0]!));
  return (isCertain ? readings[0] : readings.find((day) => day.order === order)) ?? null;
}

/** Every way in which three numbers may be read as a date. */
function readingsOf([a, b, c]: readonly string[], separator: string): OrderedDay[] {
  if (a === undefined || b === undefined || c === undefined || b.length > 2) return [];
  const [first, second, third] = [Number(a), Number(b), Number(c)];
  if (a.length === 4) return c.length > 2 ? [] : [{ year: first, month: second, day: third, order: 'ymd' }];
  const readings: OrderedDay[] = [];
  if (a.length > 2 || (c.length !== 4 && c.length !== 2)) return readings;
  const year = c.length === 4 ? third : expandTwoDigitYear(third);
  if (year !== null) readings.push({ year, month: second, day: first, order: 'dmy' });
  // With dots the day comes before the month nearly everywhere; the year may come first (Korea: 20.11.12). Some American
  // designers set dots as well, which is certain only where no month has that number.
  const mayBeginWithMonth = separator !== '.' || (second > 12 && c.length === 4);
  if (year !== null && mayBeginWithMonth) readings.push({ year, month: first, day: second, order: 'mdy' });
  const leadingYear = a.length === 2 && c.length === 2 ? expandTwoDigitYear(first) : null;
  if (leadingYear !== null && (separator !== '.' || (first >= 10 && first <= 29)))
    readings.push({ year: leadingYear, month: second, day: third, order: 'ymd' });
  return readings;
}

const isSameDay = (a: Day, b: Day) => a.year === b.year && a.month === b.month && a.day === b.day;

function exists(day: Day): boolean {
  if (day.month < 1 || day.month > 12 || day.day < 1) return false;
  return day.day <= daysInMonth(day.year, day.month) && isGregorianYear(day.year);
}
