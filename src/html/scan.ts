import type { TextSource } from '../text/index.ts';
import { type AttributeTable, readDecoded } from './attributes.ts';
import { findName, flagsIn, hashStep, nameAt, nameIn } from './names.ts';
import { TAG } from './tree-rules.ts';

/** What the scanner reports, in document order. */
export type ScanHandler = {
  text(text: string): void;
  /** Asked before the content of a raw element is read: whether anybody wants it. */
  wantsRaw(): boolean;
  /** Reports the size of a content nobody wanted. */
  skip(chars: number): void;
  /** `flags`: what is known of the tag, as bits of TAG. Its attributes are those of the table from `from` on. */
  open(tag: string, flags: number, from: number, selfClosing: boolean): void;
  close(tag: string, flags: number): void;
  /** Asked after every tag: whether to stop. */
  stopped(): boolean;
};

const MAX_ATTRIBUTES = 64;

/** What the parts of one scan share. */
type Reader = { source: TextSource; table: AttributeTable; handler: ScanHandler; endless: Set<string> };

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

/**
 * Cuts HTML into texts and tags (HTML standard, 13.2.5, without the rare states). It jumps from mark to mark with the
 * engine's own search; htmlparser2's tokenizer walks every character and took twice the time, a fifth of a page's.
 */
export function scanHtml(table: AttributeTable, handler: ScanHandler): void {
  const { source } = table;
  const { raw, codes } = source;
  const { length } = raw;
  const reader: Reader = { source, table, handler, endless: new Set() };
  let textStart = 0;
  let at = raw.indexOf('<');
  while (at >= 0 && !handler.stopped()) {
    const next = codes[at + 1]!;
    if (isLetter(next)) {
      if (at > textStart) handler.text(readDecoded(source, textStart, at));
      at = readOpenTag(at + 1, reader);
      textStart = at;
    } else if (next === 47 && isLetter(codes[at + 2]!)) {
      if (at > textStart) handler.text(readDecoded(source, textStart, at));
      textStart = readCloseTag(at + 2, reader);
    } else if (next === 33 || next === 63 || next === 47) {
      if (at > textStart) handler.text(readDecoded(source, textStart, at));
      textStart = skipMarkup(at, reader);
    } else {
      // A "<" that begins nothing is text.
      at = raw.indexOf('<', at + 1);
      continue;
    }
    at = textStart >= length ? -1 : raw.indexOf('<', textStart);
  }
  if (!handler.stopped() && textStart < length) handler.text(readDecoded(source, textStart, length));
}

/** Steps over comments, doctypes and the like; the content of CDATA is text. */
function skipMarkup(at: number, reader: Reader): number {
  const { source, handler } = reader;
  const { raw } = source;
  if (raw.startsWith('<!--', at)) {
    const end = raw.indexOf('--', at + 2);
    return end < 0 ? raw.length : endOfComment(reader, end);
  }
  if (raw.startsWith('<![CDATA[', at)) {
    const end = raw.indexOf(']]>', at);
    handler.text(source.read(at + 9, end < 0 ? raw.length : end));
    return end < 0 ? raw.length : end + 3;
  }
  const end = raw.indexOf('>', at);
  return end < 0 ? raw.length : end + 1;
}

/** The place after the comment's end, "-->" or "--!>", from the first two dashes on that may belong to it. */
function endOfComment({ source }: Reader, from: number): number {
  const { raw, codes } = source;
  for (let at = from; at >= 0; at = raw.indexOf('--', at + 1)) {
    if (codes[at + 2] === 62) return at + 3;
    if (codes[at + 2] === 33 && codes[at + 3] === 62) return at + 4;
  }
  return raw.length;
}

/** Reads an end tag; returns the place after it. */
function readCloseTag(start: number, { source, handler }: Reader): number {
  const { raw, codes } = source;
  const { length } = raw;
  let at = start;
  let code = codes[at]!;
  let hash = 0;
  while (at < length && code !== 62 && code !== 47 && !isSpace(code)) {
    hash = hashStep(hash, code);
    code = codes[++at]!;
  }
  const slot = findName(codes, start, at, hash);
  const tag = nameIn(slot, source, start, at);
  handler.close(tag, flagsIn(slot, tag));
  if (code === 62 && at < length) return at + 1;
  const end = raw.indexOf('>', at);
  return end < 0 ? length : end + 1;
}

/** Reads a start tag and, for raw elements, their text; returns the place after it. */
function readOpenTag(start: number, reader: Reader): number {
  const { source, table } = reader;
  const { raw, codes } = source;
  const { length } = raw;
  const from = table.count;
  let at = start;
  let code = codes[at]!;
  let hash = 0;
  while (at < length && code !== 62 && code !== 47 && !isSpace(code)) {
    hash = hashStep(hash, code);
    code = codes[++at]!;
  }
  const slot = findName(codes, start, at, hash);
  const tag = nameIn(slot, source, start, at);
  const flags = flagsIn(slot, tag);
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
    const name = nameAt(source, nameStart, at, hash);
    while (at < length && isSpace(codes[at]!)) at++;
    let valueStart = 0;
    let valueEnd = 0;
    if (codes[at]! === 61) {
      at++;
      while (at < length && isSpace(codes[at]!)) at++;
      const quote = codes[at]!;
      valueStart = at;
      if (quote === 34 || quote === 39) {
        const end = raw.indexOf(quote === 34 ? '"' : "'", ++valueStart);
        valueEnd = end < 0 ? length : end;
        at = end < 0 ? length : end + 1;
      } else {
        while (at < length && codes[at]! !== 62 && !isSpace(codes[at]!)) at++;
        valueEnd = at;
      }
    }
    if (table.count - from < MAX_ATTRIBUTES) table.add(name, valueStart, valueEnd);
  }
  reader.handler.open(tag, flags, from, selfClosing);
  const after = Math.min(length, at + 1);
  if ((flags & TAG.raw) === 0) return after;
  const isEmpty = selfClosing && tag !== 'script';
  const next = isEmpty ? after : readRaw(after, tag, (flags & TAG.decoded) !== 0, reader);
  // What follows `<iframe/>`, or a frame that never ends, does not stand in it, where nobody would read it.
  const isEndless = !isEmpty && (flags & TAG.decoded) === 0 && reader.endless.has(tag);
  if (isEmpty || (isEndless && (flags & TAG.unseen) !== 0)) reader.handler.close(tag, flags);
  return next;
}

function readRaw(start: number, tag: string, decoded: boolean, { source, handler, endless }: Reader): number {
  const { raw, codes } = source;
  if (endless.has(tag)) return start;
  let end = raw.indexOf('</', start);
  while (end >= 0) {
    const nameEnd = end + 2 + tag.length;
    const follows = codes[nameEnd]!;
    if (
      (follows === 62 || follows === 47 || isSpace(follows)) &&
      raw.slice(end + 2, nameEnd).toLowerCase() === tag
    )
      break;
    end = raw.indexOf('</', end + 2);
  }
  if (end < 0) {
    // Without an end a browser would swallow the page; we read on, and do not search for that end again.
    endless.add(tag);
    return tag === 'script' || tag === 'style' ? raw.length : start;
  }
  if (!handler.wantsRaw()) handler.skip(end - start);
  else if (end > start) handler.text(decoded ? readDecoded(source, start, end) : source.read(start, end));
  return end;
}
