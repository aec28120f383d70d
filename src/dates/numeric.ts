import {
  type Day,
  daysInMonth,
  expandThaiYear,
  expandTwoDigitYear,
  isGregorianYear,
  mayBeNepaliYear,
  weekdayOfDate,
} from './calendar.ts';
import type { Calendar, DateHabits, DateOrder } from './habits.ts';

type OrderedDay = Day & { order: DateOrder };

/** Decides a date of three numbers; where its order stays in doubt the answer is null, not a guess. */
export function decideNumericDay(
  texts: readonly string[],
  separator: string,
  weekday: number | null,
  habits: DateHabits,
): Day | null {
  // Ethiopia is seven or eight years behind, and does not say so.
  if (habits.calendar === 'ethiopian') return null;
  let readings = readingsOf(texts, separator, habits.calendar).filter(exists);
  if (readings.length > 1 && weekday !== null && weekday >= 0)
    readings = readings.filter((day) => weekdayOfDate(day.year, day.month, day.day) === weekday);
  const isCertain = readings.every((day) => isSameDay(day, readings[0]!));
  return (isCertain ? readings[0] : readings.find((day) => day.order === habits.order)) ?? null;
}

/** Every way in which three numbers may be read as a date. */
function readingsOf(
  [a, b, c]: readonly string[],
  separator: string,
  calendar: Calendar | null,
): OrderedDay[] {
  if (a === undefined || b === undefined || c === undefined || b.length > 2) return [];
  const [first, second, third] = [Number(a), Number(b), Number(c)];
  if (a.length === 4) return c.length > 2 ? [] : [{ year: first, month: second, day: third, order: 'ymd' }];
  const readings: OrderedDay[] = [];
  if (a.length > 2 || (c.length !== 4 && c.length !== 2)) return readings;
  const year = c.length === 4 ? third : expandYear(third, calendar);
  if (year !== null) readings.push({ year, month: second, day: first, order: 'dmy' });
  // With dots the day comes before the month nearly everywhere; the year may come first (Korea: 20.11.12). Some American
  // designers set dots as well, which is certain only where no month has that number.
  const mayBeginWithMonth = separator !== '.' || (second > 12 && c.length === 4);
  if (year !== null && mayBeginWithMonth) readings.push({ year, month: first, day: second, order: 'mdy' });
  const leadingYear = a.length === 2 && c.length === 2 ? expandYear(first, calendar) : null;
  if (leadingYear !== null && (separator !== '.' || (first >= 10 && first <= 29)))
    readings.push({ year: leadingYear, month: second, day: third, order: 'ymd' });
  return readings;
}

// Two digits of a year leave the calendar open where two of them are in use.
function expandYear(year: number, calendar: Calendar | null): number | null {
  if (calendar === 'persian' || calendar === 'nepali') return null;
  if (calendar === 'buddhist') return expandThaiYear(year);
  // From 82 on, which is 1993, Taiwan may mean its own years.
  return calendar === 'minguo' && year >= 82 ? null : expandTwoDigitYear(year);
}

const isSameDay = (a: Day, b: Day) => a.year === b.year && a.month === b.month && a.day === b.day;

function exists(day: Day): boolean {
  if (day.month < 1 || day.month > 12 || day.day < 1) return false;
  return (
    day.day <= daysInMonth(day.year, day.month) && isGregorianYear(day.year) && !mayBeNepaliYear(day.year)
  );
}
