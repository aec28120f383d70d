/** Fields of a date as written, before they are checked against the calendar. */
export type DateFields = {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
};

/** A day of the Gregorian calendar. */
export type Day = { year: number; month: number; day: number };

export const dayMs = 86_400_000;

/** Milliseconds since 1970 of the fields read as UTC, or null when no calendar has such a date. */
export function toUtcMs(fields: DateFields): number | null {
  const { year, month, day, hour, minute, second } = fields;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  // ISO 8601 writes the end of a day as 24:00:00, and a leap second as 23:59:60; nothing else may pass the limits.
  if (hour > 24 || minute > 59 || second > 60) return null;
  if (hour === 24 && (minute !== 0 || second !== 0)) return null;
  if (second === 60 && minute !== 59) return null;
  const date = new Date(0);
  // Date.UTC would turn the years 0-99 into 1900-1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fields.millisecond;
}

/** Days of a month in the Gregorian calendar. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Weekday (0 = Sunday) of a date that exists. */
export function weekdayOfDate(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDay();
}

/** Month and day of the n-th day of a year (ISO 8601 ordinal date), or null. */
export function fromOrdinal(year: number, ordinal: number): { month: number; day: number } | null {
  let rest = ordinal;
  for (let month = 1; month <= 12; month += 1) {
    const length = daysInMonth(year, month);
    if (rest < 1) return null;
    if (rest <= length) return { month, day: rest };
    rest -= length;
  }
  return null;
}

/** Calendar date of an ISO 8601 week date (weekday 1 = Monday), or null. */
export function fromWeek(
  year: number,
  week: number,
  weekday: number,
): { year: number; month: number; day: number } | null {
  if (week < 1 || week > 53 || weekday < 1 || weekday > 7) return null;
  const start = weekOneMs(year);
  if (start + (week - 1) * 7 * dayMs >= weekOneMs(year + 1)) return null;
  const date = new Date(start + ((week - 1) * 7 + weekday - 1) * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

// Week 1 is the week with 4 January in it (ISO 8601, 3.1.1.23).
function weekOneMs(year: number): number {
  const fourth = new Date(0);
  fourth.setUTCFullYear(year, 0, 4);
  return fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * dayMs;
}

/**
 * Full year of a year written with two digits, or null where the conventions in use disagree (RFC 2822 4.3 says
 * 50-99 is 19xx, POSIX says 69-99, feed readers say 90-99). Nothing has been published in 2036 to 2049 yet: a Thai page
 * that says 39 means 2539, which is 1996.
 */
export function expandTwoDigitYear(year: number): number | null {
  if (year < 36) return 2000 + year;
  return year >= 70 ? 1900 + year : null;
}

/**
 * The same for a Thai date, which may count the years of the Buddha: 2536 was 1993, and 83 will be 2040. Before 36 the
 * year is Gregorian, as the other would be before the web.
 */
export function expandThaiYear(year: number): number | null {
  if (year < 36) return 2000 + year;
  return year <= 83 ? 1957 + year : null;
}

/**
 * Whether a four-digit year is one of the Gregorian calendar in practice: 13xx-15xx is the Persian or Islamic calendar,
 * from 24xx on it is the Buddhist or the Jewish one.
 */
export function isGregorianYear(year: number): boolean {
  return !(year >= 1300 && year < 1550) && year < 2400;
}

/** Whether a year in a date of numbers alone is likelier one of Nepal, whose calendar is 57 years ahead (2080 is 2023). */
export function mayBeNepaliYear(year: number): boolean {
  return year >= 2050 && year < 2150;
}
