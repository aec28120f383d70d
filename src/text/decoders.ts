import { isAscii } from 'node:buffer';
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

/** Decodes a whole document in an encoding that resolveLabel() named; a byte order mark is dropped. */
export function decodeAs(bytes: Uint8Array, charset: string): string {
  if (charset === 'windows-1252') return decodeWindows1252(bytes);
  if (ebcdicName(charset) !== null) return decodeEbcdic(bytes, charset);
  // Most bytes of the web are ASCII or UTF-8, for which a plain copy will do.
  if (charset === 'utf-8' && isAscii(bytes)) return asBuffer(bytes).toString('latin1');
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
