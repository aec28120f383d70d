import type { Codes } from './block-codes.ts';
import type { Block } from './blocks.ts';
import { clearedLender, lender } from './lent-memory.ts';
import { WordNumbers } from './word-numbers.ts';

const MAX_WORDS_CHARS = 600;
const MIN_LETTERS = 5;
const MIN_BLOCK_WORDS = 4;
const borrowStarts = lender((size) => new Int32Array(size));
const borrowWords = lender((size) => new Int32Array(size));
const borrowParagraphs = clearedLender((size) => new Int32Array(size));
const borrowLast = lender((size) => new Int32Array(size));
const borrowInMain = clearedLender((size) => new Uint8Array(size));

/** How many of a block's long words stand in the title, in a second paragraph, in the main container; of how many. */
export type WordShares = { words: number; inTitle: number; shared: number; inMain: number };

/**
 * The long words of a page, numbered by their hashes: strings and a set for each question took three times as long. Two
 * words of one hash are told apart by nobody; among the few hundred of a page that happens once in ten million pairs.
 */
export class Vocabulary {
  readonly #numbers = new WordNumbers();
  /** The words of all blocks in a row, and where each block's begin. */
  readonly #words: Int32Array;
  #count = 0;
  readonly #starts: Int32Array;
  // By word: in how many paragraphs it stands, the last of them, whether one is in the main container.
  readonly #paragraphs: Int32Array;
  readonly #last: Int32Array;
  readonly #inMain: Uint8Array;
  readonly #titleWords: number;

  constructor(
    blocks: Block[],
    { codes, starts }: Codes,
    title: string,
    isParagraph: Uint8Array,
    isMain: (block: Block) => boolean,
  ) {
    // A word and what ends it.
    const most = Math.ceil((starts[blocks.length]! + title.length) / (MIN_LETTERS + 1)) + 2;
    this.#words = borrowWords(most);
    this.#paragraphs = borrowParagraphs(most);
    this.#last = borrowLast(most).fill(-1, 0, most);
    this.#inMain = borrowInMain(most);
    this.#starts = borrowStarts(blocks.length + 1);
    this.#starts[0] = 0;
    const titleCodes = new Uint16Array(title.length);
    for (let i = 0; i < title.length; i++) titleCodes[i] = title.charCodeAt(i);
    this.#read(titleCodes, 0, title.length);
    // The title's words have the lowest numbers.
    this.#titleWords = this.#numbers.count;
    this.#count = 0;
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[i]!;
      if (block.words >= MIN_BLOCK_WORDS) this.#read(codes, starts[i]!, starts[i + 1]!);
      this.#starts[i + 1] = this.#count;
      if (isParagraph[i] === 1) this.#note(i, isMain(block));
    }
  }

  /** Numbers the words of five letters and more at the start of a text; all letters beyond ASCII count as such. */
  #read(codes: Uint16Array, from: number, to: number): void {
    const end = Math.min(to, from + MAX_WORDS_CHARS);
    let hash = 0;
    let letters = 0;
    for (let at = from; at <= end; at++) {
      let code = at < end ? codes[at]! : 32;
      if (code >= 65 && code <= 90) code += 32;
      if ((code >= 97 && code <= 122) || (code >= 0xc0 && code < 0x2000) || code >= 0x3040) {
        hash = (Math.imul(hash, 31) + code) | 0;
        letters++;
        continue;
      }
      if (letters >= MIN_LETTERS) this.#words[this.#count++] = this.#numbers.numberOf(hash);
      hash = 0;
      letters = 0;
    }
  }

  #note(i: number, isMain: boolean): void {
    for (let at = this.#starts[i]!; at < this.#starts[i + 1]!; at++) {
      const word = this.#words[at]!;
      if (this.#last[word] === i) continue;
      this.#last[word] = i;
      this.#paragraphs[word]!++;
      if (isMain) this.#inMain[word] = 1;
    }
  }

  /** What the words of one block are to the page. */
  sharesOf(i: number): WordShares {
    const [from, to] = [this.#starts[i]!, this.#starts[i + 1]!];
    let inTitle = 0;
    let shared = 0;
    let inMain = 0;
    for (let at = from; at < to; at++) {
      const word = this.#words[at]!;
      if (word < this.#titleWords) inTitle++;
      inMain += this.#inMain[word]!;
      if (this.#paragraphs[word]! > 1) shared++;
    }
    return { words: to - from, inTitle, shared, inMain };
  }
}
