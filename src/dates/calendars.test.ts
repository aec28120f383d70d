import { describe, expect, it } from 'vitest';
import { daysInMonth } from './calendar.ts';
import { habitsOfLanguage, parseDate } from './index.ts';
import { fromPersian } from './persian.ts';

const dayOf = (text: string, language: string) =>
  parseDate(text, habitsOfLanguage(language))?.toISOString().slice(0, 10) ?? null;

describe('the Persian calendar', () => {
  it('has the days that Node counts', () => {
    const format = new Intl.DateTimeFormat('en-u-ca-persian-nu-latn', {
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      timeZone: 'UTC',
    });
    for (let at = Date.UTC(1930, 0, 1); at < Date.UTC(2070, 0, 1); at += 86_400_000) {
      const [month, day, year] = format.format(at).split(/\D+/).map(Number);
      const found = fromPersian(year!, month!, day!);
      if (found === null || Date.UTC(found.year, found.month - 1, found.day) !== at)
        throw new Error(`${year}/${month}/${day} is ${JSON.stringify(found)}`);
    }
  });

  it('has a thirtieth of Esfand in leap years only', () => {
    const leap = Array.from({ length: 45 }, (_, i) => 1370 + i).filter(
      (year) => fromPersian(year, 12, 30) !== null,
    );
    expect(leap).toEqual([1370, 1375, 1379, 1383, 1387, 1391, 1395, 1399, 1403, 1408, 1412]);
    expect(daysInMonth(2025, 3)).toBe(31);
  });
});

describe('parseDate in other calendars', () => {
  it.each<[text: string, language: string, day: string | null]>([
    // Month names tell; digits, letters and the word for month as people type them.
    ['۱۲ مرداد ۱۴۰۳', '', '2024-08-02'],
    ['12 مرداد 1403', '', '2024-08-02'],
    ['جمعه، ۱۲ مرداد ۱۴۰۳ - ۱۰:۳۰', 'fa', '2024-08-02'],
    ['۱۲ مردادماه ۱۴۰۳', '', '2024-08-02'],
    ['۱۲ مرداد ماه ۱۴۰۳', '', '2024-08-02'],
    ['14 اردي‌بهشت 1403', '', '2024-05-03'],
    ['پنج‌شنبه ۳ آبان ۱۴۰۳', '', '2024-10-24'],
    ['۳۰ اسفند ۱۴۰۳', '', '2025-03-20'],
    ['۱۲ مرداد ۹۹', '', '2020-08-02'],
    ['۱۲ مرداد ۰۳', '', '2024-08-02'],
    ['۱۲ اسد ۱۴۰۳', '', '2024-08-02'],
    ['12 Mordad 1403', '', '2024-08-02'],
    ['۳۰ اسفند ۱۴۰۴', '', null],
    ['۳۱ مهر ۱۴۰۳', '', null],
    ['مرداد ۱۴۰۳', '', null],
    ['۱۲ مرداد ۴۵', '', null],
    // Numbers need the digits, a mark or the language beside them.
    ['۱۴۰۳/۰۵/۱۲', '', '2024-08-02'],
    ['۱۴۰۳/۵/۱۲ ۱۰:۳۰', '', '2024-08-02'],
    ['1403/05/12', 'fa', '2024-08-02'],
    ['1403-05-12T10:30:00+03:30', 'fa-IR', '2024-08-02'],
    ['12/05/1403', 'fa', '2024-08-02'],
    ['1403/5/12 هجری شمسی', '', '2024-08-02'],
    ['1403/5/12 ه.ش', '', '2024-08-02'],
    ['1403/12/30', 'fa', '2025-03-20'],
    ['1404/12/30', 'fa', null],
    ['1403/13/01', 'fa', null],
    ['1403/05/12', '', null],
    ['1403/05/12', 'ar', null],
    ['۱۴۰۳/۰۵/۱۲', 'ur', null],
    ['۱۴۰۳/۰۵/۱۲ ه.ق', 'fa', null],
    ['۱۴۴۵/۱۰/۲۵', 'fa', null],
    ['03/05/12', 'fa', null],
    ['99-05-12', 'fa', null],
    ['12.05.2024', 'fa', '2024-05-12'],
    // The Islamic calendar depends on who saw the moon.
    ['25 شوال 1445', 'ar', null],
    ['25 شوال 1445 هـ', '', null],
    ['1445/10/25', 'ar', null],
    ['25/10/1445 هـ', '', null],
    ['1445-10-25', '', null],
    // Years of the Buddha
    ['12 ส.ค. 2567', '', '2024-08-12'],
    ['12 สิงหาคม พ.ศ. 2567', '', '2024-08-12'],
    ['วันจันทร์ที่ 12 สิงหาคม พ.ศ. 2567 เวลา 10:30 น.', 'th', '2024-08-12'],
    ['๑๒ สิงหาคม ๒๕๖๗', '', '2024-08-12'],
    ['12/08/2567', '', '2024-08-12'],
    ['2567-08-12', '', '2024-08-12'],
    ['12 ส.ค. 67', '', '2024-08-12'],
    ['12 ส.ค. 24', '', '2024-08-12'],
    ['12 ส.ค. 2024', '', '2024-08-12'],
    ['12/08/67', 'th', '2024-08-12'],
    ['12 ส.ค. 90', '', null],
    ['12/08/67', '', null],
    ['12/08/2567', 'en-US', null],
    ['29/02/2566', '', null],
    // Taiwan
    ['民國113年5月4日', '', '2024-05-04'],
    ['中華民國 113 年 5 月 4 日', '', '2024-05-04'],
    ['民國113年5月4日 星期六 下午 3:20', '', '2024-05-04'],
    ['113年5月4日', '', '2024-05-04'],
    ['民國113/05/04', '', '2024-05-04'],
    ['113/05/04', 'zh-TW', '2024-05-04'],
    ['113.05.04', 'zh-Hant', '2024-05-04'],
    ['113/05/04', '', null],
    ['113.5.4', 'zh-TW', null],
    ['85年5月4日', 'zh-TW', null],
    ['民國113年2月30日', '', null],
    // Japan
    ['令和6年5月4日', '', '2024-05-04'],
    ['令和元年5月4日(土)', '', '2019-05-04'],
    ['令和６年５月４日', '', '2024-05-04'],
    ['㋿6年5月4日', '', '2024-05-04'],
    ['平成31年4月30日', '', '2019-04-30'],
    ['昭和64年1月7日', '', '1989-01-07'],
    ['令和6年(2024年)5月4日', '', '2024-05-04'],
    ['2024年(令和6年)5月4日 10時05分', '', '2024-05-04'],
    ['R6/5/4', 'ja', '2024-05-04'],
    ['R6/5/4', '', null],
    ['R6.5.4', 'ja', null],
    ['平成31年5月1日', '', null],
    ['令和元年4月30日', '', null],
    ['令和6年(2023年)5月4日', '', null],
    // Lunar, Nepali, Ethiopian, Jewish
    ['农历2024年4月5日', 'zh', null],
    ['음력 2024년 4월 5일', 'ko', null],
    ['2081-02-15', '', null],
    ['15/02/2081', 'ne', null],
    ['81/02/15', 'ne', null],
    ['२०८१ जेठ १५', 'ne', null],
    ['25/04/2016', 'am', null],
    ['12/02/2016 ዓ.ም', '', null],
    ['ጥቅምት 12 ቀን 2016', 'am', null],
    ['3 ጃንዋሪ 2024', 'am', '2024-01-03'],
    ['19 Nisan 5784', '', null],
  ])('reads %s by a writer of "%s" as %s', (text, language, day) => {
    expect(dayOf(text, language)).toBe(day);
  });
});

