import type { DateHabits } from '../dates/index.ts';
import { isOfChange, isOfCorrection, type PlacedLine, partAround, tellsOfDay } from './beside-dates.ts';
import { datesInText, ENTRY, ORIGINALLY, PUBLISHED_LABEL, type WrittenDate } from './written-dates.ts';

/** A date, the evidence that gave it, and the text it was read from. */
export type FoundDate = { date: Date; from: string; raw: string };

/** A short line near the headline; `after` counts the lines from the headline on, below 0 before it. */
export type NearLine = PlacedLine & { after: number; dates?: WrittenDate[] };

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
  shortLines: PlacedLine[];
  /** How the page's language writes dates. */
  habits: DateHabits;
};

/** Whether a line, or the label on the line before it, says that its date is one of change. */
function isUpdate(lines: NearLine[], i: number, at: number): boolean {
  const line = lines[i]!;
  if (isChangeOfEntry(line)) return true;
  if (isOfChange(line.text.slice(0, at))) return !isPublishedAfter(line, at);
  const before = lines[i - 1];
  return at < LABEL_CHARS && before !== undefined && before.text.length < 30 && isOfChange(before.text);
}

/** Whether a date has a label of its own behind that of a change before it: "Updated May 19, 2024; published May 17, 2024". */
function isPublishedAfter({ text, dates }: NearLine, at: number): boolean {
  const other = dates?.findLast((one) => one.at < at);
  const label = other === undefined ? '' : text.slice(other.at + other.raw.length, at);
  return PUBLISHED_LABEL.test(label) && !isOfChange(label);
}

// A date this close to the start of its line may have its label on the line before.
const LABEL_CHARS = 3;

/** The date of the line nearest to the headline; one of change only where asked for. */
export function fromLines({ lines, habits }: Surroundings, updatedToo: boolean): FoundDate | null {
  // What stands after a headline is likelier to belong to it than what stands before.
  const nearest = lines.map((_, i) => i).sort((a, b) => distance(lines[a]!) - distance(lines[b]!));
  let inLongLine: FoundDate | null = null;
  for (const i of nearest) {
    const line = lines[i]!;
    const found = datesOf(line, habits)[0];
    if (found === undefined || (!updatedToo && isUpdate(lines, i, found.at))) continue;
    // What a sentence or a caption tells of happened some other day, and who corrects a page did not make it.
    if (tellsOfDay(line, found) || isOfCorrection(line.text) || isChangeOfEntry(line)) continue;
    const date = { date: found.date, from: 'text near the headline', raw: found.raw };
    if (charsBeside(line.text, found) <= BYLINE_REST_CHARS) return date;
    inLongLine ??= date;
  }
  return inLongLine;
}

/** "This article was last updated on …", below the text: it appeared before. */
const isChangeOfEntry = ({ text }: NearLine) => ENTRY.test(text) && isOfChange(text) && !APPEARED.test(text);

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
    for (const found of datesOf(line, near.habits).slice(0, 2)) {
      const { date, raw, at } = found;
      const labelled = PUBLISHED_LABEL.test(text.slice(Math.max(0, at - 25), at));
      const isShort =
        after < 0
          ? text.length - raw.length <= ABOVE_REST_CHARS
          : charsBeside(text, found) <= BYLINE_REST_CHARS;
      const byline = after < BYLINE_LINES && isShort;
      // 03/04/2024 is one of two days: fine where nothing else is known, not to overrule what is declared.
      const isOwn = (labelled || byline) && !isUpdate(near.lines, i, at) && !PREPRINT.test(text);
      if (isOwn && !NUMBERS_ONLY.test(raw) && !tellsOfDay(line, found))
        (after < 0 ? above : below).push({ date, from: 'shown date', raw });
    }
  });
  return [...below, ...above];
}

/** How much stands beside a date in its part of a line. */
function charsBeside(text: string, { raw, at }: WrittenDate): number {
  const { from, to } = partAround(text, at);
  return to - from - raw.length;
}

/** "Originally published on …", wherever the page says it. */
export function originalDate(near: Surroundings): FoundDate | null {
  for (const { text } of near.shortLines) {
    const said = ORIGINALLY.exec(text);
    const isOwn = said !== null && !PREPRINT.test(text) && BEFORE_ORIGINALLY.test(text.slice(0, said.index));
    const found = isOwn ? datesInText(text.slice(said.index), 1, near.habits)[0] : undefined;
    if (found !== undefined) return { date: found.date, from: 'originally published', raw: found.raw };
  }
  return null;
}

