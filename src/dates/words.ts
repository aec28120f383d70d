import type { DateFields, Day } from './calendar.ts';
import {
  daysInMonth,
  expandThaiYear,
  expandTwoDigitYear,
  isGregorianYear,
  weekdayOfDate,
} from './calendar.ts';
import { type DateHabits, noHabits } from './habits.ts';
import type { Reading } from './iso.ts';
import { applyMeridiem, readZone } from './iso.ts';
import { disputedMonths, monthOf, weekdayOf } from './names.ts';
import { decideNumericDay } from './numeric.ts';
import { expandPersianYear, fromPersian, persianMonthOf } from './persian.ts';
import { separate } from './separate.ts';

/** A month by its name; several where languages differ on which it names. */
type MonthName = { months: number[]; afterNumbers: number; calendar: 'gregorian' | 'thai' | 'persian' };

/** What the parts of a date text turned out to be, in reading order. */
type Parts = {
  numbers: string[];
  numeric: string | null;
  months: MonthName[];
  isMarkedPersian: boolean;
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
const numberToken = /^'?(\d{1,4})(?:st|nd|rd|th|er|e|a|an|ko|[.º°ª])?$/;
// Words that join the parts in some language and say nothing themselves.
const fillers = new Set(
  [
    'on the of de del di da le el il den der am um at kl klo kello kell a las alle ore o w v ve dne r m d gada god e и à',
    'klokken uhr and ko ils ta’ dydd ngay luc г года год в р року ж жылы жылғы оны гараг ел թ יום د ماه سال',
    'พ.ศ พศ ค.ศ คศ น เวลา วันที่ - – | •',
  ].flatMap((line) => line.split(' ')),
);

// Said of a year of the Persian calendar, whose months have names of their own.
const persianMarks = new Set('ap ه.ش هش هجری شمسی خورشیدی'.split(' '));

/** Reads dates written with words, in any order and many languages, and numeric day-month-year dates; or null. */
export function parseWords(text: string, habits: DateHabits = noHabits): Reading | null {
  const prepared = separate(text);
  const comment = /\(([^()]*)\)/.exec(prepared);
  const parts = classify(prepared.replace(/\([^()]*\)/g, ' '), habits);
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
  const day = decideDay(parts, habits);
  if (!day) return null;
  Object.assign(fields, day);
  if (parts.zone.length === 0) return { fields, zone: null };
  const zone = readZone(parts.zone.join(' '));
  return zone && { fields, zone };
}

function classify(text: string, habits: DateHabits): Parts | null {
  const parts: Parts = {
    numbers: [],
    numeric: null,
    months: [],
    isMarkedPersian: false,
    monthOrWeekday: [],
    weekday: null,
    time: null,
    meridiem: null,
    zone: [],
  };
  for (const token of text.split(/[\s,;،؛፣]+/)) {
    if (token !== '' && !place(token, parts, habits)) return null;
  }
  return parts;
}

function place(token: string, parts: Parts, habits: DateHabits): boolean {
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
  if (placeName(token.replace(/\.$/, ''), parts, habits)) return true;
  const word = token.replace(/\.$/, '');
  if (persianMarks.has(word)) {
    parts.isMarkedPersian = true;
    return true;
  }
  if (fillers.has(word)) return true;
  return isZone(token) && parts.zone.push(token) <= 2;
}

function isZone(token: string): boolean {
  return zoneToken.test(token) && readZone(token) !== null;
}

function placeName(word: string, parts: Parts, { language }: DateHabits): boolean {
  const month = monthOf(word) ?? monthOf(word.replaceAll('.', '').replace(/^\u05d1/, ''));
  const weekday = weekdayOf(word) ?? weekdayOf(word.replace(/ที่$/, ''));
  const afterNumbers = parts.numbers.length;
  if (month !== null && weekday !== null) parts.monthOrWeekday.push({ month, weekday, afterNumbers });
  else if (month !== null) {
    const calendar = /[\u0e00-\u0e7f]/.test(word) ? 'thai' : 'gregorian';
    if (!isNamedTwice(month, parts)) parts.months.push({ months: [month], afterNumbers, calendar });
  } else if (weekday !== null) parts.weekday = weekday;
  else {
    const persian = persianMonthOf(word);
    const months = persian === null ? disputedMonths(word, language) : [persian];
    if (months.length === 0) return false;
    parts.months.push({ months, afterNumbers, calendar: persian === null ? 'gregorian' : 'persian' });
  }
  return parts.months.length < 2;
}

// Arabic papers give a month both its names: "24 نيسان / أبريل".
const isNamedTwice = (month: number, { months }: Parts) => months.at(-1)?.months[0] === month;

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

function decideDay(parts: Parts, habits: DateHabits): Day | null {
  const doubtful = [...parts.monthOrWeekday];
  let month = parts.months[0];
  if (!month) {
    const last = doubtful.pop();
    if (last) month = { months: [last.month], afterNumbers: last.afterNumbers, calendar: 'gregorian' };
  }
  if (parts.isMarkedPersian && month?.calendar !== 'persian') return null;
  const weekday = parts.weekday ?? doubtful[0]?.weekday ?? null;
  if (month) return parts.numeric === null ? dayWithMonth(parts, month, weekday) : null;
  if (parts.numeric !== null) {
    const separator = /[./-]/.exec(parts.numeric)?.[0] ?? '-';
    const numbers = parts.numeric.split(separator);
    return parts.numbers.length === 0 ? decideNumericDay(numbers, separator, weekday, habits) : null;
  }
  return parts.numbers.length === 3 ? decideNumericDay(parts.numbers, ' ', weekday, habits) : null;
}

function dayWithMonth(parts: Parts, name: MonthName, weekday: number | null): Day | null {
  const [first, second, third] = parts.numbers;
  if (first === undefined || third !== undefined) return null;
  if (second === undefined) {
    // "Nov. 2020" is a date; "16 Nov" is not one, for want of a year. A Persian month begins in the midst of another.
    if (first.length !== 4 || parts.time || parts.weekday !== null || name.calendar === 'persian')
      return null;
    return chooseDay(first, name, 1, null);
  }
  if (first.length > 2 && second.length <= 2) return chooseDay(first, name, Number(second), weekday);
  if (first.length > 2) return null;
  // Two short numbers after the month's name are day and year; a name after both says nothing of their order.
  if (second.length <= 2 && name.afterNumbers > 1) return null;
  const day = chooseDay(second, name, Number(first), weekday);
  if (day === null || second.length > 2 || fits(day, weekday)) return day;
  // "Thu, 12 May 24" was no Thursday, but 24 May 2012 was one.
  const turned = chooseDay(first, name, Number(second), weekday);
  return turned !== null && fits(turned, weekday) ? null : day;
}

/** The day in the month of that name; where it may be several, the one that has the weekday. */
function chooseDay(digits: string, name: MonthName, day: number, weekday: number | null): Day | null {
  const days = name.months.map((month) => withYear(digits, name, month, day)).filter((one) => one !== null);
  if (days.length < 2) return days[0] ?? null;
  const fitting = weekday === null || weekday < 0 ? [] : days.filter((one) => fits(one, weekday));
  return fitting.length === 1 ? fitting[0]! : null;
}

const fits = (day: Day, weekday: number | null) =>
  weekday === null || weekday < 0 || weekdayOfDate(day.year, day.month, day.day) === weekday;

function withYear(digits: string, { calendar }: MonthName, month: number, day: number): Day | null {
  const value = Number(digits);
  if (calendar === 'persian') {
    const year = digits.length === 2 ? expandPersianYear(value) : digits.length === 4 ? value : null;
    return year === null ? null : fromPersian(year, month, day);
  }
  const year = fullYear(digits, calendar === 'thai');
  if (year === null || !isGregorianYear(year) || day < 1 || day > daysInMonth(year, month)) return null;
  return { year, month, day };
}

function fullYear(digits: string, isThai: boolean): number | null {
  const value = Number(digits);
  if (digits.length < 2) return null;
  if (digits.length === 2) return isThai ? expandThaiYear(value) : expandTwoDigitYear(value);
  // Programs that print "years since 1900" made three-digit years (RFC 2822 4.3).
  if (digits.length === 3) return value < 200 ? 1900 + value : null;
  return isThai && value >= 2500 && value < 2600 ? value - 543 : value;
}
