import { attribute, collapse, type PageNode, TEXT, textOf } from '../html/index.ts';
import { isPlaceMark } from './note-marks.ts';

const KICKER =
  /(?:^|[\s_-])(?:kicker|dachzeile|spitzmarke|topline|overline|eyebrow|roofline|surtitre|sobretitulo|antetitulo|occhiello|overtitle|pretitle|supertitle)(?:[\s_-]|$)/i;
const MAX_CHARS = 500;
const MAX_CHILDREN = 20;
// Less than this behind a kicker is no headline: the kicker was the better half of it.
const MIN_WORDS = 3;

/** The text of a heading, without the handle ("¶") that some end with. */
export function headingText(heading: PageNode): string {
  const text = textOf(heading, MAX_CHARS);
  const { last } = heading;
  if (last === null || last.tag !== 'a' || !isPlaceMark(last)) return saidOnce(text, heading);
  return text.slice(0, -textOf(last).length).trimEnd();
}

/** A headline that stands in its heading twice, for wide screens and for narrow ones. */
function saidOnce(text: string, heading: PageNode): string {
  const half = (text.length - 1) / 2;
  if (half < MIN_TWICE_CHARS || text[half] !== ' ') return text;
  const { first, last } = onlyElement(heading);
  if (first === last || (first?.tag === TEXT && first.text.trim() !== '')) return text;
  return text.startsWith(text.slice(0, half), half + 1) ? text.slice(0, half) : text;
}

// "Lamps lamps" and "New York New York" may be meant so.
const MIN_TWICE_CHARS = 15;

/**
 * The text of a heading without the kicker it begins with, or null when it has none: many newspapers put "Premier
 * League" and the headline in one h1, as two elements one below the other.
 */
export function withoutKicker(heading: PageNode): string | null {
  const { first } = onlyElement(heading);
  const kicker = first?.tag === TEXT && first.text.trim() === '' ? first.next : first;
  if (kicker === null || kicker === undefined || kicker.tag === TEXT) return null;
  if (!KICKER.test(attribute(kicker, 'class') ?? '')) return null;
  let rest = '';
  let steps = 0;
  for (let at = kicker.next; at !== null && steps < MAX_CHILDREN; at = at.next, steps++)
    rest += at.tag === TEXT ? at.text : ` ${textOf(at, MAX_CHARS)} `;
  const headline = collapse(rest).replace(/^[:|–—-]\s+/, '');
  return headline.split(' ').length < MIN_WORDS ? null : headline;
}

/** What the parts of a heading say that are no words beside each other: its elements, and the text between them. */
export function partsOf(heading: PageNode): string[] {
  const parts: string[] = [];
  for (let at = onlyElement(heading).first; at !== null && parts.length < MAX_CHILDREN; at = at.next)
    parts.push(collapse(at.tag === TEXT ? at.text : textOf(at, MAX_CHARS)));
  return parts;
}

/** The element that holds all of a heading: itself, or what alone is in it, such as the link to the page. */
function onlyElement(heading: PageNode): PageNode {
  let at = heading;
  for (let depth = 0; depth < 3; depth++) {
    let only: PageNode | null = null;
    for (let child = at.first; child !== null; child = child.next) {
      if (child.tag === TEXT && child.text.trim() === '') continue;
      if (only !== null || child.tag === TEXT) return at;
      only = child;
    }
    if (only === null) return at;
    at = only;
  }
  return at;
}
