import { describe, expect, it } from 'vitest';

import { parseDate } from '../dates/index.ts';
import { datesInText } from './written-dates.ts';

// Node knows how each language writes dates in each calendar: a source of its own, to compare ours with.
const days = Array.from({ length: 48 }, (_, i) => new Date(Date.UTC(1995, 0, 3 + i * 247)));
const dayOf = (date: Date | null | undefined) => date?.toISOString().slice(0, 10) ?? null;

type Style = 'full' | 'long' | 'medium';

/** What both readers make of every day in that form: how many days are right, and what was read wrongly. */
function readAll(locale: string, dateStyle: Style) {
  const format = new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' });
  const result = { parsed: 0, inText: 0, wrong: [] as string[] };
  for (const day of days) {
    const text = format.format(day);
    const parsed = dayOf(parseDate(text));
    const found = datesInText(`· ${text} ·`).map(({ date }) => dayOf(date));
    if (parsed === dayOf(day)) result.parsed++;
    else if (parsed !== null) result.wrong.push(`${text} parsed as ${parsed}`);
    if (found.length === 1 && found[0] === dayOf(day)) result.inText++;
    else if (found.length > 0) result.wrong.push(`${text} found as ${found}`);
  }
  return result;
}

const words = (text: string) => text.trim().split(/\s+/);
const read = words(`
  af am ar ar-EG ar-IQ ar-LB ar-MA ar-TN az az-Cyrl be bg bn bs bs-Cyrl ca cs da de de-AT el en en-GB en-IN es es-MX et
  eu fa-u-ca-gregory fa-AF-u-ca-gregory fi fil fr fr-CA gl gu he hi hu hy id is it ja jv ka kk km kn ko ky lo lt lv mk ml
  mn mr ms mt my nb ne nl nn or pa ps-u-ca-gregory pt pt-PT ro ru sd sk sl sq sr sr-Latn sv sw ta te tg
  th-u-ca-gregory tk tr tt ug uk ur uz-Latn uz-Cyrl vi zh zh-TW`);
const partlyRead = words(
  'as ceb ckb-u-ca-gregory cy fo ga gd ha hr ig ku lb mg mi pl qu rm rw si so su ti to wo xh yi yo zu',
);

describe('dates as Node writes them', () => {
  it.each(read)('are read in %s', (locale) => {
    expect(readAll(locale, 'long')).toEqual({ parsed: days.length, inText: days.length, wrong: [] });
    for (const style of ['full', 'medium'] as const) expect(readAll(locale, style).wrong).toEqual([]);
  });

  // Polish and Croatian say "listopada" and mean different months; the others have words we do not know.
  it.each(partlyRead)('are right or nothing in %s', (locale) => {
    for (const style of ['full', 'long', 'medium'] as const) expect(readAll(locale, style).wrong).toEqual([]);
  });

  it('are read with their weekday', () => {
    const withWeekday = words(
      'ar az be bg bn ca cs da de el en es et fi fr he hi hu id it ja ko lt lv mk nb nl pt ro ru sk sl sq sr sv ta te tr uk ur vi zh',
    );
    for (const locale of withWeekday)
      expect([locale, readAll(locale, 'full').parsed]).toEqual([locale, days.length]);
    // A weekday that fits one of the months tells which is meant.
    for (const locale of ['hr', 'pl'])
      expect([locale, readAll(locale, 'full').parsed]).toEqual([locale, days.length]);
  });
});

describe('dates of other calendars as Node writes them', () => {
  const everywhere = words(
    'ar az bg bn cs de el en es fa-AF fi fr gu he hi hu id it ja ka kk ko ml mn mr ms my nb ne nl pl ps pt ro ru sr sv ta te th tr uk ur uz vi zh zh-TW',
  );

  it.each([
    ...['fa', 'fa-AF', 'ps'].map((locale) => `${locale}-u-ca-persian`),
    ...['th-u-ca-buddhist', 'zh-TW-u-ca-roc', 'zh-u-ca-roc', 'ja-u-ca-japanese', 'ja-u-ca-roc'],
  ])('are read in %s', (locale) => {
    for (const style of ['full', 'long', 'medium'] as const)
      expect(readAll(locale, style)).toMatchObject({ parsed: days.length, wrong: [] });
    expect(readAll(locale, 'long').inText).toBe(days.length);
  });

  it.each(['persian', 'buddhist', 'roc', 'japanese', 'islamic-umalqura', 'islamic-civil', 'hebrew'])(
    'are right or nothing in the %s calendar, in any language',
    (calendar) => {
      for (const locale of everywhere)
        for (const style of ['full', 'long'] as const)
          expect(readAll(`${locale}-u-ca-${calendar}`, style).wrong).toEqual([]);
    },
  );

  // In some languages only a word we do not know tells these from Gregorian numbers.
  it.each(['ethiopic', 'indian'])('are right or nothing in the %s calendar', (calendar) => {
    for (const locale of [
      'am',
      'ti',
      'hi',
      'mr',
      'te',
      'en',
      'fr',
      'de',
      'ru',
      'ja',
      'ko',
      'zh',
      'zh-TW',
      'fa-AF',
    ])
      for (const style of ['full', 'long'] as const)
        expect(readAll(`${locale}-u-ca-${calendar}`, style).wrong).toEqual([]);
  });
});
