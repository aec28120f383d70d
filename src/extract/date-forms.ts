import type { DateHabits } from '../dates/index.ts';

const YEAR = '(?:19|20)\\d{2}';
const DAY = '(?:3[01]|[12]\\d|0?[1-9])';
// "Ada Lund17.5.2024": elements side by side, set apart by their style alone.
const GLUED_START = '(?<=\\p{Ll}{2})';
const START = `(?:\\b|${GLUED_START})`;
// A month's name: marks count, as Devanagari and Thai words hold more of them than letters.
const NAME = '\\p{L}[\\p{L}\\p{M}]{1,14}';
// A month's other name: "24 نيسان / أبريل".
const ARABIC = '[\\u0600-\\u06ff]{2,12}';
const TIME = '(?:[T ]\\d{1,2}:\\d{2}(?::\\d{2})?)?';

/**
 * Ways to write a date inside a line; each has fixed bounds, so the search is linear. Those that begin with a digit are
 * apart from those that do not, so that most places of a line are left after one look.
 */
type Forms = { digits: readonly string[]; letters: readonly string[] };

const usual: Forms = {
  digits: [
    `\\b${YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.]${DAY}(?!\\d)${TIME}`,
    `${START}\\d{1,2}(?:st|nd|rd|th|ST|ND|RD|TH|er|\\.|º)?\\s{0,2}(?:de\\s|of\\s)?\\s?${NAME}(?:\\s?/\\s?${ARABIC})?\\.?,?\\s{1,2}(?:de\\s|del\\s)?${YEAR}`,
    `\\b\\d{1,2}[-.]\\p{L}{3,9}[-.]${YEAR}(?!\\d)`,
    `\\b${YEAR}-\\p{L}{3,9}-\\d{1,2}(?!\\d)`,
    `\\b\\d{1,2}[./-]\\d{1,2}[./-](?:19|20)?\\d{2}\\b`,
    `\\b\\d{1,2}\\.\\s\\d{1,2}\\.\\s${YEAR}\\b`,
    `${GLUED_START}\\d{1,2}[./]\\d{1,2}[./]${YEAR}\\b`,
    // Hungarian and Lithuanian begin with the year, Korean too, with or without its units.
    `\\b${YEAR}\\.?(?:\\sm\\.)?\\s${NAME}\\.?\\s\\d{1,2}(?!\\d)`,
    `\\b${YEAR}\\.\\s\\d{1,2}\\.\\s\\d{1,2}(?!\\d)`,
    `${YEAR}\\s?[年년]\\s?\\d{1,2}\\s?[月월]\\s?\\d{1,2}\\s?[日號号일]`,
    `\\b\\d{1,2}\\sth(?:án)?g\\s\\d{1,2}(?:,|\\snăm)\\s${YEAR}`,
  ],
  letters: [`${NAME}\\.?\\s{1,2}\\d{1,2}(?:st|nd|rd|th|ST|ND|RD|TH)?(?:[.,]?\\s{1,2}|,)${YEAR}`],
};

// Of few languages or few writers, for lines that hold a sign of one.
const unusual: Forms = {
  digits: [
    `\\b\\d{1,2}\\s(?:de\\s|da\\s|ta['’]\\s)?(?:d['’])?${NAME}\\.?,?\\s{1,2}(?:de\\s|del\\s)?${YEAR}`,
    // The year in two digits behind an apostrophe or between dashes; elsewhere they may be anything.
    `${START}\\d{1,2}(?:st|nd|rd|th)?\\s${NAME}\\.?,?\\s['’]\\d{2}(?![\\p{L}\\d])`,
    `\\b\\d{1,2}-\\p{L}{3,9}-\\d{2}(?!\\d)`,
    // Latvian and Basque begin with the year, Uzbek joins the day to the month.
    `\\b${YEAR}\\.\\sgada\\s\\d{1,2}\\.\\s${NAME}`,
    `\\b${YEAR}(?:\\(e\\))?ko\\s${NAME}\\.?\\s\\d{1,2}(?!\\d)`,
    `\\b\\d{1,2}-\\p{L}{3,9}\\.?,?\\s${YEAR}`,
  ],
  letters: [`${NAME}\\.?\\s\\d{1,2}(?:st|nd|rd|th)?,?\\s['’]\\d{2}(?![\\p{L}\\d])`],
};

