/** What the list is narrowed to, by its names in the address. */
export const filterNames = ['q', 'source', 'domain', 'language', 'since', 'until'] as const;
/** What of the address belongs to the list: it stays while documents and tabs are looked through. */
export const listNames = [...filterNames, 'cursor', 'page'] as const;

/** Midnight of a day where the reader is, so many days later; undefined for what is no day. */
export function dayStart(day: string, later = 0): string | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const start = new Date(`${day}T00:00:00`);
  start.setDate(start.getDate() + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

const names = new Intl.DisplayNames(['en'], { type: 'language' });

/** A language by its English name; what is no code stays as it is. */
export function languageName(code: string): string {
  return /^[a-z]{2,3}$/.test(code) ? (names.of(code) ?? code) : code;
}

const codes =
  'ar az bg bn ca cs da de el en es et fa fi fil fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv sw ta th tr uk ur vi zh'
    .split(' ')
    .toSorted((a, b) => languageName(a).localeCompare(languageName(b), 'en'));

/** Languages to choose from, with the one that is chosen already. */
export const languageChoices = (chosen: string): readonly string[] =>
  chosen === '' || codes.includes(chosen) ? codes : [...codes, chosen];
