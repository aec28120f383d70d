import { daysInMonth } from './calendar.ts';
import { isoDay } from './eras.ts';
import type { Calendar, DateHabits } from './habits.ts';
import { fromPersian } from './persian.ts';

// "1403/05/12", "2567-08-12", "113.05.04", and with the year behind: "12/05/1403".
const yearFirst = /(?<![\d./-])(1[34]\d{2}|25\d{2}|1[0-3]\d)([-/.])(\d{1,2})\2(\d{1,2})(?![\d/])/;
const yearLast = /(?<![\d./-])(\d{1,2})([-/.])(\d{1,2})\2(1[34]\d{2}|25\d{2})(?![\d/])/;
// Which of the two Islamic calendars is meant, the solar one of Iran or the lunar one. One letter is a mark only behind
// a number, as words may begin with it.
const solar = /(?<=\d ?\(?)ه\u0640?\.? ?ش(?![\u0600-\u06ff])\.?|(?:هجر[یي] )?(?:شمس[یي]|خورشیدی)/;
const lunar =
  /\d ?\(?(?:ه\u0640?(?!\u0640|\.? ?ش|[\u0600-\u06ff])|ق(?![\u0600-\u06ff])|هجر[يی](?! شمس| خورشید))|قمر[یي]|\ba\.?h\b/;
// Dates of other calendars that look like Gregorian ones: the lunar ones of China and Korea, those of India, Ethiopia,
// Nepal, and those that programs write in the words of China and Japan. Their names stand right before or right after;
// "am" and "be" only where they can be no clock and no word of a sentence.
const namedBefore =
  /(?:(?:[农農旧舊陰阴]|印度|伊斯[兰蘭]|希伯[来來]|科普特|埃塞俄比[亚亞]|衣索比亞|ヒジュラ|ヘブライ|コプト|エチオピア)[暦曆历]|サカ|음력|शक|संवत|सम्वत|वि\.? ?सं\.?) ?$/;
const namedAfter =
  /\d ?\(?(?:minguo\b|[sś]aka(?=$|[).,;|·])|(?:roc|heisei|reiwa)\)|शक(?=\s|$)|संवत|सम्वत|वि\.? ?सं|ዓ[./]?ም)|^25\d\d be\b|^(?:1[6-9]|20)\d\d am(?! ?\d)(?=$|[\s,.)|·])/;
const namedWithYear = /(?:am|[sś]aka) ?\d{4} ?[年년о]/;

// From 1414 on, which is 2035, numbers alone may as well be the lunar year, which Iranian pages show beside the solar.
const lastPersianYear = 1413;
const persianDigits = /[\u06f0-\u06f9]{4}/;

/** Whether what stands around a date says that it is of a calendar whose days we cannot tell. */
export function isOfOtherCalendar(before: string, date: string, after: string): boolean {
  const [lead, tail] = [before.toLowerCase(), after.toLowerCase()];
  return namedBefore.test(lead) || namedAfter.test(date.slice(-4) + tail) || namedWithYear.test(lead + date);
}

/** The same for a folded text that is nothing but a date. */
export function saysOtherCalendar(folded: string): boolean {
  const first = folded.search(/\d/);
  const last = folded.search(/\d\D*$/);
  return isOfOtherCalendar(folded.slice(0, first), folded.slice(first, last + 1), folded.slice(last + 1));
}

const shortYear = /^(\d\d)-\d\d-\d\d(?!\d)/;
const yearInNumbers = /^\d{4}[/.]\d/;

/** Whether a date of numbers, which has one reading elsewhere, has more in a calendar that the writer may mean. */
export function isUnsureFor(folded: string, calendar: Calendar | null): boolean {
  if (calendar === null || !/^\d/.test(folded)) return false;
  if (calendar === 'ethiopian' && yearInNumbers.test(folded)) return true;
  const short = shortYear.exec(folded);
  if (short === null) return false;
  return (
    calendar === 'persian' ||
    calendar === 'nepali' ||
    calendar === 'ethiopian' ||
    (calendar === 'minguo' && Number(short[1]) >= 82)
  );
}

/**
 * Rewrites dates of numbers alone whose year is Persian, Buddhist or of Taiwan beyond doubt, into ISO order. 1403/05/12
 * may be the lunar calendar too: the digits, a mark or the language of the writer have to say that it is not.
 */
export function rewriteOtherYears(folded: string, original: string, { calendar, order }: DateHabits): string {
  if (!yearFirst.test(folded) && !yearLast.test(folded)) return folded;
  const isLunar = lunar.test(folded);
  const isSolar = solar.test(folded);
  const isPersian =
    !isLunar && (isSolar || calendar === 'persian' || (calendar === null && persianDigits.test(original)));
  const rewrite = (whole: string, yearText: string, monthText: string, dayText: string): string | null => {
    const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
    if (yearText.length === 3) return isMinguo(whole, calendar) ? gregorian(year + 1911, month, day) : null;
    // Who counts in years of the Buddha puts the day first, but the page of an American program need not.
    if (yearText.startsWith('25'))
      return calendar === 'other' || order === 'mdy' ? null : gregorian(year - 543, month, day);
    const found = isPersian && year <= lastPersianYear ? fromPersian(year, month, day) : null;
    return found && isoDay(found);
  };
  return folded
    .replace(yearFirst, (whole, year, _, month, day) => rewrite(whole, year, month, day) ?? whole)
    .replace(yearLast, (whole, day, _, month, year) => rewrite(whole, year, month, day) ?? whole)
    .replace(isPersian ? solar : /$^/, ' ')
    .trim();
}

// 113.5.4 may be a version of something.
const isMinguo = (written: string, calendar: Calendar | null) =>
  calendar === 'minguo' && (!written.includes('.') || /^\d{3}\.\d{2}\.\d{2}$/.test(written));

function gregorian(year: number, month: number, day: number): string | null {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
    ? isoDay({ year, month, day })
    : null;
}
