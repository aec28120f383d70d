/** The order in which the three numbers of a date are written: day, month and year by their first letters. */
export type DateOrder = 'dmy' | 'mdy' | 'ymd';

/** A way to count years that readers of a language meet beside the Gregorian one; `other` is one we do not convert. */
export type Calendar = 'persian' | 'buddhist' | 'minguo' | 'japanese' | 'ethiopian' | 'nepali' | 'other';

/** What is known of whoever wrote a date: it settles what the date leaves open, and nothing that is certain without it. */
export type DateHabits = {
  order: DateOrder | null;
  calendar: Calendar | null;
  /** The language without its region; empty where nobody knows. */
  language: string;
};

/** Of a writer nobody knows anything about. */
export const noHabits: DateHabits = { order: null, calendar: null, language: '' };

// Written out rather than asked of Intl: its formats follow the official short form, which is ISO for languages whose
// newspapers write the day first, and differ between versions of Node.
const dayFirst = new Set(
  'ar az be bg bn bs ca cs cy da de el es et fi fo fr ga gl gu he hi hr hy id is it ka kk km kn lb lo lv mk ml mr ms mt nb nl nn no pa pl pt rm ro ru sk sl sq sr sw ta te th tr uk ur uz vi'.split(
    ' ',
  ),
);
const yearFirst = new Set('eu hu ja ko lt mn zh'.split(' '));
const english = new Map<string, DateOrder>([
  ['us', 'mdy'],
  ...'au gb gh ie in ke mt ng nz sg uk za'.split(' ').map((region) => [region, 'dmy'] as const),
]);
// Both orders are in use there.
const divided = new Set(['ca', 'us', 'pr', 'pa']);

const calendars: Record<string, Calendar> = { __proto__: null as never };
for (const [calendar, languages] of [
  ['persian', 'fa prs ps glk haz lrc mzn'],
  ['buddhist', 'th lo'],
  ['japanese', 'ja'],
  ['ethiopian', 'am om ti'],
  ['nepali', 'mai ne new'],
  // Islamic dates in Arabic, Urdu and their neighbours; Buddhist years that begin in spring.
  ['other', 'ar dv ks km my sd si ug ur'],
] as const)
  for (const language of languages.split(' ')) calendars[language] = calendar;

/**
 * How those who write a language (BCP 47, such as "de-AT") write dates. The order of numbers is null where they do not
 * agree: "en" alone is on British and American pages alike.
 */
export function habitsOfLanguage(tag: string | null): DateHabits {
  const [language = '', ...subtags] = (tag ?? '').slice(0, 35).trim().toLowerCase().split(/[-_]/);
  const region = subtags.find((subtag) => subtag.length === 2) ?? '';
  return { order: orderOf(language, region), calendar: calendarOf(language, region, subtags), language };
}

function orderOf(language: string, region: string): DateOrder | null {
  if (language === 'en') return english.get(region) ?? null;
  if (yearFirst.has(language)) return 'ymd';
  return dayFirst.has(language) && !divided.has(region) ? 'dmy' : null;
}

function calendarOf(language: string, region: string, subtags: readonly string[]): Calendar | null {
  if (language === 'zh') return region === 'tw' || subtags.includes('hant') ? 'minguo' : null;
  return calendars[language] ?? null;
}
