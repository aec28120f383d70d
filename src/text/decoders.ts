import { isAscii, isUtf8, transcode } from 'node:buffer';
import { TextDecoder } from 'node:util';
import iconv from 'iconv-lite';
import { decodeEbcdic, ebcdicName } from './ebcdic.ts';

/** Turns the bytes of one document into text, chunk by chunk. */
export type StreamDecoder = { write(chunk: Uint8Array): string; end(): string };

// Encoding Standard, windows-1252 index. Node's own decoder answers with C1 control characters here (nodejs/node
// issue 56542), so this table is ours.
const windows1252High =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function decodeWindows1252(bytes: Uint8Array): string {
  return mapC1Controls(asBuffer(bytes).toString('latin1'));
}

/**
 * Reads C1 control characters as the windows-1252 characters their authors meant, as HTML does for references like
 * &#146;; nobody writes the controls themselves.
 */
export function mapC1Controls(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (char) => windows1252High[char.charCodeAt(0) - 0x80] ?? char);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Making a decoder costs more than decoding a small page: one of each is kept. The set of names is that of labels.ts.
const platformDecoders = new Map<string, TextDecoder | null>();

/** The platform's decoder, for whole documents only; null where it has none. */
function platformDecoder(charset: string): TextDecoder | null {
  let decoder = platformDecoders.get(charset);
  if (decoder === undefined) {
    decoder = makePlatformDecoder(charset);
    platformDecoders.set(charset, decoder);
  }
  return decoder;
}

function makePlatformDecoder(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    return decoder.encoding === charset ? decoder : null;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}

// Characters above U+00FF: their first byte is 0xC4 or more. Without any, the engine keeps one byte a character.
function hasWide(bytes: Uint8Array): boolean {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes.length >> 2 : 0;
  const words = aligned === 0 ? noWords : new Int32Array(bytes.buffer, bytes.byteOffset, aligned);
  for (let at = 0; at < words.length; at += 1) {
    if ((words[at]! & 0x80808080) === 0) continue;
    for (let byte = at * 4; byte < at * 4 + 4; byte += 1) if (bytes[byte]! >= 0xc4) return true;
  }
  for (let at = words.length * 4; at < bytes.length; at += 1) if (bytes[at]! >= 0xc4) return true;
  return false;
}

const noWords = new Int32Array(0);

// One typographic quotation mark is enough to take the engine's decoder off its fast path: 0.31 ms for a page of 83 kB
// against 0.21 by way of UTF-16. Only for valid UTF-8.
function decodeWide(bytes: Uint8Array): string {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return transcode(marked ? bytes.subarray(3) : bytes, 'utf8', 'ucs2').toString('ucs2');
}

/** Decodes a whole document in an encoding that resolveLabel() named; a byte order mark is dropped. */
export function decodeAs(bytes: Uint8Array, charset: string): string {
  if (charset === 'windows-1252') return decodeWindows1252(bytes);
  if (ebcdicName(charset) !== null) return decodeEbcdic(bytes, charset);
  // Most bytes of the web are ASCII or UTF-8, for which a plain copy will do.
  if (charset === 'utf-8') {
    if (isAscii(bytes)) return asBuffer(bytes).toString('latin1');
    if (isUtf8(bytes) && hasWide(bytes)) return decodeWide(bytes);
  }
  const decoder = platformDecoder(charset);
  if (decoder !== null) return decoder.decode(bytes);
  return iconv.decode(asBuffer(bytes), charset, { stripBOM: true });
}

/** Makes a streaming decoder for an encoding that resolveLabel() named. */
export function createStreamDecoder(charset: string): StreamDecoder {
  if (charset === 'windows-1252') return { write: decodeWindows1252, end: () => '' };
  if (ebcdicName(charset) !== null) return { write: (chunk) => decodeEbcdic(chunk, charset), end: () => '' };
  const decoder = makePlatformDecoder(charset);
  if (decoder !== null)
    return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
  const converter = iconv.getDecoder(charset, { stripBOM: true });
  return { write: (chunk) => converter.write(asBuffer(chunk)), end: () => converter.end() ?? '' };
}
