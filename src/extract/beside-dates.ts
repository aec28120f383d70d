import { parseDate } from '../dates/index.ts';
import { ENTRY, PUBLISHED_LABEL, UPDATED, type WrittenDate } from './written-dates.ts';

/** What a line is in the article: one of its paragraphs, a heading, a caption; null for what stands around the text. */
export type Place = 'text' | 'heading' | 'caption' | null;

/** A line and what it is. */
export type PlacedLine = { text: string; place: Place };

/** Says that a date beside it is one of correction: the page stood there before. */
const CORRECTED =
  /\bamended|\bcorrect(?:ed|ion|ed on)|\bclarifi(?:ed|cation)|berichtig|korrigier|richtiggestellt|\bcorrig|\bcorreg|\bcorre[çz]|\brectifi|\brettific|gecorrigeerd|gerectificeerd|korriger|\brättad|\brettet|skorygowan|sprostowan|\bopraven|korjattu|düzeltil|исправлен|виправлен|διορθώθ|تصحيح|תוקן|訂正|更正|정정/i;

/** Whether a text says that the date beside it is one of change, by the editors or by who corrected it. */
export const isOfChange = (text: string): boolean => UPDATED.test(text) || CORRECTED.test(text);

/** Whether a text says that the page was corrected that day, which is never the day it appeared. */
export const isOfCorrection = (text: string): boolean => CORRECTED.test(text);

// What a sentence that tells when a page appeared or was changed speaks of.
const OF_THE_PAGE = /\b(?:page|article|post|story|entry|guide|item)\s(?:was|is|has been)\b/i;

/** Dots and bars set "17 May 2024" apart from "in News, Lamps" before it. */
const SEPARATORS = '·•|';

/** The part of a line around a place. */
export function partAround(text: string, at: number): { from: number; to: number } {
  let from = at;
  let to = at;
  while (from > 0 && !SEPARATORS.includes(text[from - 1]!)) from--;
  while (to < text.length && !SEPARATORS.includes(text[to]!)) to++;
  return { from, to };
}

/**
 * Whether a line tells of a day instead of showing its own: a sentence, a heading or a caption. Beside the date of a
 * byline stand names, places, times and labels, so words in small letters that are none of these make a sentence; "by
 * Ada Lund, keeper of lamps" and "This entry was posted on …" begin as bylines do.
 */
export function tellsOfDay({ text, place }: PlacedLine, { raw, at }: WrittenDate): boolean {
  if (place === 'caption') return true;
  const { from, to } = partAround(text, at);
  const before = text.slice(Math.max(from, at - MAX_CHARS), at).trim();
  const after = text.slice(at + raw.length, Math.min(to, at + raw.length + MAX_CHARS)).trim();
  if (ENTRY.test(text) || isLed(before === '' ? after : before)) return false;
  const isLabelled = UPDATED.test(before) || PUBLISHED_LABEL.test(before);
  const fact = place === 'text' && !isLabelled ? FACT.exec(before)?.[0] : undefined;
  if (OF_LIVES.test(before) || (fact !== undefined && !isOfByline(fact))) return true;
  if (OF_THE_PAGE.test(before) && (isOfChange(before) || PUBLISHED_LABEL.test(before))) return false;
  const words = [...wordsOf(before, raw), ...wordsOf(after, null)];
  if (place === 'heading') return words.length > 0;
  const end = text.slice(-END_CHARS);
  const small = words.filter((word) => SMALL.test(word)).length;
  if (small > (place === 'text' || STOP.test(end) ? 0 : MAX_UNKNOWN)) return true;
  // Scripts without capitals show a sentence by its end, or by its length.
  const rest = before + after;
  return (
    CASELESS.test(rest) && (ENDS_CASELESS.test(end) || (place === 'text' && words.length > MAX_CASELESS))
  );
}

// What stands further from a date tells nothing of it.
const MAX_CHARS = 300;
// "mole" alone may be a word of another language for what bylines say.
const MAX_UNKNOWN = 1;
const MAX_CASELESS = 5;
const END_CHARS = 40;
const SMALL = /^\p{Ll}/u;
const STOP = /\p{L}{2}[.!?…]["”»’)]*$/u;
const CASELESS = /\p{Lo}/u;
const ENDS_CASELESS = /\p{Lo}{2}[\d\s\p{Lo}]*[.!?。！？।۔]$/u;
// "By Ada Lund, keeper of lamps, 17 May 2024", "Published in Lamps on …", "Date: …".
const LED =
  /^[^\p{L}]*(?:(?:(?:written|posted|published|reported|medically reviewed|reviewed|fact.checked|updated)\s)?(?:by|von|par|por|door|av|af|di|da)\s(?:dr\.? |@)?\p{Lu}|(?:(?:first|last|originally|zuletzt)\s)?(?:published|posted|updated|submitted|modified|revised|reviewed|edited|update|edit)\b|(?:tags?|categor(?:y|ies|ía|ia)|kategorien?|schlagw[oö]rte?r?|filed under)\s?[:：])/iu;
const isLed = (text: string) => LED.test(text) || PUBLISHED_LABEL.test(FIRST_WORD.exec(text)?.[0] ?? '');
const FIRST_WORD = /^[^\p{L}]*[\p{L}\p{M}]+/u;
// "Born: 3 May 1994": a fact.
const FACT = /(?<![\p{L}\p{M}])[\p{L}\p{M}]{1,30}(?=\s?[:：]\s?$)/u;
const OF_LIVES =
  /\b(?:born|died|founded|opened|opens|established|geboren|gestorben|gegründet|eröffnet|née?|décédée?|nacid[oa]|falleci[óo]|nat[oa]|mort[oa]|nascid[oa])\b/i;

/** The words of a text that no byline has; `raw` is the date they stand before. */
function wordsOf(text: string, raw: string | null): string[] {
  const words = (text.match(WORD) ?? []).filter((word) => !isOfByline(word));
  const last = words.at(-1);
  // "miércoles 17 mayo 2024"
  if (raw !== null && last !== undefined && text.endsWith(last.concat(text.endsWith(',') ? ',' : '')))
    if (parseDate(`${last} ${raw}`) !== null) words.pop();
  return words;
}

// Tags ("#lamps") are no words.
const WORD = /(?<![#\p{L}\p{M}'’])[\p{L}\p{M}][\p{L}\p{M}'’]*/gu;
const isOfByline = (word: string) =>
  OF_BYLINES.has(word.toLowerCase()) || PUBLISHED_LABEL.test(word) || UPDATED.test(word);

const OF_BYLINES = new Set(
  [
    // Whose it is.
    'by von par por di da door av af autor autora autorin author auteur and und et y e og och ja i with mit avec con',
    'de der den del della dos das du van la le al el bin ibn ter ten zu zum för for behalf staff',
    // At what time, and how long it takes to read.
    'am pm a p m uhr klo kl at um à h hrs ora ore alle o ob kell gmt utc cet cest est edt pst pdt ist min mins minute',
    'minutes minuten minuti minutos minuut minuter minutter minut read reading time lesezeit lecture lectura',
    'lettura leitura leestid lästid sec s г года год р року r roku',
    // What comes before a day.
    'on am le il el em op vom dnia dne den ngày a às las les',
    // How it appeared, and what was said to it.
    'ago vor hace comments comment kommentar kommentare commentaires comentarios comentários views shares words in',
    'created erstellt stand date datum data fecha dato print online new from',
  ]
    .join(' ')
    .split(' '),
);
