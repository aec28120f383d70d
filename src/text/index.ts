import { createStreamDecoder, decodeAs } from './decoders.ts';
import type { DecodeOptions, Evidence } from './detect.ts';
import { detectCharset } from './detect.ts';

export { mapC1Controls } from './decoders.ts';
export type { DecodeOptions, Evidence } from './detect.ts';
export { openText, type TextCodes, type TextSource, textSource } from './lazy.ts';
export { matchesOf } from './matches.ts';
export { countWords, countWordsOf, isUnspaced, UNSPACED } from './words.ts';

/** A document's text, the encoding it was read in and what that choice rests on. */
export type Decoded = { text: string; charset: string; evidence: Evidence };

/** Decodes a document of unknown encoding; never throws, bytes that fit nothing become U+FFFD. */
export function decodeBytes(bytes: Uint8Array, options: DecodeOptions = {}): Decoded {
  const { charset, evidence } = detectCharset(bytes, options, 'whole');
  return { text: decodeAs(bytes, charset), charset, evidence };
}

/** A streaming decoder; every chunk is written, the first one too. */
export type TextStream = {
  charset: string;
  evidence: Evidence;
  write(chunk: Uint8Array): string;
  end(): string;
};

/**
 * Makes a decoder for a document that arrives in chunks. The first bytes (a few kilobytes do) only decide the
 * encoding: they must be written as well.
 */
export function createDecoder(firstBytes: Uint8Array, options: DecodeOptions = {}): TextStream {
  const detected = detectCharset(firstBytes, options, 'beginning');
  return { ...detected, ...createStreamDecoder(detected.charset) };
}
