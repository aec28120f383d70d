import type { DateOrder } from '../dates/index.ts';
import { attribute, type PageNode } from '../html/index.ts';
import { matchesOf } from '../text/index.ts';
import type { Surroundings } from './line-dates.ts';
import { datesInText } from './written-dates.ts';

const NUMBERS = /(?<![\d./-])(\d{1,2})([/-])(\d{1,2})\2((?:19|20)?\d{2})(?![\d./-])/g;
const SOME_NUMBERS = /\d[/-]\d/;
const MAX_LINES = 500;
const MAX_TIMES = 50;
const DAY_MS = 86_400_000;

/** The two days that a date such as 02/12/2025 may mean. */
type Doubtful = Record<'dmy' | 'mdy', number>;

/**
 * The surroundings with the order in which the page itself writes numbers, where its language leaves that open: 25/12
 * has the day first, and 02/12 has it where the page gives 2 December in words or for machines too and not 12 February.
 * One witness against another leaves the doubt.
 */
export function withOrderOfPage(near: Surroundings, times: readonly PageNode[]): Surroundings {
  if (near.habits.order !== null) return near;
  const texts = near.shortLines.slice(0, MAX_LINES).map(({ text }) => text);
  for (const node of times.slice(0, MAX_TIMES)) texts.push(attribute(node, 'datetime') ?? '');
  const order = orderIn(texts);
  if (order === null) return near;
  // What was read from the lines before was read without it.
  const lines = near.lines.map(({ dates: _, ...line }) => line);
  return { ...near, habits: { ...near.habits, order }, lines };
}

function orderIn(texts: readonly string[]): DateOrder | null {
  const votes = new Set<'dmy' | 'mdy'>();
  const doubtful: Doubtful[] = [];
  for (const text of texts) {
    // Most short lines hold no such numbers, and asking is cheaper than the search.
    if (!SOME_NUMBERS.test(text)) continue;
    for (const [, a, , b, year] of matchesOf(NUMBERS, text)) {
      const [first, second] = [Number(a), Number(b)];
      if (first > 12 && first <= 31 && second <= 12) votes.add('dmy');
      else if (second > 12 && second <= 31 && first <= 12) votes.add('mdy');
      else if (first <= 12 && second <= 12 && first !== second)
        doubtful.push(readBoth(first, second, Number(year)));
    }
  }
  if (doubtful.length === 0) return null;
  if (votes.size === 0) {
    const days = new Set(
      texts.flatMap((text) => datesInText(text).map(({ date }) => Math.floor(date.getTime() / DAY_MS))),
    );
    for (const { dmy, mdy } of doubtful)
      if (days.has(dmy) !== days.has(mdy)) votes.add(days.has(dmy) ? 'dmy' : 'mdy');
  }
  const [order, other] = votes;
  return order === undefined || other !== undefined ? null : order;
}

function readBoth(first: number, second: number, year: number): Doubtful {
  const full = year < 100 ? 2_000 + year : year;
  return {
    dmy: Date.UTC(full, second - 1, first) / DAY_MS,
    mdy: Date.UTC(full, first - 1, second) / DAY_MS,
  };
}
