// What near copies have in common: a MinHash of the text's shingles. One permutation with bins (every shingle is hashed
// once) instead of 128 hash functions: linear in the text, and as exact. See docs/decisions/0050-near-duplicates.md.

import { isUnspaced } from '../text/index.ts';

/** Bytes of a signature: 128 bins, of each sixteen bits of its least shingle hash. */
export const SIGNATURE_BYTES = 256;
/** Bands of a signature, each of three bins. Texts that share 0.57 of their shingles share a band in 96 of 100 cases. */
export const SIGNATURE_BANDS = 16;
/** From this estimated share of common shingles on two texts count as copies of each other. */
export const COPY_SIMILARITY = 0.45;

const BINS = SIGNATURE_BYTES / 2;
const BIN_BITS = 7;
const BAND_BINS = 3;
const WORDS_PER_SHINGLE = 3;
// A character of a script without spaces says less than a word: five of them are two or three words.
const CHARACTERS_PER_SHINGLE = 5;
// Fewer say too little: two short notices of one template would pass for copies.
const MIN_SHINGLES = 40;
/** Characters of a text that are read: its beginning tells copies apart as well, and a page may have megabytes. */
export const SIGNATURE_CHARS = 100_000;

const GAP = 0;
const LETTER = 1;
const UNSPACED = 2;
// Soft hyphens, joiners, variation selectors: not seen, and no end of a word.
const UNSEEN = 3;

/** The signature of a text, or null where there is too little of it; case, punctuation and spacing do not count. */
export function textSignature(text: string): Buffer | null {
  const { bins, shingles } = hashShingles(text.slice(0, SIGNATURE_CHARS).normalize('NFKC').toLowerCase());
  if (shingles < MIN_SHINGLES) return null;
  const signature = Buffer.allocUnsafe(SIGNATURE_BYTES);
  for (let bin = 0; bin < BINS; bin += 1) {
    // An empty bin borrows from another one, the same one in every text, so that short texts compare as well.
    let from = bin;
    for (let turn = 1; bins[from] === EMPTY; turn += 1)
      from = mix(Math.imul(bin, 0x9e3779b1) + turn) & (BINS - 1);
    signature.writeUInt16BE(mix(bins[from]! + 0x51ed270b) & 0xffff, bin * 2);
  }
  return signature;
}

/** The keys under which a signature is found: the number of the band, and the 48 bits it holds. */
export function signatureBands(signature: Buffer): bigint[] {
  const bands: bigint[] = [];
  for (let band = 0; band < SIGNATURE_BANDS; band += 1) {
    const value = signature.readUIntBE(band * BAND_BINS * 2, BAND_BINS * 2);
    bands.push((BigInt(band) << 48n) | BigInt(value));
  }
  return bands;
}

/** Estimates which share of their shingles two texts have in common, from 0 to 1; the standard error is at most 0.044. */
export function signatureSimilarity(a: Buffer, b: Buffer): number {
  let equal = 0;
  for (let at = 0; at < SIGNATURE_BYTES; at += 2) if (a[at] === b[at] && a[at + 1] === b[at + 1]) equal += 1;
  return equal / BINS;
}

const EMPTY = 0xffffffff;

/** The least hash in each bin, over shingles of words, or of characters where the script has no spaces. */
function hashShingles(text: string): { bins: Uint32Array; shingles: number } {
  const bins = new Uint32Array(BINS).fill(EMPTY);
  const { hashes, spans, count } = hashTokens(text);
  let shingles = 0;
  for (let last = 0; last < count; last += 1) {
    const first = last - spans[last]! + 1;
    if (first < 0) continue;
    let hash = 0;
    for (let i = first; i <= last; i += 1) hash = Math.imul(hash ^ hashes[i]!, 0x9e3779b1) + 0x165667b1;
    hash = mix(hash);
    shingles += 1;
    const bin = hash & (BINS - 1);
    const value = hash >>> BIN_BITS;
    if (value < bins[bin]!) bins[bin] = value;
  }
  return { bins, shingles };
}

/** Words, or single characters of scripts without spaces; with each the tokens of the shingle it ends. */
function hashTokens(text: string): { hashes: Int32Array; spans: Uint8Array; count: number } {
  const classes = characterClasses();
  const hashes = new Int32Array(text.length);
  const spans = new Uint8Array(text.length);
  let count = 0;
  let word = 0;
  for (let i = 0; i <= text.length; i += 1) {
    let code = i < text.length ? text.charCodeAt(i) : 0;
    const kind = classes[code]!;
    if (kind === UNSEEN) continue;
    if (code >= 0xd800 && code < 0xdc00 && kind !== GAP) {
      code = text.codePointAt(i)!;
      if (code > 0xffff) i += 1;
    }
    if (kind === LETTER) {
      word = (Math.imul(word ^ code, 0x01000193) + 0x7f4a7c15) | 0;
      continue;
    }
    if (word !== 0) {
      hashes[count] = mix(word);
      spans[count++] = WORDS_PER_SHINGLE;
      word = 0;
    }
    if (kind === UNSPACED) {
      hashes[count] = mix(code);
      spans[count++] = CHARACTERS_PER_SHINGLE;
    }
  }
  return { hashes, spans, count };
}

/** Spreads every bit over all 32 (the finaliser of MurmurHash3). */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

let knownClasses: Uint8Array | undefined;

/** What each UTF-16 unit is. A table, made once in some 10 ms: asking a pattern for each character took ten times as long. */
function characterClasses(): Uint8Array {
  if (knownClasses !== undefined) return knownClasses;
  const classes = new Uint8Array(0x10000);
  const letter = /[\p{L}\p{N}\p{M}]/u;
  const unseen = /[\p{Cf}\p{Variation_Selector}]/u;
  // Signatures are stored: those of texts in these two scripts were made of words between spaces.
  const spaced = /[\p{Script=Bopomofo}\p{Script=Yi}]/u;
  for (let code = 0; code < 0x10000; code += 1) {
    const character = String.fromCharCode(code);
    if (unseen.test(character)) classes[code] = UNSEEN;
    else if (letter.test(character))
      classes[code] = isUnspaced(code) && !spaced.test(character) ? UNSPACED : LETTER;
  }
  // First halves of pairs: planes 2 and 3 are Han, the beginning of plane 1 is letters, emoji are no words.
  classes.fill(LETTER, 0xd800, 0xd83b);
  classes.fill(UNSPACED, 0xd840, 0xd8c0);
  knownClasses = classes;
  return classes;
}
