import { decodeAs, mapC1Controls } from './decoders.ts';
import type { DecodeOptions } from './detect.ts';
import { detectCharset } from './detect.ts';

/**
 * A document whose markup can be searched before its text is decoded. In UTF-8 and windows-1252 every ASCII byte is
 * itself, so `raw` may hold one character for each byte, and only the pieces somebody reads are decoded: turning a
 * page of 120 kB into a string for the few kilobytes of its text cost a tenth of reading it.
 */
export type TextSource = {
  /** ASCII characters as they are; others perhaps as their bytes. */
  raw: string;
  /** The same as numbers: where single characters are asked for, a typed array is several times as fast. */
  codes: TextCodes;
  /** The text between two places of `raw`, none of them inside a character; a piece of ASCII may be cut out of `raw`. */
  read(start: number, end: number): string;
};

/** Characters as numbers. */
export type TextCodes = Uint8Array | Uint16Array;

/** A text that is decoded already. */
export function textSource(text: string): TextSource {
  const codes = new Uint16Array(text.length);
  Buffer.from(codes.buffer).write(text, 'utf16le');
  return { raw: text, codes, read: (start, end) => text.slice(start, end) };
}

// A right or left quote or a dash encoded twice: what it is mended by needs the whole text.
const TWICE_ENCODED = '\u00c3\u00a2\u00c2\u0080';

/** What `toString` calls in every version of Node; it is not in the types. */
type Sliceable = { utf8Slice?: (start: number, end: number) => string };

/** Short pieces by the thousand: choosing the encoding by its name took half of each call. */
function readUtf8(buffer: Buffer, start: number, end: number): string {
  return (buffer as Sliceable).utf8Slice?.(start, end) ?? buffer.toString('utf8', start, end);
}

/**
 * Opens a document of unknown encoding; a string where it had to be decoded as a whole. Never throws: bytes that fit
 * nothing become U+FFFD where they are read.
 */
export function openText(bytes: Uint8Array, options: DecodeOptions = {}): TextSource | string {
  const { charset } = detectCharset(bytes, options, 'whole');
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const buffer = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + (marked ? 3 : 0),
    bytes.byteLength - (marked ? 3 : 0),
  );
  if (charset === 'utf-8') {
    const raw = buffer.toString('latin1');
    if (!raw.includes(TWICE_ENCODED))
      return { raw, codes: buffer, read: (start, end) => readUtf8(buffer, start, end) };
  } else if (charset === 'windows-1252' && !marked) {
    const raw = buffer.toString('latin1');
    return { raw, codes: buffer, read: (start, end) => mapC1Controls(raw.slice(start, end)) };
  }
  return decodeAs(bytes, charset);
}
