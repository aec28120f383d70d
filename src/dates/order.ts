/** The order in which the three numbers of a date are written: day, month and year by their first letters. */
export type DateOrder = 'dmy' | 'mdy' | 'ymd';

// Written out rather than asked of Intl: its formats follow the official short form, which is ISO for languages whose
// newspapers write the day first, and differ between versions of Node.
const dayFirst = new Set(
  'ar az be bg bn bs ca cs cy da de el es et fi fo fr ga gl gu he hi hr hy id is it ka kk kn lb lv mk ml mr ms mt nb nl nn no pa pl pt rm ro ru sk sl sq sr sw ta te th tr uk ur uz vi'.split(
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

/**
 * The order in which those who write a language (BCP 47, such as "de-AT") write numeric dates, or null where they do
 * not agree: "en" alone is on British and American pages alike.
 */
export function orderOfLanguage(tag: string | null): DateOrder | null {
  const [language = '', ...subtags] = (tag ?? '').slice(0, 35).trim().toLowerCase().split(/[-_]/);
  const region = subtags.find((subtag) => subtag.length === 2) ?? '';
  if (language === 'en') return english.get(region) ?? null;
  if (yearFirst.has(language)) return 'ymd';
  return dayFirst.has(language) && !divided.has(region) ? 'dmy' : null;
}
