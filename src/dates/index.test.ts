import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate } from './index.ts';

const right: [string, string][] = [
  // RFC 822 and its errors
  ['Tue, 03 Jun 2003 09:39:21 GMT', '2003-06-03T09:39:21Z'],
  ['tue,3 jun 03 9:39 +0000 (UTC)', '2003-06-03T09:39:00Z'],
  ['Mon, 13 Feb, 2012 06:28:00 UTC', '2012-02-13T06:28:00Z'],
  ['Wed, 19 Feb 2012 22:40:00 GMT-01:01', '2012-02-19T23:41:00Z'],
  ['Thu, 05 Jul 2012 10:00:00 ET', '2012-07-05T14:00:00Z'],
  ['Thu, 05 Jan 2012 10:00:00 ET', '2012-01-05T15:00:00Z'],
  ['Mon, 16th Nov 2020 13:16:28EST', '2020-11-16T18:16:28Z'],
  ['03 Apr 02 1500 GMT', '2002-04-03T15:00:00Z'],
  ['Sun Jul 15 01:16:00 +0000 2012', '2012-07-15T01:16:00Z'],
  ['Monday, 02-Jan-06 15:04:05 MST', '2006-01-02T22:04:05Z'],
  ['28/Oct/2023:10:00:00 +0000', '2023-10-28T10:00:00Z'],
  ['Fri, 31 Mar 2023 20:19:00 America/Los_Angeles', '2023-04-01T03:19:00Z'],
  ['Thu Nov 12 2020 17:00:00 GMT+0100 (Central European Standard Time)', '2020-11-12T16:00:00Z'],
  ['Nov. 16, 2020, 12:57 a.m.', '2020-11-16T00:57:00Z'],
  ['Wed, 05 July 2023 8am PT', '2023-07-05T15:00:00Z'],
  ['5 August, 2019', '2019-08-05T00:00:00Z'],
  ['Nov. 2020', '2020-11-01T00:00:00Z'],
  ['Thu, 01 Jan 0100 00:00:01 +0100', '0099-12-31T23:00:01Z'],
  // ISO 8601 and W3C-DTF
  ['2003', '2003-01-01T00:00:00Z'],
  ['2003-12', '2003-12-01T00:00:00Z'],
  ['-03-12', '2003-12-01T00:00:00Z'],
  ['031231', '2003-12-31T00:00:00Z'],
  ['2003-335', '2003-12-01T00:00:00Z'],
  ['2020-W29-4', '2020-07-16T00:00:00Z'],
  ['2020-W01', '2019-12-30T00:00:00Z'],
  ['20031231T101112,5Z', '2003-12-31T10:11:12.500Z'],
  ['2003-12-31T10:14', '2003-12-31T10:14:00Z'],
  ['2003-12-31 10:14:55 -00:20', '2003-12-31T10:34:55Z'],
  ['2003-12-31T24:00:00Z', '2004-01-01T00:00:00Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ['2011-12-03T10:15:30+01:00[Europe/Paris]', '2011-12-03T09:15:30Z'],
  ['2020-11-08T16:20:00-05:00Z', '2020-11-08T21:20:00Z'],
  ['2003-12-31+01:00', '2003-12-30T23:00:00Z'],
  // Languages
  ['mar., 01 déc. 2020 16:11:02 +0000', '2020-12-01T16:11:02Z'],
  ['mar 16 mar 2021 10:00', '2021-03-16T10:00:00Z'],
  ['Do, 29 Mär 2018 00:00:00 +0200', '2018-03-28T22:00:00Z'],
  ['16. März 2020, 15.30 Uhr', '2020-03-16T15:30:00Z'],
  ['16 de noviembre de 2020', '2020-11-16T00:00:00Z'],
  ['16 lipca 2020 r., 15:30', '2020-07-16T15:30:00Z'],
  ['16 июля 2020 г.', '2020-07-16T00:00:00Z'],
  ['2020. július 16. 10:11', '2020-07-16T10:11:00Z'],
  ['Πεμ, 16 Ιουλ 2020 13:30:00 +0300', '2020-07-16T10:30:00Z'],
  ['16 Temmuz 2020 Perşembe 13:30', '2020-07-16T13:30:00Z'],
  ['2020年7月16日(木) 10時05分', '2020-07-16T10:05:00Z'],
  ['2020년 7월 16일', '2020-07-16T00:00:00Z'],
  ['2004-05-25 오후 11:23:17', '2004-05-25T14:23:17Z'],
  ['16 มีนาคม 2563', '2020-03-16T00:00:00Z'],
  ['١٦ يوليو ٢٠٢٠', '2020-07-16T00:00:00Z'],
  // Numbers only, where the order is certain
  ['30.10.23', '2023-10-30T00:00:00Z'],
  ['05.03.18', '2018-03-05T00:00:00Z'],
  ['10/30/23 21:55:58', '2023-10-30T21:55:58Z'],
  ['Fri, 26/06/2020', '2020-06-26T00:00:00Z'],
  ['Mon, 01/02/2006', '2006-01-02T00:00:00Z'],
  ['Sat, 11 04 2020 08:51:49 +0100', '2020-04-11T07:51:49Z'],
  ['8/8/2020', '2020-08-08T00:00:00Z'],
  ['1520932969', '2018-03-13T09:22:49Z'],
  ['20060102150405', '2006-01-02T15:04:05Z'],
];

const refused = [
  ...['', ' ', 'yesterday', '2 hours ago', 'May', '16 March', '12:30', '013', '22013', '2013-01-27-01'],
  ...['01/02/2006', '02-01-2006', '13-01-20', '200312', '20.11.12', '6/1/2 15:04', '1399/05/12'],
  ...['2020-02-30', '2003-12-31T25:14:55Z', '2003-12-31T10:61:55Z', '2003-12-31T10:14:61Z', '2021-W53-1'],
  ...['Sun, 16 Dec 2012 1:2:3:4 GMT', 'Sun, 16 zzz 2012 11:47:32 GMT', 'Sun, 99 Jun 2009 12:00:00 GMT'],
  ...['Sun, 16 Dec 2012 11:47:32 +00:zz', '9999-12-31T23:59:59-99:99', 'Mon, 2 Jan 15:04:05 MST'],
  ...['31 Apr 2020', '10 Jan 2020 13:00 AM', '10 Jan 2020 10:00 EST -0700', '16 listopada 2020'],
  ...['10 Jan 2020 10:00 IST', '10 Jan 2020 10:00 Europe/Nowhere', '2013-01-28T11:30:00-06:00Textra'],
  ...['10 Jan 2020 10:00:00 11:00:00', '__proto__', '10 constructor 2020', 'x'.repeat(130)],
];

describe('parseDate', () => {
  it.each(right)('%s', (input, expected) => {
    expect(parseDate(input)?.toISOString()).toBe(new Date(expected).toISOString());
  });

  it.each(refused)('refuses %s', (input) => {
    expect(parseDate(input)).toBeNull();
  });

  it('reads every instant back from the forms machines write', () => {
    const instants = fc.date({
      min: new Date('1971-01-01T00:00:00Z'),
      max: new Date('2099-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (date) => {
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseDate(date.toISOString())?.getTime()).toBe(date.getTime());
        expect(parseDate(date.toUTCString())?.getTime()).toBe(seconds);
        expect(parseDate(date.toString())?.getTime()).toBe(seconds);
      }),
    );
  });

  it('never throws and never gives an invalid date', () => {
    const pieces = fc.constantFrom(
      'Mon',
      ',',
      ' ',
      '12',
      '2020',
      'Jan',
      ':',
      '-',
      '+',
      'T',
      'Z',
      '/',
      '.',
      '年',
      '(',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const date = parseDate(text);
        expect(date === null || !Number.isNaN(date.getTime())).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