// "The novel was first published on …" tells of another work.
const BEFORE_ORIGINALLY =
  /^$|[^\p{L}\s]\s?$|\b(?:(?:this|dieser?|diese|cet|cette|est[ae]|quest[oa]|dit|deze)\s(?:\p{L}+\s)?\p{L}{3,20}|the (?:article|post|page|entry))\s(?:\p{L}+\s){0,2}$/iu;

/**
 * The date after "Date:" or "Published on", or in "This entry was posted on …", wherever it stands: at the end of the
 * article in some templates.
 */
export function labelledLine({ shortLines, habits }: Surroundings): FoundDate | null {
  for (const { text } of shortLines) {
    const found = datesInText(text, 1, habits)[0];
    if (found === undefined) continue;
    const before = text.slice(0, found.at);
    const isEntry = ENTRY.test(text) && APPEARED.test(text);
    if (!isOfChange(before) && (isEntry || (before.length <= 40 && LABELLED.test(before))))
      return { date: found.date, from: 'labelled line', raw: found.raw };
  }
  return null;
}

// "This article was …" goes on otherwise, too.
const APPEARED =
  /publi|posted|written|entered|added|created|submitted|filed|uploaded|veröffentlicht|gepostet|erstellt|verfasst|geschrieben|posté|écrit|rédigé|mis en ligne|escrit|pubblicat|scritt|inserit|geplaatst|gepubliceerd|geschreven/i;
const LABELLED =
  /(?:^|[|·•–—]\s?)(?:datum|date|data|fecha|dato|posted|published|veröffentlicht|erschienen|publié|pubblicato|publicado|дата(?: публикации| публікації)?|تاریخ(?: انتشار| درج)?|วันที่(?:เผยแพร่)?|(?:[发發][布佈]|刊登|公告)?日期|(?:掲載|公開|投稿)日)(?: (?:on|am|le|il|el|em))?\s?[:：]?\s?(?:\p{L}{2,10}\.?,?\s)?$/iu;

/** The date a text begins with: "(17.05.2024) …", "LAMPSTADT, May 17, 2024 – …". */
export function dateline(text: string, habits: DateHabits): FoundDate | null {
  const found = datesInText(text.slice(0, DATELINE_CHARS), 1, habits)[0];
  if (found === undefined || !PLACE.test(text.slice(0, found.at))) return null;
  if (isOfChange(text.slice(0, found.at))) return null;
  if (found.at === 0 && GOES_ON.test(text.slice(found.raw.length))) return null;
  return { date: found.date, from: 'dateline', raw: found.raw };
}

const DATELINE_CHARS = 90;
// "17 May 2024 was a cold day": a sentence that begins with its day.
const GOES_ON = /^,?\s(?!(?:by|at|um|kl|von|par|por|à|av|af|di|door)\b)\p{Ll}/u;
const PLACE =
  /^[([]?(?:\p{Lu}[\p{L}\p{M}\s./'’-]{1,30}(?:,\s\p{Lu}[\p{L}.\s]{1,20})?[,:–—-]\s?(?:den\s|le\s)?)?[([]?$/u;

// The day of a paper's draft is not the paper's.
const PREPRINT = /pre-?print|earlier version/i;

/** The date that stands alone on a line, if the whole page has only one such: two would leave room for doubt. */
export function fromOnlyLine({ shortLines, habits }: Surroundings): FoundDate | null {
  let only: FoundDate | null = null;
  for (const line of shortLines) {
    const found = datesInText(line.text, 1, habits)[0];
    if (found === undefined || found.raw.length + 15 < line.text.length) continue;
    if (tellsOfDay(line, found) || isOfCorrection(line.text)) continue;
    if (only !== null && only.date.getTime() !== found.date.getTime()) return null;
    only = { date: found.date, from: 'only date on a line', raw: found.raw };
  }
  return only;
}

/** "Updated …" in the byline, at most some lines below the headline. */
export function updateLine({ lines, habits }: Surroundings, withinLines: number): FoundDate | null {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]!.after < 0 || lines[i]!.after >= withinLines) continue;
    const line = lines[i]!;
    const found = datesOf(line, habits).find(
      (one) => isUpdate(lines, i, one.at) && (one.at < LABEL_CHARS || !tellsOfDay(line, one)),
    );
    if (found !== undefined) return { date: found.date, from: 'text near the headline', raw: found.raw };
  }
  return null;
}
