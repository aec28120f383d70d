import { decodeEntities, unfinishedReference } from './entities.ts';

export { decodeEntities, unescapeAgain } from './entities.ts';

/** What a scanner reports. Names are as written, prefix and case included. */
export type XmlHandler = {
  /** An opening tag; `attributes` is its raw text behind the name, for `parseAttributes`. */
  onOpen(name: string, attributes: string, isEmpty: boolean): void;
  onClose(name: string): void;
  /** Decoded text; one run of text may come in several pieces. */
  onText(text: string): void;
};

// A tag longer than this is no tag. Google's largest documented news tag is far below 8 kB.
const MAX_TAG = 65_536;

type Mode = 'text' | 'comment' | 'cdata' | 'instruction' | 'doctype' | 'subset';
const terminators = { comment: '-->', cdata: ']]>', instruction: '>', subset: ']' } as const;

/**
 * Reads XML as it arrives, and XML that is none: no tree, no stack, no entity of the document's own, each character
 * looked at a bounded number of times. Memory is one chunk and one unfinished tag.
 */
export class XmlScanner {
  #handler: XmlHandler;
  #mode: Mode = 'text';
  #rest = '';
  #stopped = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** Ends the reading from inside a handler; what follows is ignored. */
  stop(): void {
    this.#stopped = true;
  }

  /** Reads the next piece. Pieces should have some kilobytes: an unfinished tag is looked at again with each. */
  push(piece: string): void {
    const text = this.#rest === '' ? piece : this.#rest + piece;
    this.#rest = '';
    let at = 0;
    while (at < text.length && !this.#stopped) {
      const next = this.#mode === 'text' ? this.#readText(text, at) : this.#readSpecial(text, at);
      if (next < 0) {
        this.#rest = text.slice(-next - 1);
        return;
      }
      at = next;
    }
  }

  /** Ends the document; true when it ended inside a text, so that the last text may be cut. */
  end(): boolean {
    const rest = this.#rest;
    this.#rest = '';
    const isCut = (this.#mode === 'text' || this.#mode === 'cdata') && !rest.startsWith('<');
    if (!this.#stopped && isCut && rest !== '') this.#handler.onText(rest);
    return isCut;
  }

  /** Reads text and the tag behind it; gives the next place, or -1 - place where more input is needed. */
  #readText(text: string, start: number): number {
    const at = text.indexOf('<', start);
    if (at !== start) {
      const raw = text.slice(start, at < 0 ? text.length : at);
      if (at >= 0) {
        this.#handler.onText(decodeEntities(raw));
        return at;
      }
      const cut = unfinishedReference(raw);
      if (cut > 0) this.#handler.onText(decodeEntities(raw.slice(0, cut)));
      return cut === raw.length ? text.length : -1 - (start + cut);
    }
    const code = at + 1 < text.length ? text.charCodeAt(at + 1) : -1;
    if (code < 0) return -1 - at;
    if (code === 33) return this.#readDeclaration(text, at);
    if (code === 63) {
      this.#mode = 'instruction';
      return at + 2;
    }
    if (code === 47) return this.#readClosing(text, at);
    return isNameStart(code) ? this.#readOpening(text, at) : this.#literal(at);
  }

  /** `<` that begins no tag is text. */
  #literal(at: number): number {
    this.#handler.onText('<');
    return at + 1;
  }

