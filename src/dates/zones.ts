import type { DateFields } from './calendar.ts';
import { toUtcMs } from './calendar.ts';

/** A zone as written: a fixed offset, or a region whose offset depends on the date. */
export type Zone = { offsetMinutes: number } | { region: string };

// Abbreviations with one meaning in feeds. RFC 822 fixes the American ones. Left out because they name different
// zones in different countries: IST, GST, AMT, SST, ECT, WST; and the military letters, which RFC 822 defined with
// the wrong sign (RFC 2822 4.3).
const offsetHours: Record<string, number> = {
  __proto__: null as never,
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  ast: -4,
  adt: -3,
  nst: -3.5,
  ndt: -2.5,
  akst: -9,
  akdt: -8,
  hst: -10,
  brt: -3,
  brst: -2,
  art: -3,
  west: 1,
  bst: 1,
  cet: 1,
  met: 1,
  mez: 1,
  cest: 2,
  mest: 2,
  mesz: 2,
  eet: 2,
  eest: 3,
  sast: 2,
  trt: 3,
  pkt: 5,
  wib: 7,
  ict: 7,
  wita: 8,
  hkt: 8,
  sgt: 8,
  awst: 8,
  jst: 9,
  kst: 9,
  wit: 9,
  acst: 9.5,
  acdt: 10.5,
  aest: 10,
  aedt: 11,
  nzst: 12,
  nzdt: 13,
};

// Zones whose abbreviation does not say whether summer time holds, or whose offset changed by law.
const regions: Record<string, string> = {
  __proto__: null as never,
  at: 'America/Halifax',
  et: 'America/New_York',
  ct: 'America/Chicago',
  mt: 'America/Denver',
  pt: 'America/Los_Angeles',
  msk: 'Europe/Moscow',
  msd: 'Europe/Moscow',
};

// The widest offset java.time accepts; real ones end at -12:00 and +14:00. Beyond it the field is garbage.
const maxOffsetMinutes = 18 * 60;

/** A numeric offset like +0530, -05:00, +2 or +05:30:00, or null. */
export function parseOffset(text: string): Zone | null {
  const match = /^([+-])(?:(\d{1,2})(?::(\d{2})(?::00)?)?|(\d{1,2})(\d{2}))$/.exec(text);
  if (!match) return null;
  const hours = Number(match[2] ?? match[4]);
  const minutes = Number(match[3] ?? match[5] ?? 0);
  const total = hours * 60 + minutes;
  if (minutes > 59 || total > maxOffsetMinutes) return null;
  return { offsetMinutes: match[1] === '-' ? -total : total };
}

/** A zone by its abbreviation or IANA name (already lower case), or null. */
export function parseZoneName(name: string): Zone | null {
  const hours = offsetHours[name];
  if (hours !== undefined) return { offsetMinutes: hours * 60 };
  const region = regions[name] ?? (/^[a-z_]{2,20}\/[a-z_/+\d-]{2,40}$/.test(name) ? name : null);
  return region !== null && formatterFor(region) !== null ? { region } : null;
}

/** The instant of a local time in a zone, or null when it does not exist in the calendar. */
export function toInstantMs(fields: DateFields, zone: Zone): number | null {
  const localMs = toUtcMs(fields);
  if (localMs === null) return null;
  if ('offsetMinutes' in zone) return localMs - zone.offsetMinutes * 60_000;
  // Two rounds settle every case but the hour that summer time skips or repeats, where either answer is fair.
  let instantMs = localMs;
  for (let round = 0; round < 2; round += 1) {
    const offsetMs = regionOffsetMs(zone.region, instantMs);
    if (offsetMs === null) return null;
    instantMs = localMs - offsetMs;
  }
  return instantMs;
}

/** How many minutes a clock that shows these fields at an instant is ahead of UTC, or null where they make no day. */
export function offsetAt(fields: DateFields, instantMs: number): number | null {
  const localMs = toUtcMs(fields);
  return localMs === null ? null : Math.round((localMs - instantMs) / 60_000);
}

const formatters = new Map<string, Intl.DateTimeFormat | null>();
// Feeds choose the names, so the cache needs a bound; there are about 600 IANA names.
const maxFormatters = 700;

function formatterFor(region: string): Intl.DateTimeFormat | null {
  const known = formatters.get(region);
  if (known !== undefined) return known;
  let formatter: Intl.DateTimeFormat | null = null;
  try {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: region,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    // Intl says "no such zone" only by throwing.
    if (!(error instanceof RangeError)) throw error;
  }
  if (formatters.size < maxFormatters) formatters.set(region, formatter);
  return formatter;
}

function regionOffsetMs(region: string, instantMs: number): number | null {
  const formatter = formatterFor(region);
  // Outside four-digit years the formatter writes eras; no feed date with a region is that old.
  if (formatter === null || instantMs < Date.UTC(1000, 0) || instantMs > Date.UTC(9999, 0)) return null;
  const part = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, millisecond: 0 };
  for (const { type, value } of formatter.formatToParts(instantMs))
    if (Object.hasOwn(part, type)) part[type as keyof DateFields] = Number(value);
  const localMs = toUtcMs(part);
  return localMs === null ? null : localMs - Math.floor(instantMs / 1000) * 1000;
}