describe('parseDate with two digits of a year', () => {
  it.each<[text: string, language: string, day: string | null]>([
    ["May 12, '24", '', '2024-05-12'],
    ['12-May-24', '', '2024-05-12'],
    ['Sun, 12 May 24 10:00:00 GMT', '', '2024-05-12'],
    // A weekday that is neither's is a mistake of the weekday; one that is the other reading's leaves a doubt.
    ['Mon, 12 May 24 10:00:00 GMT', '', '2024-05-12'],
    ['Thu, 12 May 24 10:00:00 GMT', '', null],
    ['12.05.24', '', null],
    ['12.05.24', 'de', '2024-05-12'],
    ['Sun, 12.05.24', '', '2024-05-12'],
    ['12/05/24 10:30', '', null],
    ['12/05/24 10:30', 'en-GB', '2024-05-12'],
    ['12/05/24 10:30', 'en-US', '2024-12-05'],
    ['31.05.24', '', '2024-05-31'],
    ['12/05/60', 'de', null],
    ['27/9/39', '', null],
  ])('reads %s by a writer of "%s" as %s', (text, language, day) => {
    expect(dayOf(text, language)).toBe(day);
  });
});

describe('parseDate with words of many languages', () => {
  it.each<[text: string, language: string, day: string | null]>([
    ['23 listopada 2024', 'pl', '2024-11-23'],
    ['23. listopada 2024.', 'hr', '2024-10-23'],
    ['sobota, 23 listopada 2024', '', '2024-11-23'],
    ['23 listopada 2024', '', null],
    ['2 كانون الثاني/يناير 2024', '', '2024-01-02'],
    ['الجمعة، 2 غشت 2024', '', '2024-08-02'],
    ['2024ko maiatzaren 17a', '', '2024-05-17'],
    ["2 d'agost de 2024", '', '2024-08-02'],
    ['Thứ Sáu, 17/05/2024', '', '2024-05-17'],
    ['17-may, 2024-yil', '', '2024-05-17'],
    ['2024 оны 5-р сарын 17', '', '2024-05-17'],
    ['3. 1. 2024.', '', '2024-01-03'],
    ['03.01.2024.', '', '2024-01-03'],
    ['cümə axşamı, 16 may 2024', '', '2024-05-16'],
  ])('reads %s by a writer of "%s" as %s', (text, language, day) => {
    expect(dayOf(text, language)).toBe(day);
  });
});
