import {
  CASELESS_NAME,
  CREDIT,
  FULL_NAME,
  isLabel,
  leadOf,
  PLAIN_NAME,
  reporterIn,
  withoutOurs,
} from './byline-words.ts';
import { splitNames } from './person-names.ts';

/** What a line near the headline says, and how far from it it stands. */
export type Line = { text: string; after: number };

// "May 3, 2024 · 3 min read · By Ada Lund": a byline that begins with its date.
const DATE_FIRST =
  /\d.{0,40}(?:\d{4}|\bread|[|•·–—])\s{1,2}(?:[Bb]y|[Vv]on|[Pp]ar|[Pp]or):?\s(\p{Lu}[^|•·]{2,80})/u;
// Few lines have the word: asking for it first spares the others the long pattern.
const HAS_BY = /\s(?:[Bb]y|[Vv]on|[Pp]ar|[Pp]or):?\s/;
const MAX_LINE_CHARS = 120;

/**
 * Names on lines that begin with "by", or stand on the line after it, or after a date and "by"; in the languages of the
 * page also after words that mean something else in others.
 */
export function bylineTexts(lines: readonly string[], languages: readonly string[] = []): string[] {
  const found: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const next = lines[i + 1];
    if (isLabel(line)) {
      if (next !== undefined && next.length < 60) found.push(next);
    } else if (line.length >= MAX_LINE_CHARS) continue;
    else {
      const name = nameOnLine(line, languages);
      if (name !== null) found.push(name);
    }
  }
  return found;
}

function nameOnLine(line: string, languages: readonly string[]): string | null {
  const lead = leadOf(line, languages);
  if (lead !== null) {
    const name = withoutOurs(line.slice(lead.chars));
    // A name begins with a capital: "by a narrow margin" names nobody.
    return MAY_BEGIN.test(name) && (lead.isSure || areNames(name)) ? name : null;
  }
  if (HAS_BY.test(line)) {
    const name = DATE_FIRST.exec(line)?.[1];
    if (name !== undefined && FULL_NAME.test(name)) return name;
  }
  return reporterIn(line);
}

const MAY_BEGIN = /^[\p{Lu}\p{Lo}]/u;

function areNames(text: string): boolean {
  const names = splitNames(text);
  return names.length > 0 && names.every((name) => PLAIN_NAME.test(name) || CASELESS_NAME.test(name));
}

const SENTENCE =
  /^(?:this|the) (?:[a-z]+ )?(?:post|article|story|piece|guide) (?:was|is) written by\s+([^,.;(]+)/i;
const MAX_CREDIT_CHARS = 80;
const MAX_SENTENCE_CHARS = 300;
const MAX_CREDITS = 20;

/** The name in "This post was written by …", if the text begins so. */
export function namedWriter(text: string): string | null {
  return SENTENCE.exec(text)?.[1]?.trim() ?? null;
}

/** Names on lines that say who wrote the text and nothing more, wherever they stand. */
export function creditTexts(lines: Iterable<{ text: string; chars: number }>): string[] {
  const found: string[] = [];
  for (const { text, chars } of lines) {
    if (chars > MAX_SENTENCE_CHARS || found.length >= MAX_CREDITS) continue;
    const writer = namedWriter(text);
    if (writer !== null) found.push(writer);
    if (chars > MAX_CREDIT_CHARS) continue;
    const led = CREDIT.exec(text);
    const name = led === null ? '' : text.slice(led[0].length);
    if (/^\p{Lu}/u.test(name)) found.push(name);
  }
  return found;
}

// Written in capitals alone it is a section.
const NAME_LINE =
  /^\p{Lu}[\p{M}'’-]?\p{Ll}[\p{L}\p{M}'’-]*(?:\s(?:\p{Lu}\.?|\p{Lu}[\p{L}\p{M}'’-]+|d[aeiu]|von|van|der)){1,3}$/u;
const NO_PERSON = /\b(?:view|images?|photos?|pictures|agenc(?:y|ies)|news|media|company|group)\b/i;
const LINES_ABOVE = 3;
const LINES_BELOW = 8;

/**
 * The line near the headline that is a name and also the caption of a picture: a portrait says that it is a person's.
 * Words of the page's title are its subject or its site.
 */
export function portrayedName(
  lines: readonly Line[],
  title: string,
  captions: () => string[],
): string | null {
  const taken = title.toLowerCase();
  const names = lines
    .filter(({ after }) => after >= -LINES_ABOVE && after < LINES_BELOW)
    .map(({ text }) => text.replace(/\s*[|•·]$/, ''))
    .filter((text) => text.length < 40 && NAME_LINE.test(text) && !NO_PERSON.test(text))
    .filter((text) => !text.split(' ').some((word) => taken.includes(word.toLowerCase())));
  if (names.length === 0) return null;
  const known = captions();
  return names.find((name) => known.some((caption) => isPortraitOf(caption, name))) ?? null;
}

function isPortraitOf(caption: string, name: string): boolean {
  const at = caption.indexOf(name);
  if (at < 0) return false;
  const rest = caption.slice(0, at) + caption.slice(at + name.length);
  return (
    rest === '' ||
    /^(?:(?:a )?(?:photo|picture|portrait|headshot|image|avatar)(?: of)? *|\s*[,|(–—-].*| +(?:image|photo|portrait|headshot|avatar|profile)\b.*)$/i.test(
      rest,
    )
  );
}
