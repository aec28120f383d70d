import { rewriteEras } from './eras.ts';

// Chinese, Japanese and Korean dates carry their units behind the numbers, and the half of the day before the hour;
// Mongolian ones too, and Vietnamese ones in front.
const eastAsian = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/;
const vietnamese = /(?:ngay )?(\d{1,2}) (?:thang|thg) (\d{1,2})(?:,| nam) (\d{4})/;
// "thu", which begins a weekday there, is Thursday elsewhere.
const vietnameseWeekday = /(?:^|(?<=\s))(?:thu (?:hai|ba|tu|nam|sau|bay)|chu nhat)(?=[,\s])/;
const vietnameseDays = ['chu nhat', 'thu hai', 'thu ba', 'thu tu', 'thu nam', 'thu sau', 'thu bay'];
const englishDays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const mongolian =
  /(\d{4}) оны (?:(\d{1,2})(?:-р)?|((?:арван )?[а-яөү]{5,15})) сарын (\d{1,2})(?:-[а-яөү]{1,4})?(?=[\s,]|$)/;
const mongolianMonths =
  'нэгдүгээр хоердугаар гуравдугаар дөрөвдүгээр тавдугаар зургаадугаар долоодугаар наимдугаар есдүгээр аравдугаар'.split(
    ' ',
  );

/** Rewrites a Chinese, Japanese, Korean, Mongolian or Vietnamese date into ISO order; says when it must be Korean time. */
export function rewriteEastAsian(folded: string, isJapanese: boolean): { text: string; korean: boolean } {
  const text = rewriteEras(folded, isJapanese);
  if (!eastAsian.test(text)) return { text: rewriteNeighbours(text), korean: false };
  const rewritten = text
    .replace(
      /[(（]?[日月火水木金土일월화수목금토][)）]|(?:星期|周|週)[一二三四五六日天]|[日月火水木金土]曜日?|[월화수목금토일]요일/g,
      ' ',
    )
    .replace(/(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日号號일]/, '$1-$2-$3 ')
    .replace(/(\d{4}) ?[年년] ?(\d{1,2}) ?[月월]$/, '$1-$2')
    .replace(/(\d{1,2}) ?[時时点點시] ?(?:(\d{1,2}) ?[分분] ?)?(?:(\d{1,2}) ?[秒초])?/, clock)
    .replace(
      /(上午|午前|오전|下午|午後|오후) ?(\d{1,2}:\d{2}(?::\d{2})?)/,
      (_, half: string, time: string) => `${time} ${/上午|午前|오전/.test(half) ? 'am' : 'pm'}`,
    );
  // feedparser's Korean formats (onblog, nate) write Korean time without saying so; Hangul has one time zone.
  return { text: rewritten.replace(/\s+/g, ' ').trim(), korean: /[\uac00-\ud7af]/.test(text) };
}

function rewriteNeighbours(text: string): string {
  if (text.includes('сарын')) return text.replace(mongolian, mongolianDay);
  return text
    .replace(vietnameseWeekday, (day) => englishDays[vietnameseDays.indexOf(day)]!)
    .replace(vietnamese, '$3-$2-$1');
}

function mongolianDay(
  whole: string,
  year: string,
  digits: string,
  word: string | undefined,
  day: string,
): string {
  if (word === undefined) return `${year}-${digits}-${day}`;
  const tens = word.startsWith('арван ') ? 10 : 0;
  const month = mongolianMonths.indexOf(word.slice(tens === 0 ? 0 : 6)) + 1;
  return month === 0 ? whole : `${year}-${tens + month}-${day}`;
}

function clock(_: string, hour: string, minute: string | undefined, second: string | undefined): string {
  return `${hour}:${(minute ?? '0').padStart(2, '0')}${second === undefined ? '' : `:${second.padStart(2, '0')}`}`;
}
