import { describe, expect, it } from 'vitest';
import { type DateOrder, habitsOfLanguage, noHabits, parseDate } from './index.ts';

describe('the order of a language', () => {
  it.each<[string | null, DateOrder | null]>([
    ['de', 'dmy'],
    ['de-AT', 'dmy'],
    ['pt_BR', 'dmy'],
    ['sr-Latn-RS', 'dmy'],
    ['en-US', 'mdy'],
    ['en-GB', 'dmy'],
    ['ko-KR', 'ymd'],
    ['zh-Hant-TW', 'ymd'],
    ['en', null],
    ['en-CA', null],
    ['fr-CA', null],
    ['es-US', null],
    ['x-klingon', null],
    ['', null],
    [null, null],
  ])('of %s is %s', (tag, order) => {
    expect(habitsOfLanguage(tag).order).toBe(order);
  });
});

describe('parseDate with an order', () => {
  it.each<[string, DateOrder, string | null]>([
    ['02-12-2025', 'dmy', '2025-12-02'],
    ['02/12/2025', 'mdy', '2025-02-12'],
    ['25.04.24', 'dmy', '2024-04-25'],
    ['25.04.24', 'ymd', '2025-04-24'],
    ['02/12/2025 14:07', 'dmy', '2025-12-02'],
    // The order says nothing about what is certain, nor about what it does not fit.
    ['12/25/2025', 'dmy', '2025-12-25'],
    ['25/12/2025', 'mdy', '2025-12-25'],
    ['Mon, 01/02/2006', 'dmy', '2006-01-02'],
    ['02/12/2025', 'ymd', null],
    ['25.04.24', 'mdy', null],
    // Dots put the day first, whatever the language, unless there is no such month.
    ['06.12.2025', 'mdy', '2025-12-06'],
    ['06.18.2025', 'dmy', '2025-06-18'],
    ['06.18.25', 'mdy', null],
    ['06.32.2025', 'mdy', null],
  ])('reads %s as %s', (text, order, day) => {
    expect(
      parseDate(text, { ...noHabits, order })
        ?.toISOString()
        .slice(0, 10) ?? null,
    ).toBe(day);
  });
});
