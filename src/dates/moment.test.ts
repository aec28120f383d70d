import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate, parseMoment, writeMoment } from './index.ts';

const written = (text: string): string | null => {
  const moment = parseMoment(text);
  return moment === null ? null : writeMoment(moment.date, moment.offsetMinutes);
};

describe('a date as it was written', () => {
  it.each([
    ['2025-12-19T09:04:00+13:00', '2025-12-19T09:04:00.000+13:00'],
    ['2020-04-12T18:00:00-0700', '2020-04-12T18:00:00.000-07:00'],
    ['2025-12-19T01:00:00+05:30', '2025-12-19T01:00:00.000+05:30'],
    ['Wed, 05 July 2023 11pm PT', '2023-07-05T23:00:00.000-07:00'],
    ['Fri, 31 Mar 2023 20:19:00 America/Los_Angeles', '2023-03-31T20:19:00.000-07:00'],
    ['Mon, 16 Nov 2020 23:16:28 EST', '2020-11-16T23:16:28.000-05:00'],
    ['2024년 3월 5일 오전 8:30', '2024-03-05T08:30:00.000+09:00'],
    ['2024-03-05T23:30:00Z', '2024-03-05T23:30:00.000Z'],
    ['2024-03-05T23:30:00-00:00', '2024-03-05T23:30:00.000Z'],
    ['2024-03-05 23:30', '2024-03-05T23:30:00.000Z'],
    ['5 March 2024', '2024-03-05T00:00:00.000Z'],
    ['1709681400', '2024-03-05T23:30:00.000Z'],
    ['no date', null],
  ])('%s keeps its day', (text, expected) => expect(written(text)).toBe(expected));

  it('is the same instant, whatever the offset', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        fc.integer({ min: -18 * 60, max: 18 * 60 }),
        (date, offsetMinutes) => {
          const text = writeMoment(date, offsetMinutes);
          expect(parseDate(text)).toEqual(date);
          expect(parseMoment(text)).toEqual({ date, offsetMinutes });
        },
      ),
    );
  });
});
