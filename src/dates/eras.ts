import { type Day, daysInMonth } from './calendar.ts';

/** Years counted from the beginning of a reign or a republic; `from` and `to` as year, month and day in one number. */
type Era = { before: number; from: number; to: number };

// Japan took the Gregorian months in its sixth year of Meiji. On the day of a change both names are right.
const meiji: Era = { before: 1867, from: 1873_01_01, to: 1912_07_30 };
const taisho: Era = { before: 1911, from: 1912_07_30, to: 1926_12_25 };
const showa: Era = { before: 1925, from: 1926_12_25, to: 1989_01_07 };
const heisei: Era = { before: 1988, from: 1989_01_08, to: 2019_04_30 };
const reiwa: Era = { before: 2018, from: 2019_05_01, to: 2099_12_31 };
const minguo: Era = { before: 1911, from: 1912_01_01, to: 2099_12_31 };

const eras: Record<string, Era> = {
  __proto__: null as never,
  ...{ 明治: meiji, 大正: taisho, 昭和: showa, 平成: heisei, 令和: reiwa },
  ...{ m: meiji, t: taisho, s: showa, h: heisei, r: reiwa },
  ...{ 民國: minguo, 民国: minguo, 中華民國: minguo, 中华民国: minguo, 中華民国: minguo },
};

/** The Gregorian day of one in a Japanese era or of the Republic of China; null outside the era. */
function fromEra(name: string, yearText: string, month: number, day: number): Day | null {
  const era = eras[name];
  // The first year of an era is called by a word.
  const yearOfEra = yearText === '元' ? 1 : Number(yearText);
  if (era === undefined || yearOfEra < 1) return null;
  const year = era.before + yearOfEra;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  const at = year * 10_000 + month * 100 + day;
  return at >= era.from && at <= era.to ? { year, month, day } : null;
}

const names = '令和|平成|昭和|大正|明治|(?:中[華华])?民[國国]';
const written = new RegExp(
  `(${names}) ?(元|\\d{1,3}) ?年 ?(?:\\(([^()]{1,12})\\) ?)?(\\d{1,2}) ?月 ?(\\d{1,2}) ?[日號号]`,
);
const inNumbers = new RegExp(`(${names}) ?(\\d{1,3})([-/.])(\\d{1,2})\\3(\\d{1,2})(?!\\d)`);
const byLetter = /^([mtshr])(\d{1,2})\/(\d{1,2})\/(\d{1,2})(?!\d)/;
// "2024年(令和6年)5月4日" says the year twice.
const inBrackets = new RegExp(`(\\d{4}) ?年 ?\\((?:${names}|[mtshr]) ?(?:元|\\d{1,3}) ?年?\\) ?(?=\\d)`);
// Nobody else writes three digits before the character for year: 113年5月4日.
const bareMinguo = /(?<![\d\p{L}-] ?)(1[0-3]\d) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?[日號号]/u;

/** Rewrites years of eras into ISO order, in folded text; what is outside its era stays as it is and is no date. */
export function rewriteEras(text: string, isJapanese: boolean): string {
  if (isJapanese && byLetter.test(text))
    return text.replace(byLetter, (whole, name, year, month, day) => iso(whole, name, year, month, day));
  if (!text.includes('年') && !inNumbers.test(text)) return text;
  return text
    .replace(inBrackets, '$1年')
    .replace(written, (whole, name, year, other: string | undefined, month, day) => {
      const rewritten = iso(whole, name, year, month, day);
      const western = /\d{4}/.exec(other ?? '')?.[0];
      // The year in the brackets is the same one, or nobody knows which is right.
      return western === undefined || rewritten.startsWith(western) ? rewritten : whole;
    })
    .replace(inNumbers, (whole, name, year, _, month, day) => iso(whole, name, year, month, day))
    .replace(bareMinguo, (whole, year, month, day) => iso(whole, '民國', year, month, day));
}

function iso(whole: string, name: string, year: string, month: string, day: string): string {
  const found = fromEra(name, year, Number(month), Number(day));
  return found === null ? whole : `${isoDay(found)} `;
}

/** A day as ISO 8601 writes it. */
export function isoDay({ year, month, day }: Day): string {
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
