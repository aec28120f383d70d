import type { DateHabits } from '../dates/index.ts';
import {
  datesInText,
  ENTRY,
  ORIGINALLY,
  PUBLISHED_LABEL,
  UPDATED,
  type WrittenDate,
} from './written-dates.ts';

/** A date, the evidence that gave it, and the text it was read from. */
export type FoundDate = { date: Date; from: string; raw: string };

/** A short line near the headline; `after` counts the lines from the headline on, below 0 before it. */
export type NearLine = { text: string; after: number; dates?: WrittenDate[] };

const MAX_LINE_DATES = 3;

/** The dates of a line, searched once for all who ask. */
function datesOf(line: NearLine, habits: DateHabits): WrittenDate[] {
  line.dates ??= POST.test(line.text) ? [] : datesInText(line.text, MAX_LINE_DATES, habits);
  return line.dates;
}

// "— Ada Lund (@lund) May 17, 2024": the post of a network, shown in the article.
const POST = /\(@\w{2,30}\)/;

/** Where the headline stands, the lines around it in their order, and the short lines of the whole page. */
export type Surroundings = {
  headlineIndex: number;
  lines: NearLine[];
  shortLines: string[];
  /** How the page's language writes dates. */
  habits: DateHabits;
};

/** Whether a line, or the label on the line before it, says that its date is one of change. */
function isUpdate(lines: NearLine[], i: number, at: number): boolean {
  if (UPDATED.test(lines[i]!.text.slice(0, at))) return true;
  const before = lines[i - 1];
  return at < LABEL_CHARS && before !== undefined && before.text.length < 30 && UPDATED.test(before.text);
}

// A date this close to the start of its line may have its label on the line before.
const LABEL_CHARS = 3;

/** The date of the line nearest to the headline; one of change only where asked for. */
export function fromLines({ lines, habits }: Surroundings, updatedToo: boolean): FoundDate | null {
  // What stands after a headline is likelier to belong to it than what stands before.
  const nearest = lines.map((_, i) => i).sort((a, b) => distance(lines[a]!) - distance(lines[b]!));
  let inProse: FoundDate | null = null;
  for (const i of nearest) {
    const found = datesOf(lines[i]!, habits)[0];
    if (found === undefined || (!updatedToo && isUpdate(lines, i, found.at))) continue;
    const date = { date: found.date, from: 'text near the headline', raw: found.raw };
    if (partAround(lines[i]!.text, found.at) - found.raw.length <= BYLINE_REST_CHARS) return date;
    // What a sentence or a caption tells of happened some other day, as a rule.
    inProse ??= date;
  }
  return inProse;
}

const distance = (line: NearLine) => (line.after >= 0 ? line.after : -2 * line.after);

// Lines after the headline in which an unlabelled date is the article's own, and in which a labelled one is.
const BYLINE_LINES = 8;
const LABELLED_LINES = 25;
/** What a byline may say beside its date: a name, a section, minutes to read. */
export const BYLINE_REST_CHARS = 45;
// Above the headline, which is itself the line before the first, only a line that is hardly more than a date counts: a
// section and minutes to read may stand beside it.
const LINES_ABOVE = 3;
const ABOVE_REST_CHARS = 25;
const NUMBERS_ONLY = /^\p{Nd}{1,2}\u200f?[./-]\p{Nd}{1,2}\u200f?[./-]\p{Nd}/u;

/**
 * The dates the page shows its readers as its own: in the byline, or after "published"; those below the headline first,
 * as what stands above it may be the day of today or of the teaser before.
 */
export function shownDates(near: Surroundings): FoundDate[] {
  const below: FoundDate[] = [];
  const above: FoundDate[] = [];
  near.lines.forEach((line, i) => {
    const { text, after } = line;
    if (after < -LINES_ABOVE || after >= LABELLED_LINES) return;
    for (const { date, raw, at } of datesOf(line, near.habits).slice(0, 2)) {
      const labelled = PUBLISHED_LABEL.test(text.slice(Math.max(0, at - 25), at));
      const isShort =
        after < 0
          ? text.length - raw.length <= ABOVE_REST_CHARS
          : partAround(text, at) - raw.length <= BYLINE_REST_CHARS;
      const byline = after < BYLINE_LINES && isShort;
      // 03/04/2024 is one of two days: fine where nothing else is known, not to overrule what is declared.
      const isOwn = (labelled || byline) && !isUpdate(near.lines, i, at) && !PREPRINT.test(text);
      if (isOwn && !NUMBERS_ONLY.test(raw))
        (after < 0 ? above : below).push({ date, from: 'shown date', raw });
    }
  });
  return [...below, ...above];
}