// Names may hold joiners, and end in signs of their own for what is left out.
const OTHER_NAME = '\\p{L}[\\p{L}\\p{M}\\u200c\\u200d]{1,16}[.॰׳]?';
const TWO_WORDS = '(?:(?:كانون|تشرين|کانوو?نی|تشرینی)\\s)?';
const PERSIAN_YEAR = '1[34]\\d{2}(?!\\d)';
const PERSIAN_NAME = '[\\u0600-\\u06ff\\u200c]{2,12}(?:\\sماه)?(?:\\sسال)?';
const SOLAR_OR_LUNAR = '(?:\\s?\\(?ه\\u0640?\\.?\\s?[شق](?![\\u0600-\\u06ff]))?';

const arabic: Forms = {
  digits: [
    `(?<![\\d./-])1[34]\\d{2}[-/.]\\d{1,2}[-/.]\\d{1,2}(?![\\d/])${TIME}${SOLAR_OR_LUNAR}`,
    `(?<![\\d./-])\\d{1,2}[-/.]\\d{1,2}[-/.]1[34]\\d{2}(?![\\d/])`,
    `(?<!\\d)\\d{1,2}\\s?${PERSIAN_NAME}[،,]?\\s{1,2}${PERSIAN_YEAR}`,
    `(?<!\\d)${PERSIAN_YEAR}\\s${PERSIAN_NAME}\\s\\d{1,2}(?!\\d)`,
    // Right-to-left marks around the strokes.
    `(?<!\\d)\\d{1,2}\\u200f/\\d{1,2}\\u200f/${YEAR}(?!\\d)`,
    `${YEAR}\\s\\d{1,2}-${OTHER_NAME}`,
    `${YEAR}\\s(?:د\\s)?${OTHER_NAME}\\s\\d{1,2}(?!\\d)`,
    `(?<!\\d)\\d{1,2}(?:[.,-]|ی)?\\s?${TWO_WORDS}${OTHER_NAME}(?:\\s?/\\s?${TWO_WORDS}${ARABIC})?[,،]?\\s{1,2}${YEAR}`,
  ],
  letters: [],
};

const eastern: Forms = {
  digits: [
    `${YEAR}\\sоны\\s(?:арван\\s)?[\\p{L}\\d-]{1,14}\\sсарын\\s\\d{1,2}(?!\\d)`,
    `${YEAR}(?:-|\\s)?(?:թ\\.|ж\\.|ел|жыл|жылы|жылғы)?,?\\s\\d{1,2}[\\s-]${OTHER_NAME}`,
    `${YEAR}\\s(?:թ\\.\\s)?${OTHER_NAME}\\s\\d{1,2}(?!\\d)`,
    `(?<!\\d)\\d{1,2}(?:[.,-])?\\s?${OTHER_NAME},?\\s{1,2}${YEAR}`,
  ],
  letters: [],
};

// Two digits of a Thai year are one where the line ends or a sign or the time follows, but not in "67 people".
const THAI_END = '(?=\\s{0,2}(?:$|[|•·,()–—-]|เวลา|\\d{1,2}[:.]\\d{2}))';

const thai: Forms = {
  digits: [
    `(?<![\\d./-])25\\d{2}[-/.]\\d{1,2}[-/.]\\d{1,2}(?![\\d/])${TIME}`,
    `(?<![\\d./-])\\d{1,2}[-/.]\\d{1,2}[-/.]25\\d{2}(?![\\d/])`,
    `(?<!\\d)\\d{1,2}\\s?[\\u0e01-\\u0e4e.]{3,12}\\s{0,2}(?:[พค]\\.?ศ\\.?\\s?)?(?:25|20|19)\\d{2}(?!\\d)`,
    `(?<!\\d)\\d{1,2}\\s[\\u0e01-\\u0e4e.]{3,12}\\s\\d{2}${THAI_END}`,
  ],
  letters: [],
};