  #readDeclaration(text: string, at: number): number {
    for (const [opening, mode] of [
      ['<!--', 'comment'],
      ['<![CDATA[', 'cdata'],
    ] as const) {
      if (text.startsWith(opening, at)) {
        this.#mode = mode;
        return at + opening.length;
      }
      if (text.length - at < opening.length && opening.startsWith(text.slice(at))) return -1 - at;
    }
    this.#mode = 'doctype';
    return at + 2;
  }

  #readSpecial(text: string, at: number): number {
    if (this.#mode === 'doctype') return this.#readDoctype(text, at);
    if (this.#mode === 'text') return at;
    const terminator = terminators[this.#mode];
    const found = text.indexOf(terminator, at);
    // The beginning of a terminator at the end waits for the next piece.
    const end = found >= 0 ? found : Math.max(at, text.length - terminator.length + 1);
    if (this.#mode === 'cdata' && end > at) this.#handler.onText(text.slice(at, end));
    if (found < 0) return end === text.length ? end : -1 - end;
    this.#mode = this.#mode === 'subset' ? 'doctype' : 'text';
    return found + terminator.length;
  }

  /** Skips a document type, its internal subset in brackets included. */
  #readDoctype(text: string, start: number): number {
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 62) {
        this.#mode = 'text';
        return at + 1;
      }
      if (code === 91) {
        this.#mode = 'subset';
        return at + 1;
      }
    }
    return text.length;
  }

  #readClosing(text: string, start: number): number {
    let at = start + 2;
    while (at < text.length && isNamePart(text.charCodeAt(at))) at += 1;
    const nameEnd = at;
    // A `<` before the `>` means that the `>` was forgotten: `</a <b>`.
    while (at < text.length && text.charCodeAt(at) !== 62 && text.charCodeAt(at) !== 60) at += 1;
    if (at === text.length) return this.#wait(text, start);
    this.#handler.onClose(text.slice(start + 2, nameEnd));
    return text.charCodeAt(at) === 60 ? at : at + 1;
  }

  #readOpening(text: string, start: number): number {
    let at = start + 1;
    while (at < text.length && isNamePart(text.charCodeAt(at))) at += 1;
    const name = text.slice(start + 1, at);
    const end = endOfTag(text, at);
    if (end < 0) return this.#wait(text, start);
    const isBroken = text.charCodeAt(end) === 60;
    const isEmpty = !isBroken && text.charCodeAt(end - 1) === 47;
    this.#handler.onOpen(name, at === end ? '' : text.slice(at, isEmpty ? end - 1 : end), isEmpty);
    return isBroken ? end : end + 1;
  }

  #wait(text: string, at: number): number {
    return text.length - at > MAX_TAG ? this.#literal(at) : -1 - at;
  }
}

/**
 * The place of the `>` that ends a tag, or of the `<` that shows it was forgotten, or -1. No attribute may hold a raw
 * `<`, so one inside quotes means that a quote is missing: then the first `>` behind the opening counts.
 */
function endOfTag(text: string, start: number): number {
  let quote = 0;
  let firstEnd = -1;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 60) return firstEnd >= 0 ? firstEnd : at;
    if (code === 62) {
      if (quote === 0) return at;
      if (firstEnd < 0) firstEnd = at;
    } else if (quote !== 0) {
      if (code === quote) quote = 0;
    } else if (code === 34 || code === 39) {
      quote = code;
    }
  }
  return -1;
}

/** Attributes of a tag, names in lower case, values decoded; the first of equal names counts. */
export function parseAttributes(raw: string): Map<string, string> {
  const attributes = new Map<string, string>();
  let at = 0;
  while (at < raw.length) {
    const start = skip(raw, at, (code) => !isNamePart(code));
    const nameEnd = skip(raw, start, isNamePart);
    const equals = skip(raw, nameEnd, isBlank);
    at = equals;
    if (nameEnd === start || raw.charCodeAt(equals) !== 61) continue;
    const valueStart = skip(raw, equals + 1, isBlank);
    const quote = raw.charCodeAt(valueStart);
    const isQuoted = quote === 34 || quote === 39;
    const from = isQuoted ? valueStart + 1 : valueStart;
    const close = isQuoted
      ? raw.indexOf(String.fromCharCode(quote), from)
      : skip(raw, from, (code) => code > 32);
    const to = close < 0 ? raw.length : close;
    const name = raw.slice(start, nameEnd).toLowerCase();
    if (!attributes.has(name)) attributes.set(name, decodeEntities(raw.slice(from, to)));
    at = isQuoted ? to + 1 : to;
  }
  return attributes;
}

function skip(text: string, start: number, matches: (code: number) => boolean): number {
  let at = start;
  while (at < text.length && matches(text.charCodeAt(at))) at += 1;
  return at;
}

/** The name without its prefix, lower case. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}

function isNameStart(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58 || code >= 0x80
  );
}

function isNamePart(code: number): boolean {
  return code > 32 && code !== 62 && code !== 47 && code !== 60 && code !== 34 && code !== 39 && code !== 61;
}

function isBlank(code: number): boolean {
  return code <= 32;
}
