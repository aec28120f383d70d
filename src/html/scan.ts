import { Tokenizer } from 'htmlparser2';
import type { TextCodes, TextSource } from '../text/index.ts';
import { hashStep, nameAt } from './names.ts';

/** What the scanner reports, in document order. */
export type ScanHandler = {
  text(text: string): void;
  /** Asked before the content of a raw element is read: whether anybody wants it. */
  wantsRaw(): boolean;
  /** Reports the size of a content nobody wanted. */
  skip(chars: number): void;
  open(tag: string, attributes: string[] | null, selfClosing: boolean): void;
  close(tag: string): void;
  /** Asked after every tag: whether to stop. */
  stopped(): boolean;
};

const MAX_ATTRIBUTES = 64;
/** Elements whose content is text up to their own end tag; entities count only in the last two. */
const RAW = new Set(['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp', 'title', 'textarea']);
const DECODED_RAW = new Set(['title', 'textarea']);

/** Reads entities with htmlparser2's decoder, which knows all of them; only text with an ampersand comes here. */
class EntityDecoder {
  private out = '';
  private source = '';
  private readonly tokenizer = new Tokenizer({ decodeEntities: true }, this);

  decode(text: string): string {
    // A lone "<" would begin a tag for the tokenizer; the scanner has seen that it does not.
    if (!text.includes('<')) return this.run(text);
    return text
      .split('<')
      .map((piece) => (piece.includes('&') ? this.run(piece) : piece))
      .join('<');
  }

  private run(text: string): string {
    this.out = '';
    this.source = text;
    this.tokenizer.reset();
    this.tokenizer.write(text);
    this.tokenizer.end();
    return this.out;
  }

  ontext(start: number, end: number): void {
    this.out += this.source.slice(start, end);
  }
  ontextentity(codepoint: number): void {
    this.out += String.fromCodePoint(codepoint);
  }
  onattribdata(): void {
    throw unexpected();
  }
  onattribentity(): void {
    throw unexpected();
  }
  onattribend(): void {
    throw unexpected();
  }
  onattribname(): void {
    throw unexpected();
  }
  oncdata(): void {
    throw unexpected();
  }
  onclosetag(): void {
    throw unexpected();
  }
  oncomment(): void {
    throw unexpected();
  }
  ondeclaration(): void {
    throw unexpected();
  }
  onopentagend(): void {
    throw unexpected();
  }
  onopentagname(): void {
    throw unexpected();
  }
  onprocessinginstruction(): void {
    throw unexpected();
  }
  onselfclosingtag(): void {
    throw unexpected();
  }
  onend(): void {
    this.source = '';
  }
}

/** What the parts of one scan share. */
type Reader = {
  html: string;
  codes: TextCodes;
  read: (start: number, end: number) => string;
  readDecoded: (start: number, end: number) => string;
  endless: Set<string>;
};

const unexpected = () => new Error('markup in text without "<"');

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

/**
 * Cuts HTML into texts and tags (HTML standard, 13.2.5, without the rare states). It jumps from mark to mark with the
 * engine's own search; htmlparser2's tokenizer walks every character and took twice the time, a fifth of a page's.
 */
export function scanHtml(source: TextSource, handler: ScanHandler): void {
  const decoder = new EntityDecoder();
  const { raw: html, codes, read } = source;
  // Pieces are read in order: the next ampersand is searched once, not in each of them.
  let ampersand = findFrom(html, '&', 0);
  const readDecoded = (start: number, end: number) => {
    if (ampersand < start) ampersand = findFrom(html, '&', start);
    return ampersand < end ? decoder.decode(read(start, end)) : read(start, end);
  };
  const reader: Reader = { html, codes, read, readDecoded, endless: new Set() };
  const { length } = html;
  let textStart = 0;
  let at = html.indexOf('<');
  const flush = (end: number) => {
    if (end > textStart) handler.text(readDecoded(textStart, end));
  };
  while (at >= 0 && !handler.stopped()) {
    const next = codes[at + 1]!;
    if (isLetter(next)) {
      flush(at);
      at = readOpenTag(at + 1, reader, handler);
      textStart = at;
    } else if (next === 47 && isLetter(codes[at + 2]!)) {
      flush(at);
      const end = html.indexOf('>', at);
      let nameEnd = at + 2;
      const stop = end < 0 ? length : end;
      let hash = 0;
      for (; nameEnd < stop; nameEnd++) {
        const code = codes[nameEnd]!;
        if (code === 47 || isSpace(code)) break;
        hash = hashStep(hash, code);
      }
      handler.close(nameAt(reader, at + 2, nameEnd, hash));
      textStart = end < 0 ? length : end + 1;
    } else if (next === 33 || next === 63 || next === 47) {
      flush(at);
      textStart = skipMarkup(at, reader, handler);
    } else {
      // A "<" that begins nothing is text.
      at = html.indexOf('<', at + 1);
      continue;
    }
    at = textStart >= length ? -1 : html.indexOf('<', textStart);
  }
  if (!handler.stopped()) flush(length);
}

