import { collapse, copyString } from '../html/index.ts';
import { FULL_NAME, MARKED_LEAD, PLAIN_NAME, withoutOurs, withoutPictures } from './byline-words.ts';
import { datesInText } from './written-dates.ts';

// What buttons, sections and labels beside a name say.
const NOT_A_NAME = new RegExp(
  `^(?:${[
    'the author|author|anonymous|admin(?:istrator)?|super ?user|webmaster|guest|user|unknown|none|null|undefined|n/a',
    'editor(?:ial)?|staff|correspondents?|(?:all )?columnists?|people|profile|bio(?:graphy)?|archives?|columns',
    'website.*|facebook|twitter|linkedin|instagram|bluesky|mastodon|threads|youtube|tiktok|pinterest|reddit|whatsapp',
    'flickr|shutterstock|rss|e-?mail|print|newsletters?|follow|share|home|contact|log ?in|sign ?in|register|page \\S+',
    'posted(?: on)?|published|last(?: updated)?|updated|learn more|member login|for the.*|about.*|read more.*|view .*|send .*|see all.*',
    'comments?(?: now)?|\\d+ comments?.*|edit .*|publish .*|show notes|connect directly|people you may know',
    'where to .*|how to .*|listen(?: .*)?|watch .*|subscribe.*|download.*|menu|search|close|next|previous|back',
    'more from.*|all posts.*|articles by.*|posts by.*|(?:.{0,10} )?written by|https?:.*',
  ].join('|')})$`,
  'i',
);
// Where a name ends: what its owner does elsewhere, buttons beside it, dates. A name of two words comes before some.
const AFTER_NAME = new RegExp(
  [
    /\s+on behalf of\s|\s+\d+\s+comments?\b|\s+\d+(?:[.,]\d)?k\b|\s+[|•·–—●]\s+|\s+-\s+|\s*\(|\s+\/\/|[?»]\s/,
    // Who helped, for whom it was written, and how to reach the writer.
    /,?\s+with\s+(?:additional\s+)?(?:reporting|contributions?|research)\b|,?\s+special\s+(?:to|for)\s/,
    /(?<=\s\S{1,40})\s+[^\s@]{0,64}@|(?<=\s\S{1,40})\s+(?:today|yesterday)\b/,
    /\s+(?:leave a comment|rss feed|subscribe|more by|view|edited by)\b|['’]s posts\b/,
    /(?<=\s\S{1,40})(?<!\s(?:and|und|et|y|with|mit))(?:\s+(?:in|at)\s|,?\s+(?:the\s+)?(?:(?:associated press|ap|afp|upi|reuters)(?:\s|$)|bloomberg\s))/,
    /(?<=\s\S{1,40})\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|[\s/]+[^\s/]{1,40}\.(?:com|org|net)\b/,
    /,?\s+(?:on|published|posted|updated|last)\s+(?:\w+\s+){0,3}\d|\s+(?:published|posted|updated)\s?:|,?\s+\d{1,2}\/|\d{4}|\d{1,2}[./]\d/,
    /,?\s+(?:\d{1,2}\.?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s+\d/,
    /\s+(?:\p{Script=Hangul}{0,4}기자|특파원)(?:\s|$)|(?<=\p{Script=Han}{2})\s?(?:記者|记者)$/u,
    /\s+[•·]|,\s+\d{1,2}\.?$|(?<=\s\S{1,40})\s+\d{1,2}\.?$/,
    /(?<=[a-zà-ÿ])(?:January|February|March|April|May|June|July|August|September|October|November|December)\s\d/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'iu',
);

const GOES_ON = /\s(?:the|The|as|for|For|by|of|and|or|to|in|on|with|from|is|aged|at)$|[?\]]/;
const DOTTED = /^[a-z0-9_]+(?:\.[a-z0-9_]+)+$/;

/** A name without "By", trailing dates and separators; null when what is left is no name. */
export function cleanName(raw: string): string | null {
  if (raw.length > 500) return null;
  let text = collapse(raw).replace(/^[\s\-–—|•·:,]+|[\s\-–—|•·:,]+$/g, '');
  const date = /^(?:\p{L}{3,9}\.?\s)?\d/u.test(text) ? datesInText(text, 1)[0] : undefined;
  if (date?.at === 0) {
    text = text.slice(date.raw.length).replace(/^[\s\-–—|•·:,]+/, '');
    // After a date there may well be a section.
    if (!FULL_NAME.test(text.replace(MARKED_LEAD, ''))) return null;
  }
  text = text
    .replace(/^\p{L}{3,9} \d{1,2} (?=written by)/iu, '')
    .replace(MARKED_LEAD, '')
    .replace(/^\W+/u, (m) => (/\p{L}/u.test(m) ? m : ''));
  text = withoutPaper(withoutOurs(text));
  // "Richard (RJ) Lund"
  const first = /^\p{L}+ \([^()]{1,40}\) (?=\p{Lu})/u.exec(text)?.[0].length ?? 0;
  const cut = text.slice(first).search(AFTER_NAME);
  if (cut > 0) text = text.slice(0, first + cut);
  text = text.replace(/[\s,;|/／–—\])"”-]+$/g, '').trim();
  if (text.length < 2 || text.length > 80 || !/\p{L}{2}/u.test(text)) return null;
  if (MONTH.test(text) || /\b(?:says|name|new|month|reading|mins? read|minutes?|ago)\b|[*:|]/i.test(text))
    return null;
  // A headline or a label that goes on elsewhere.
  if (GOES_ON.test(text)) return null;
  // Accounts ("jane.doe") and template keys ("page.author") are no names.
  if (DOTTED.test(text)) return null;
  if (NOT_A_NAME.test(text) || text.split(' ').length > 8 || /[@{}<>=%$]|https?:/.test(text)) return null;
  return isSentence(text) ? null : copyString(text);
}

/** "Ada Lund for The Post" without the paper; a "Coalition for the Harbour" is one name. */
function withoutPaper(text: string): string {
  const name = FOR_PAPER.exec(text)?.[1];
  return name === undefined || IS_BODY.test(name) ? text : name;
}

const FOR_PAPER =
  /^(\p{Lu}[\p{L}.'’-]{1,24}(?:\s\p{Lu}[\p{L}.'’-]{0,24}){1,2})\sfor\s(?:The\s\p{Lu}|(?:Reuters|AFP|BBC|CNN|NPR)\b)/u;

/** Longer texts of mostly small words are sentences: "I review games and modules". */
function isSentence(text: string): boolean {
  const words = text.split(' ');
  return words.length > 3 && words.filter((word) => /^\p{Ll}/u.test(word)).length * 2 > words.length;
}

/** The name in a value that may tell more of its owner: "Ada Lund, professor of lamps at the University of …". */
export function nameInData(value: string): string | null {
  const name = cleanName(value);
  const first = name === null && value.length > 80 ? value.slice(0, value.indexOf(',')) : '';
  return FULL_NAME.test(first) ? cleanName(first) : name;
}

/**
 * The names in one value of the data: "Ada Lund, Jon Berg & Eva Strand" are three where each part is a whole name, and
 * "Lund, Ada", "Ada Lund, MD" and "Lund and Berg" one. A paper named behind its writers is left out.
 */
export function namesInData(value: string): string[] {
  const parts = value.length > MAX_DATA_CHARS || ROLE.test(value) ? [] : splitNames(value);
  const names = parts.filter((name, i) => i === 0 || !/^The\s/.test(name));
  const areNames =
    names.length > 1 &&
    names.every((name) => PLAIN_NAME.test(name) && !ABBREVIATIONS.test(name) && !IS_BODY.test(name));
  if (areNames) return names;
  const name = nameInData(value);
  return name === null ? [] : [name];
}

const MAX_DATA_CHARS = 500;
// "MD FACP": degrees.
const ABBREVIATIONS = /^(?:\p{Lu}\.?){2,6}(?:\s(?:\p{Lu}\.?){2,6})*$/u;
const IS_BODY =
  /\b(?:university|institute?|department|office|ministry|cent(?:er|re)|council|agency|society|association|foundation|committee|school|college|group|company|bank|press|news|media|team|staff|times|post|daily|journal|magazine|research|services?)\b/i;

/** Splits "A, B and C" into names, keeping degrees ("A, PhD") with their owner. */
export function splitNames(text: string): string[] {
  const parts = withoutPictures(collapse(text)).split(
    // "RT en Español" is one.
    /\s+(?:[Aa]nd|AND|und|et|y|og|och)\s+|(?<=\s\S{1,40})\s+(?:e|en)\s+(?=\S+\s)|\s*[&;]\s*|,\s*(?=\p{Lu}[\p{L}'’.-]+\s+\p{Lu})/u,
  );
  const names = parts.map(cleanName).filter((name) => name !== null);
  // "Ada Lund, Head of Lamps": what follows a name may be what its owner does.
  return names.filter((name, i) => i === 0 || !(ROLE.test(name) || IS_PAPER.test(name)));
}

const ROLE =
  /\b(?:editor|writer|reporter|correspondent|columnist|contributor|director|manager|officer|head of|chief|founder|president|professor of|analyst|representative|specialist|engineer|attorney|consultant|coordinator|committee)\b/i;

// "The Post", "Lamp News".
const IS_PAPER = /^The\s\p{Lu}|\sNews$/u;

const MONTH =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)\w*,?\s+)?(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?:\s+\d{1,2})?$/i;

/** "ada.lund" and "post.example" are better than nothing; "page.author" is what a template forgot to fill in. */
export function isAccountName(value: string): boolean {
  return (
    DOTTED.test(value) && value.length < 60 && !/author|page|post|user|name|site|data|node|item/.test(value)
  );
}