/** How long the part of a line around a place is: dots and bars set "17 May 2024" apart from "in News, Lamps" before it. */
function partAround(text: string, at: number): number {
  let from = at;
  let to = at;
  while (from > 0 && !SEPARATORS.includes(text[from - 1]!)) from--;
  while (to < text.length && !SEPARATORS.includes(text[to]!)) to++;
  return to - from;
}

const SEPARATORS = '·•|';

/** "Originally published on …", wherever the page says it. */
export function originalDate(near: Surroundings): FoundDate | null {
  for (const line of near.shortLines) {
    const said = ORIGINALLY.exec(line);
    const found =
      said === null || PREPRINT.test(line)
        ? undefined
        : datesInText(line.slice(said.index), 1, near.habits)[0];
    if (found !== undefined) return { date: found.date, from: 'originally published', raw: found.raw };
  }
  return null;
}

/**
 * The date after "Date:" or "Published on", or in "This entry was posted on …", wherever it stands: at the end of the
 * article in some templates.
 */
export function labelledLine({ shortLines, habits }: Surroundings): FoundDate | null {
  for (const line of shortLines) {
    const found = datesInText(line, 1, habits)[0];
    if (found === undefined) continue;
    const before = line.slice(0, found.at);
    if (!UPDATED.test(before) && (ENTRY.test(line) || (before.length <= 40 && LABELLED.test(before))))
      return { date: found.date, from: 'labelled line', raw: found.raw };
  }
  return null;
}

const LABELLED =
  /(?:^|[|·•–—]\s?)(?:datum|date|data|fecha|dato|posted|published|veröffentlicht|erschienen|publié|pubblicato|publicado|дата(?: публикации| публікації)?|تاریخ(?: انتشار| درج)?|วันที่(?:เผยแพร่)?|(?:[发發][布佈]|刊登|公告)?日期|(?:掲載|公開|投稿)日)(?: (?:on|am|le|il|el|em))?\s?[:：]?\s?(?:\p{L}{2,10}\.?,?\s)?$/iu;

/** The date a text begins with: "(17.05.2024) …", "LAMPSTADT, May 17, 2024 – …". */
export function dateline(text: string, habits: DateHabits): FoundDate | null {
  const found = datesInText(text.slice(0, DATELINE_CHARS), 1, habits)[0];
  if (found === undefined || !PLACE.test(text.slice(0, found.at))) return null;
  return { date: found.date, from: 'dateline', raw: found.raw };
}

const DATELINE_CHARS = 90;
const PLACE =
  /^[([]?(?:\p{Lu}[\p{L}\p{M}\s./'’-]{1,30}(?:,\s\p{Lu}[\p{L}.\s]{1,20})?[,:–—-]\s?(?:den\s|le\s)?)?[([]?$/u;

// The day of a paper's draft is not the paper's.
const PREPRINT = /pre-?print|earlier version/i;

/** The date that stands alone on a line, if the whole page has only one such: two would leave room for doubt. */
export function fromOnlyLine({ shortLines, habits }: Surroundings): FoundDate | null {
  let only: FoundDate | null = null;
  for (const line of shortLines) {
    const found = datesInText(line, 1, habits)[0];
    if (found === undefined || found.raw.length + 15 < line.length) continue;
    if (only !== null && only.date.getTime() !== found.date.getTime()) return null;
    only = { date: found.date, from: 'only date on a line', raw: found.raw };
  }
  return only;
}

/** "Updated …" in the byline, at most some lines below the headline. */
export function updateLine({ lines, habits }: Surroundings, withinLines: number): FoundDate | null {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]!.after < 0 || lines[i]!.after >= withinLines) continue;
    const found = datesOf(lines[i]!, habits).find(({ at }) => isUpdate(lines, i, at));
    if (found !== undefined) return { date: found.date, from: 'text near the headline', raw: found.raw };
  }
  return null;
}
