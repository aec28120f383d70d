import type { TextCodes } from '../text/index.ts';

/** Names beyond this are read no further. */
export const MAX_NAME_CHARS = 160;

/** A pattern of longer words, fours of letters of which each of them holds one, and the bits they stand for. */
export type Compound = { pattern: RegExp; holds: readonly string[]; minChars: number; bits: number };

const MASK = 4_095;
const MIN_COMPOUND_CHARS = 5;
const GRAM_CHARS = 4;

const isLower = (code: number) => (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
const isUpper = (code: number) => code >= 65 && code <= 90;
const hashStep = (hash: number, code: number) => (Math.imul(hash, 31) + code) | 0;
// Four letters as 20 bits, whatever their case; digits look like other letters, which only costs a second look.
const gramStep = (gram: number, code: number) => ((gram << 5) | (code & 31)) & 0xfffff;
const gramSlot = (gram: number) => (gram ^ (gram >>> 9)) & MASK;

/**
 * Reads names by their words, each of which stands for some bits. Words are hashed where they stand: cutting them out as
 * strings cost several times as much, and so did looking whole names up in a map, as those of many sites fit no cache.
 */
export class NameWords {
  readonly #words: string[] = [''];
  readonly #bits: number[] = [0];
  /** By hash: the number of a word, 0 where there is none. */
  readonly #slots = new Uint16Array(MASK + 1);
  readonly #compounds: readonly Compound[];
  /** By four letters: whether a compound may hold them. */
  readonly #grams = new Uint8Array(MASK + 1);

  constructor(words: ReadonlyMap<string, number>, compounds: readonly Compound[]) {
    for (const [word, bits] of words) this.#add(word, bits);
    this.#compounds = compounds;
    for (const { holds } of compounds)
      for (const letters of holds) this.#grams[gramSlot(gramOf(letters))] = 1;
  }

  #add(word: string, bits: number): void {
    let hash = 0;
    for (let i = 0; i < word.length; i++) hash = hashStep(hash, word.charCodeAt(i));
    let slot = hash & MASK;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & MASK;
    this.#slots[slot] = this.#words.length;
    this.#words.push(word);
    this.#bits.push(bits);
  }

  /** The bits of the words that stand at a place; letters and digits of ASCII make words. */
  read(codes: TextCodes, start: number, end: number): number {
    const stop = Math.min(end, start + MAX_NAME_CHARS);
    let bits = 0;
    let from = start;
    let hash = 0;
    // camelCase and BEM alike become words.
    let lower = false;
    for (let i = start; i <= stop; i++) {
      const code = i < stop ? codes[i]! : 32;
      if (isLower(code)) {
        lower = true;
        hash = hashStep(hash, code);
        continue;
      }
      const upper = isUpper(code);
      if (upper && !lower) {
        hash = hashStep(hash, code + 32);
        continue;
      }
      if (i > from) bits |= this.#wordBits(codes, from, i, hash);
      from = upper ? i : i + 1;
      hash = upper ? code + 32 : 0;
      lower = false;
    }
    return bits;
  }

  #wordBits(codes: TextCodes, from: number, to: number, hash: number): number {
    for (let slot = hash & MASK; ; slot = (slot + 1) & MASK) {
      const number = this.#slots[slot]!;
      if (number === 0) return to - from < MIN_COMPOUND_CHARS ? 0 : this.#compoundBits(codes, from, to);
      if (isWord(codes, from, to, this.#words[number]!)) return this.#bits[number]!;
    }
  }

  /** Patterns are tried on the few words that hold four letters of one: on all they were a twentieth of a page's time. */
  #compoundBits(codes: TextCodes, from: number, to: number): number {
    let gram = 0;
    let may = 0;
    for (let i = from; i < to; i++) {
      gram = gramStep(gram, codes[i]!);
      may |= this.#grams[gramSlot(gram)]!;
    }
    if (may === 0) return 0;
    let word = '';
    for (let i = from; i < to; i++) word += String.fromCharCode(codes[i]! | 32);
    let bits = 0;
    for (const one of this.#compounds)
      if (word.length >= one.minChars && one.pattern.test(word)) bits |= one.bits;
    return bits;
  }
}

function gramOf(letters: string): number {
  let gram = 0;
  for (let i = 0; i < GRAM_CHARS; i++) gram = gramStep(gram, letters.charCodeAt(i));
  return gram;
}

function isWord(codes: TextCodes, from: number, to: number, word: string): boolean {
  if (word.length !== to - from) return false;
  // The bit of lower case is set in every digit too.
  for (let i = 0; i < word.length; i++) if ((codes[from + i]! | 32) !== word.charCodeAt(i)) return false;
  return true;
}
