import type { DateFields, Day } from './calendar.ts';
import { expandTwoDigitYear, fromOrdinal, fromWeek, isGregorianYear, mayBeNepaliYear } from './calendar.ts';
import type { Zone } from './zones.ts';
import { parseOffset, parseZoneName } from './zones.ts';

/** What a reader of one notation found: fields, and a zone when one was written. */
export type Reading = { fields: DateFields; zone: Zone | null };

// One branch per notation; every part has a fixed shape, so matching is linear.
const datePart =
  /^(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{4})(\d{2})(\d{2})|(\d{4})-0(\d{2})-(\d{2})|(\d{4})-?w(\d{2})(?:-?(\d))?|(\d{4})-?(\d{3})|(\d{4})[-/](\d{1,2})|(\d{4})|(\d{2})-(\d{2})-(\d{2})|(\d{2})(\d{2})(\d{2})|-(\d{2})-?(\d{2})|(\d{2})-(\d{3}))(?=$|[t\s_]|z$|[+-]\d\d:\d\d$)/;
const timePart =
  /^(?:\s?t\s?|\s+(?:at\s+|-\s+)?|_)(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,12}))?)?|(\d{2})(?:(\d{2})(?:[.,](\d{1,12}))?)?)?\s*(am|pm)?(?=$|[\s+\-[a-z]|:[+-])/;

/** Reads ISO 8601 and W3C-DTF in complete, partial, basic, ordinal and week forms (folded text), or null. */
export function parseIso(text: string): Reading | null {
  const dateMatch = datePart.exec(text);
  if (!dateMatch) return null;
  const day = readDay(dateMatch);
  if (!day) return null;
  const fields: DateFields = {
    year: day.year,
    month: day.month,
    day: day.day,
    hour: 0,
    minute: 0,
    second: 0,
    millisecond: 0,
  };
  const rest = text.slice(dateMatch[0].length);
  // Only machines write of the years that Nepal counts today, and they write a time in their own form.
  if (mayBeNepaliYear(day.year) && !/^\s?t\d|z$|[+-]\d\d:?\d\d$/.test(rest)) return null;
  if (rest === '') return { fields, zone: null };
  // A time needs a whole day before it: "2003 10:15" and "2003-12T10:15" say nothing certain.
  if (isPartial(dateMatch)) return null;
  if (/^(?:z|[+-])/.test(rest)) {
    const zone = readZone(rest);
    return zone && { fields, zone };
  }
  const timeMatch = timePart.exec(rest);
  if (!timeMatch) return null;
  if (!readTime(timeMatch, rest, fields)) return null;
  const zoneText = rest.slice(timeMatch[0].length).trim();
  if (zoneText === '') return { fields, zone: null };
  const zone = readZone(zoneText);
  return zone && { fields, zone };
}

function isPartial(match: RegExpExecArray): boolean {
  const weekWithoutDay = match[11] !== undefined && match[13] === undefined;
  return weekWithoutDay || match[16] !== undefined || match[18] !== undefined || match[25] !== undefined;
}

function readDay(match: RegExpExecArray): Day | null {
  const number = (group: number): number => Number(match[group]);
  const full = (year: number, month: number, day: number): Day | null =>
    isGregorianYear(year) ? { year, month, day } : null;
  if (match[1] !== undefined) return full(number(1), number(3), number(4));
  if (match[5] !== undefined) return plausible(full(number(5), number(6), number(7)));
  // Google Calendar once wrote months with three digits.
  if (match[8] !== undefined) return full(number(8), number(9), number(10));
  if (match[11] !== undefined) return fromWeek(number(11), number(12), Number(match[13] ?? 1));
  if (match[14] !== undefined) return plausible(ordinal(number(14), number(15)));
  if (match[16] !== undefined) return full(number(16), number(17), 1);
  if (match[18] !== undefined) return plausible({ year: number(18), month: 1, day: 1 });
  if (match[19] !== undefined) return shortYear(number(19), number(20), number(21));
  if (match[22] !== undefined) return shortBasic(match[22], number(23), number(24));
  if (match[25] !== undefined) return shortYear(number(25), number(26), 1, true);
  return match[27] === undefined ? null : ordinal(expandTwoDigitYear(number(27)), number(28));
}

// Bare digits are a date only when they say a year people publish in; "22013" or "0312" may be anything.
function plausible(day: Day | null): Day | null {
  return day && day.year >= 1900 && day.year < 2100 ? day : null;
}

function ordinal(year: number | null, dayOfYear: number): Day | null {
  const found = year === null ? null : fromOrdinal(year, dayOfYear);
  return found && year !== null ? { year, ...found } : null;
}

function shortYear(short: number, month: number, day: number, certain = false): Day | null {
  const year = expandTwoDigitYear(short);
  if (year === null) return null;
  // 13-01-20 may be 13 January 2020 to its writer: refuse where the last part can be a year of this century so far.
  if (!certain && day <= 30 && short >= 1 && short <= 31) return null;
  return { year, month, day };
}

function shortBasic(short: string, month: number, day: number): Day | null {
  // 200312 is December 2003 to some and 12 March 2020 to others.
  if ((short === '19' || short === '20') && day >= 1 && day <= 12) return null;
  return shortYear(Number(short), month, day);
}

function readTime(match: RegExpExecArray, rest: string, fields: DateFields): boolean {
  const basic = match[5] !== undefined;
  // Digits without colons are a time only after the letter T; a lone hour only after T or with am/pm.
  const afterT = /^\s?t/.test(rest);
  if (!afterT && (basic || (match[2] === undefined && match[8] === undefined))) return false;
  if (basic && match[1]?.length === 1) return false;
  fields.hour = Number(match[1]);
  fields.minute = Number(match[2] ?? match[5] ?? 0);
  fields.second = Number(match[3] ?? match[6] ?? 0);
  fields.millisecond = Number((match[4] ?? match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  return applyMeridiem(fields, match[8] ?? null);
}

/** Turns a 12-hour clock into 24 hours; false when the hour and the half of the day contradict each other. */
export function applyMeridiem(fields: DateFields, meridiem: string | null): boolean {
  if (meridiem === null) return true;
  if (meridiem === 'am') {
    if (fields.hour > 12) return false;
    fields.hour %= 12;
  } else if (fields.hour < 12) {
    fields.hour += 12;
  }
  return fields.hour < 24;
}

/** A zone after a time: offset, name, "GMT+2", "-0700 (PDT)", "EST -0500", "+01:00[Europe/Paris]", or null. */
export function readZone(text: string): Zone | null {
  let rest = text;
  // Comments and region tags repeat what the offset says.
  const comment = /\s*[([][^()[\]]*[)\]]$/.exec(rest);
  if (comment && comment.index > 0) rest = rest.slice(0, comment.index);
  else if (comment) rest = rest.slice(1, -1).trim();
  // ":-0700" is a typing error seen in the wild.
  if (rest.startsWith(':')) rest = rest.slice(1);
  if (rest === '00' || rest === '0000') return { offsetMinutes: 0 };
  const offset = parseOffset(rest);
  if (offset) return offset;
  const name = parseZoneName(rest);
  if (name) return name;
  const both =
    /^([a-z]{1,5})\s*([+-][\d:]{1,8})$/.exec(rest) ?? /^([+-][\d:]{1,8})\s*([a-z]{1,5})$/.exec(rest);
  if (!both?.[1] || !both[2]) return null;
  const nameFirst = /^[a-z]/.test(both[1]);
  const numeric = parseOffset(nameFirst ? both[2] : both[1]);
  const named = parseZoneName(nameFirst ? both[1] : both[2]);
  if (!numeric || !named || !('offsetMinutes' in named) || !('offsetMinutes' in numeric)) return null;
  // "GMT-0700" counts from GMT; "MST -0700" says it twice; "EST -0700" contradicts itself.
  if (named.offsetMinutes === 0 || named.offsetMinutes === numeric.offsetMinutes) return numeric;
  return null;
}