function findFrom(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

/** Steps over comments, doctypes and the like; the content of CDATA is text. */
function skipMarkup(at: number, reader: Reader, handler: ScanHandler): number {
  const { html } = reader;
  if (html.startsWith('<!--', at)) {
    const end = html.indexOf('-->', at + 2);
    return end < 0 ? html.length : end + 3;
  }
  if (html.startsWith('<![CDATA[', at)) {
    const end = html.indexOf(']]>', at);
    handler.text(reader.read(at + 9, end < 0 ? html.length : end));
    return end < 0 ? html.length : end + 3;
  }
  const end = html.indexOf('>', at);
  return end < 0 ? html.length : end + 1;
}

/** Reads a start tag and, for raw elements, their text; returns the place after it. */
function readOpenTag(start: number, reader: Reader, handler: ScanHandler): number {
  const { html, codes, readDecoded } = reader;
  const { length } = html;
  let at = start;
  let code = codes[at]!;
  let hash = 0;
  while (at < length && code !== 62 && code !== 47 && !isSpace(code)) {
    hash = hashStep(hash, code);
    code = codes[++at]!;
  }
  const tag = nameAt(reader, start, at, hash);
  let attributes: string[] | null = null;
  let selfClosing = false;
  while (at < length) {
    code = codes[at]!;
    if (code === 62) break;
    if (code === 47 || isSpace(code)) {
      selfClosing = code === 47;
      at++;
      continue;
    }
    selfClosing = false;
    const nameStart = at;
    // The first character belongs to the name whatever it is, so that every round moves on.
    hash = hashStep(0, code);
    code = codes[++at]!;
    while (at < length && code !== 61 && code !== 62 && code !== 47 && !isSpace(code)) {
      hash = hashStep(hash, code);
      code = codes[++at]!;
    }
    const name = nameAt(reader, nameStart, at, hash);
    while (at < length && isSpace(codes[at]!)) at++;
    let value = '';
    if (codes[at]! === 61) {
      at++;
      while (at < length && isSpace(codes[at]!)) at++;
      const quote = codes[at]!;
      if (quote === 34 || quote === 39) {
        const end = html.indexOf(quote === 34 ? '"' : "'", at + 1);
        value = readDecoded(at + 1, end < 0 ? length : end);
        at = end < 0 ? length : end + 1;
      } else {
        const valueStart = at;
        while (at < length && codes[at]! !== 62 && !isSpace(codes[at]!)) at++;
        value = readDecoded(valueStart, at);
      }
    }
    attributes ??= [];
    if (attributes.length < 2 * MAX_ATTRIBUTES) attributes.push(name, value);
  }
  handler.open(tag, attributes, selfClosing);
  const after = Math.min(length, at + 1);
  return RAW.has(tag) && !(selfClosing && tag !== 'script') ? readRaw(after, tag, reader, handler) : after;
}

function readRaw(start: number, tag: string, reader: Reader, handler: ScanHandler): number {
  const { html, codes } = reader;
  if (reader.endless.has(tag)) return start;
  let end = html.indexOf('</', start);
  while (end >= 0) {
    const nameEnd = end + 2 + tag.length;
    const follows = codes[nameEnd]!;
    if (
      (follows === 62 || follows === 47 || isSpace(follows)) &&
      html.slice(end + 2, nameEnd).toLowerCase() === tag
    )
      break;
    end = html.indexOf('</', end + 2);
  }
  if (end < 0) {
    // Without an end a browser would swallow the page; we read on, and do not search for that end again.
    reader.endless.add(tag);
    return tag === 'script' || tag === 'style' ? html.length : start;
  }
  if (!handler.wantsRaw()) handler.skip(end - start);
  else if (end > start)
    handler.text(DECODED_RAW.has(tag) ? reader.readDecoded(start, end) : reader.read(start, end));
  return end;
}
