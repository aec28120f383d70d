import type { Counted } from '../db/index.ts';

/** A number as people read it, with a comma between thousands. */
export const numberText = (value: number): string => Math.round(value).toLocaleString('en-US');

/** How many, with the noun that belongs to it. */
export const countText = (value: number | Counted, one: string, more = `${one}s`): string => {
  const { count, exact } = typeof value === 'number' ? { count: value, exact: true } : value;
  return `${numberText(count)}${exact ? '' : '+'} ${count === 1 && exact ? one : more}`;
};

/** A rate as people read it: by the second where there is at least one, else by the minute or the hour. */
export function rateText(perMinute: number, what: string): string {
  const text = (value: number): string =>
    value >= 10 ? numberText(value) : value.toFixed(1).replace(/\.0$/, '');
  if (perMinute >= 60) return `${text(perMinute / 60)} ${what}/s`;
  return perMinute >= 1 ? `${text(perMinute)} ${what}/min` : `${text(perMinute * 60)} ${what}/h`;
}
