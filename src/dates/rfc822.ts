import type { Reading } from './iso.ts';
import { readZone } from './iso.ts';
import { monthOf } from './names.ts';

const common =
  /^(?:[A-Za-z]{3}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? ([+-]\d{4}|[A-Z]{2,4})$/;
const englishMonths = new Set('jan feb mar apr may jun jul aug sep oct nov dec'.split(' '));

/**
 * Reads the exact form of RFC 822 that nine in ten feeds use; the general reader gives the same answer at ten times
 * the cost. Null means only that the text has another form.
 */
export function parseRfc822(text: string): Reading | null {
  const match = common.exec(text);
  const [, day, monthName, year, hour, minute, second, zoneText] = match ?? [];
  if (monthName === undefined || zoneText === undefined) return null;
  const word = monthName.toLowerCase();
  const month = englishMonths.has(word) ? monthOf(word) : null;
  const zone = readZone(zoneText.toLowerCase());
  if (month === null || zone === null || year?.startsWith('0')) return null;
  return {
    fields: {
      year: Number(year),
      month,
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second ?? 0),
      millisecond: 0,
    },
    zone,
  };
}