const ERA = '(?:令和|平成|昭和|大正|明治|(?:中[華华])?民[國国])';
const MONTH_DAY = '\\s?\\d{1,2}\\s?月\\s?\\d{1,2}\\s?[日號号]';
const BRACKETS = '(?:\\s?[(（][^()（）]{1,12}[)）])?';

const farEastern: Forms = {
  digits: [
    `(?<![\\d./-])1[0-3]\\d([-/.])\\d{1,2}\\1\\d{1,2}(?![\\d/.])`,
    `(?<!\\d)1[0-3]\\d\\s?年${MONTH_DAY}`,
    `${YEAR}\\s?年${BRACKETS}${MONTH_DAY}`,
  ],
  letters: [
    `${ERA}\\s?(?:元|\\d{1,3})\\s?年${BRACKETS}${MONTH_DAY}`,
    `${ERA}\\s?\\d{1,3}[-/.]\\d{1,2}[-/.]\\d{1,2}(?!\\d)`,
    `(?<![\\p{L}\\d])[RHS]\\d{1,2}/\\d{1,2}/\\d{1,2}(?!\\d)`,
  ],
};

// By which a line shows that it may hold more than the usual forms, or the calendars of whose writers it may; Greek and
// Cyrillic lines have the usual ones, but for those of Central Asia. Where the unusual forms were searched for in every
// line, the search took 1.7 times as long; where those of all scripts were, lines beyond the Latin took three times as long.
const GROUPS: readonly { forms: Forms; sign: RegExp; calendars?: readonly DateHabits['calendar'][] }[] = [
  {
    forms: unusual,
    sign: /\d(?:-[A-Za-z]|\.?\s(?:d['’]|da\s|de\s?[dl]['’]|ta['’]|gada)|(?:\(e\))?ko\s)|['’]\d\d(?!\d)/,
  },
  { forms: arabic, sign: /[\u0590-\u08ff\u200f]/, calendars: ['persian'] },
  {
    forms: eastern,
    sign: /[\u0530-\u058f\u0900-\u0dff\u0e80-\u1fff]|\d(?:[- ]?ж\.|\s?(?:оны|жыл)|-[\u0400-\u04ff]{2})/,
  },
  { forms: thai, sign: /[\u0e00-\u0eff]/, calendars: ['buddhist'] },
  { forms: farEastern, sign: /[\u2e80-\ud7af\uff10-\uff19]/, calendars: ['minguo', 'japanese'] },
];
const UNUSUAL_ONLY = 1;

/** Which groups of forms a line may hold, one bit each. */
export function groupsOf(line: string, { calendar }: DateHabits): number {
  let groups = 0;
  for (let bit = 0; bit < GROUPS.length; bit++) {
    const { sign, calendars } = GROUPS[bit]!;
    if ((calendar !== null && calendars?.includes(calendar)) || sign.test(line)) groups |= 1 << bit;
  }
  return groups;
}

/** Whether a line may hold digits, words or calendars beyond those of Latin, Greek and Cyrillic writers. */
export const isElsewhere = (groups: number): boolean => groups > UNUSUAL_ONLY;

const patterns = new Map<number, RegExp>();

/** The pattern that finds the dates of these groups, those of more groups before the usual ones. */
export function patternOf(groups: number): RegExp {
  let pattern = patterns.get(groups);
  if (pattern === undefined) {
    const forms = [...GROUPS.filter((_, bit) => groups & (1 << bit)).map((group) => group.forms), usual];
    const [digits, letters] = [forms.flatMap((one) => one.digits), forms.flatMap((one) => one.letters)];
    pattern = new RegExp([`(?=\\d)(?:${digits.join('|')})`, ...letters].join('|'), 'gu');
    patterns.set(groups, pattern);
  }
  return pattern;
}
