import { type Day, dayMs } from './calendar.ts';

// Iran, Afghanistan, Pashto, the Kurds of Iran and English papers of Tehran; as foldLetters() leaves them. "Tir" in
// Latin letters is left out: it is Tuesday in Norway.
const monthWords = [
  'فروردین حمل وری خاکەلێوە farvardin',
  'اردیبهشت ثور غویی گوڵان بانەمەڕ ordibehesht',
  'خرداد جوزا غبرگولی غبرګولی جۆزەردان khordad',
  'تیر سرطان چنگاښ چنګاښ پووشپەڕ',
  'مرداد امرداد اسد زمری گەلاوێژ mordad',
  'شهریور سنبله وږی خەرمانان shahrivar',
  'مهر میزان تله ڕەزبەر mehr',
  'ابان عقرب لړم گەڵاڕێزان خەزەڵوەر aban',
  'اذر قوس لیندۍ سەرماوەز azar',
  'دی جدی مرغومی بەفرانبار dey',
  'بهمن دلو سلواغه ڕێبەندان bahman',
  'اسفند حوت کب ڕەشەمە esfand',
];

const months = new Map<string, number>();
for (const [index, words] of monthWords.entries())
  for (const word of words.split(' ')) months.set(word, index + 1);

const letters: Record<string, string> = { ي: 'ی', ى: 'ی', ك: 'ک', آ: 'ا', أ: 'ا', إ: 'ا', ة: 'ه', ۀ: 'ه' };

// Arabic keyboards have other letters for the same sounds, and some writers stretch words.
const foldLetters = (word: string) =>
  word.replace(/[يىكآأإةۀ]/g, (letter) => letters[letter] ?? letter).replace(/[\u0640\u0654]/g, '');

/** The month (1-12) of the Persian calendar that a folded word names, or null. */
export function persianMonthOf(word: string): number | null {
  const plain = foldLetters(word);
  return months.get(plain) ?? (plain.endsWith('ماه') ? months.get(plain.slice(0, -3)) : undefined) ?? null;
}

// Iran has counted so since 1925. Its leap years follow a cycle of 33 years, which agrees with the sky, by which they
// are decided, far beyond the last year here.
const firstYear = 1304;
const lastYear = 1498;
const isLeapYear = (year: number) => (year * 25 + 11) % 33 < 8;

/** The Gregorian day of one of the Persian calendar (Solar Hijri), or null where there is no such day. */
export function fromPersian(year: number, month: number, day: number): Day | null {
  if (year < firstYear || year > lastYear || month < 1 || month > 12 || day < 1) return null;
  const length = month <= 6 ? 31 : month < 12 || isLeapYear(year) ? 30 : 29;
  if (day > length) return null;
  // Noruz of 1403 was on 20 March 2024.
  const days = dayNumber(year, month, day) - dayNumber(1403, 1, 1);
  const date = new Date(Date.UTC(2024, 2, 20) + days * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function dayNumber(year: number, month: number, day: number): number {
  const leapDays = Math.floor((8 * year + 21) / 33);
  return 365 * year + leapDays + 31 * (month - 1) - Math.max(0, month - 7) + day;
}

/** The Persian year behind two digits, where only one of those people publish in is meant. */
export function expandPersianYear(year: number): number | null {
  if (year >= 72) return 1300 + year;
  return year <= 13 ? 1400 + year : null;
}
