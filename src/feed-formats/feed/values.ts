import { Parser } from 'htmlparser2';
import { mapC1Controls } from '../../text/index.ts';
import { unescapeAgain } from '../xml-stream/index.ts';

/**
 * Copies a string out of the document it was cut from: V8 keeps the whole parent text alive behind every slice, and
 * entries outlive the document. C1 controls become what was meant, and lone surrogates, which databases refuse, U+FFFD.
 */
export function detach(text: string): string {
  return Buffer.from(mapC1Controls(text)).toString();
}

// Lines are short; a megabyte in one is an attack or a mistake, and collapsing 15 MB of blanks took six seconds.
const maxLineInput = 20_000;

/** White space collapsed and cut from the ends; null when nothing is left. */
export function oneLine(text: string): string | null {
  const line = text
    .slice(0, maxLineInput)
    .replace(/[\s\u0000-\u001f]+/g, ' ')
    .trim();
  return line === '' ? null : detach(line);
}

/** Text with its ends trimmed, copied; null when nothing is left. */
export function block(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === '' ? null : detach(trimmed);
}

// Elements of HTML a title may carry; anything else in angle brackets is what the title is about: "Map<String>".
const htmlNames = new Set(
  'a abbr acronym address article b bdi bdo big blockquote body br center cite code dd del dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li link main mark math meta nav nobr noscript object ol p param picture pre q rp rt ruby s samp script section small source span strike strong style sub sup svg table tbody td tfoot th thead time tr tt u ul var video wbr'.split(
    ' ',
  ),
);
const blockNames = new Set('br p div li tr td h1 h2 h3 h4 h5 h6 blockquote'.split(' '));
const hiddenNames = new Set(['script', 'style']);

/** The text of an HTML fragment on one line: tags off, character references decoded once. */
export function htmlToLine(html: string): string | null {
  if (!/[<&]/.test(html)) return oneLine(html);
  let text = '';
  let hidden = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (hiddenNames.has(name)) hidden += 1;
        else if (blockNames.has(name)) text += ' ';
        else if (!htmlNames.has(name) && Object.keys(attributes).length === 0) text += `<${name}>`;
      },
      ontext(part) {
        if (hidden === 0) text += part;
      },
      onclosetag(name, implied) {
        if (hiddenNames.has(name)) hidden -= 1;
        else if (blockNames.has(name)) text += ' ';
        else if (!htmlNames.has(name) && !implied) text += `</${name}>`;
      },
    },
    // Names keep their case because some come back as text.
    { lowerCaseTags: false, decodeEntities: true },
  );
  parser.end(html.slice(0, maxLineInput));
  return oneLine(text);
}

/** Character references of HTML decoded once; angle brackets stay what they are. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  let decoded = '';
  const parser = new Parser({
    ontext(part) {
      decoded += part;
    },
  });
  // "<" would open a tag; as a reference it comes back as itself.
  parser.end(text.slice(0, maxLineInput).replaceAll('<', '&lt;'));
  return decoded;
}

/** A non-negative whole number, or null. */
export function wholeNumber(text: string | undefined | null): number | null {
  const digits = /^\s*(\d{1,15})\s*$/.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

/** An http(s) address made absolute, or null. */
export function resolveLink(text: string, base: string | null): string | null {
  const trimmed = unescapeAgain(text.trim());
  // 1,000,000-character addresses are attacks; servers refuse far shorter ones.
  if (trimmed === '' || trimmed.length > 16_384) return null;
  // A bare host is a forgotten scheme, not a folder of the feed's site.
  const address = /^www\.[^/\s]+\.[a-z]{2,}(?:\/|$)/i.test(trimmed) ? `http://${trimmed}` : trimmed;
  if (!URL.canParse(address, base ?? undefined)) return null;
  const url = new URL(address, base ?? undefined);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}

/** A base address for links: any absolute address that has a hierarchy, or null. */
export function resolveBase(text: string, base: string | null): string | null {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > 16_384 || !URL.canParse(trimmed, base ?? undefined)) return base;
  const url = new URL(trimmed, base ?? undefined);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : base;
}

/** Whether a guid says that it is an address; null: it does not say. Some write 1 and 0, or yes and no. */
export function permalinkOf(written: string | undefined | null): boolean | null {
  const word = written?.trim().toLowerCase() ?? '';
  if (/^(?:true|1|yes)$/.test(word)) return true;
  return /^(?:false|0|no)$/.test(word) ? false : null;
}
