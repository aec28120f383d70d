import type { AttributeTable, Page } from '../html/index.ts';
import type { TextCodes } from '../text/index.ts';
import { isAuthorClass } from './author-elements.ts';
import { clearedLender } from './lent-memory.ts';
import { bitsOfName, bitsOfValue, GROUP_NAMES, MAY_DATE } from './name-groups.ts';
import { hashNames } from './name-hashes.ts';
import { MAX_NAME_CHARS } from './name-words.ts';

const DATE_NAME =
  /(?:^|[\s_-])(?:date|dates|dateline|published|publish|pubdate|posted|timestamp|time|datum|fecha|data|meta)(?:[\s_-]|$)|[a-z](?:Date|Time)\b|pubdate|postdate|entrydate/i;
const META = 1 << GROUP_NAMES.indexOf('meta');
const AUTHOR = 1 << GROUP_NAMES.indexOf('author');

const HIDDEN = 1 << GROUP_NAMES.indexOf('hidden');

/** Bits above those of the groups: the class is that of a date, of an author, of what nobody ever sees. */
export const SAYS_DATE = 2 * MAY_DATE;
export const SAYS_AUTHOR = 4 * MAY_DATE;
export const SAYS_UNSEEN = 8 * MAY_DATE;
const SAYS_GROUPS = MAY_DATE - 1;

const borrowNumbers = clearedLender((size) => new Int32Array(size));

/**
 * The classes of a page by number, 0 for none. An element's class comes three times on a page and again on the next page
 * of its site, and what it says is asked for by many: each is read once.
 */
export class ClassNames {
  /** By index of an element: the number of its class. */
  readonly #numbers: Int32Array;
  // What is not kept beyond the page: too long, too rare, not plain.
  readonly #ownSays: number[] = [];
  readonly #ownLooks: number[] = [];
  readonly #ownNames: string[] = [];
  readonly #ownHashes = new Map<string, readonly number[]>();

  constructor(page: Page) {
    this.#numbers = borrowNumbers(page.nodeCount + 1);
    knownClasses.makeRoom();
  }

  /** Reads the class of an element; returns its groups and what else it says as bits. Only good while no other page is read. */
  read(index: number, table: AttributeTable, i: number): number {
    const number = this.#find(table, i);
    this.#numbers[index] = number;
    return this.#says(number);
  }

  /** The groups the class of an element belongs to, as bits. */
  groups(index: number): number {
    return this.#says(this.#numbers[index]!) & SAYS_GROUPS;
  }

  /** Its first word without digits as a number: the whole attribute tells items of one list apart. */
  look(index: number): number {
    const number = this.#numbers[index]!;
    return number < 0 ? this.#ownLooks[-number - 1]! : knownClasses.looks[number]!;
  }

  /** Its names and their words, as hashes. */
  hashes(index: number): readonly number[] {
    const number = this.#numbers[index]!;
    return number < 0 ? this.#hashesOf(this.#ownNames[-number - 1]!) : knownClasses.hashes(number);
  }

  #hashesOf(name: string): readonly number[] {
    const known = this.#ownHashes.get(name);
    if (known !== undefined) return known;
    const codes = codesOf(name, MAX_NAME_CHARS);
    const hashes = hashNames(codes, 0, codes.length);
    this.#ownHashes.set(name, hashes);
    return hashes;
  }

  #says(number: number): number {
    return number < 0 ? this.#ownSays[-number - 1]! : knownClasses.says[number]!;
  }

  #find(table: AttributeTable, i: number): number {
    const number = knownClasses.find(table, i);
    if (number !== UNKNOWN) return number;
    const name = table.value(i);
    const codes = codesOf(name, LOOK_CHARS);
    this.#ownLooks.push(lookOf(codes, 0, codes.length));
    this.#ownNames.push(name);
    return -this.#ownSays.push(withMarks(bitsOfName(name), name));
  }
}

const MASK = 8_191;
// Beyond half of the slots they would get crowded.
const MOST_CLASSES = 4_096;
const MOST_BYTES = 131_072;
// A page that begins with less room than this gets all of it.
const ROOM_SHARE = 0.75;
const UNKNOWN = -1;

/**
 * The classes that came last, whatever the page: domains are read a lease at a time, and pages of one share their
 * template. Values lie one after the other in one memory, so that a look compares bytes that are near each other; a map
 * of strings had to make a string of each value first. Emptied between two pages when it is full.
 */
class KnownClasses {
  /** By number: what the class says, and its look; number 0 is no class. */
  readonly says = new Int32Array(MOST_CLASSES);
  readonly looks = new Int32Array(MOST_CLASSES);
  readonly #hashes: (readonly number[] | undefined)[] = [];
  readonly #starts = new Int32Array(MOST_CLASSES + 1);
  readonly #bytes = new Uint8Array(MOST_BYTES);
  /** By hash: a number, 0 where there is none. */
  readonly #slots = new Int32Array(MASK + 1);
  #count = 1;

  /** Called between two pages: numbers given before are no longer good after it. */
  makeRoom(): void {
    if (this.#count < ROOM_SHARE * MOST_CLASSES && this.#starts[this.#count]! < ROOM_SHARE * MOST_BYTES)
      return;
    this.#slots.fill(0);
    this.#hashes.length = 0;
    this.#count = 1;
  }

  /** The hashes of a class, worked out when they are first asked for: most classes stand around no text. */
  hashes(number: number): readonly number[] {
    const known = this.#hashes[number];
    if (known !== undefined) return known;
    const hashes =
      number === 0 ? [] : hashNames(this.#bytes, this.#starts[number]!, this.#starts[number + 1]!);
    this.#hashes[number] = hashes;
    return hashes;
  }

  /** The number of a value, which is read if it is new; UNKNOWN where it cannot be kept. */
  find(table: AttributeTable, i: number): number {
    const { codes } = table.source;
    const start = table.start(i);
    const end = table.end(i);
    if (end - start > MAX_NAME_CHARS) return UNKNOWN;
    let hash = 0;
    for (let at = start; at < end; at++) {
      const code = codes[at]!;
      if (code === 38 || code > 127) return UNKNOWN;
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    let slot = (hash ^ (hash >>> 13)) & MASK;
    for (let number = this.#slots[slot]!; number !== 0; number = this.#slots[slot]!) {
      if (this.#isAt(number, codes, start, end)) return number;
      slot = (slot + 1) & MASK;
    }
    const number = this.#count;
    const from = this.#starts[number]!;
    if (number === MOST_CLASSES || from + end - start > MOST_BYTES) return UNKNOWN;
    const bits = bitsOfValue(table, i);
    // The words tell nearly all names apart without the patterns.
    this.says[number] =
      (bits & (META | AUTHOR | MAY_DATE | HIDDEN)) === 0 ? bits : withMarks(bits, table.value(i));
    this.looks[number] = lookOf(codes, start, end);
    for (let at = start; at < end; at++) this.#bytes[from + at - start] = codes[at]!;
    this.#starts[number + 1] = from + end - start;
    this.#slots[slot] = number;
    this.#count++;
    return number;
  }

  #isAt(number: number, codes: TextCodes, start: number, end: number): boolean {
    const from = this.#starts[number]!;
    if (this.#starts[number + 1]! - from !== end - start) return false;
    for (let at = start; at < end; at++) if (this.#bytes[from + at - start] !== codes[at]) return false;
    return true;
  }
}

const knownClasses = new KnownClasses();

// Parts of a template that are not for this page: no script ever shows them, as it may what is merely hidden.
const UNSEEN_NAME = /(?:^|\s)w-condition-invisible(?:\s|$)/;

function withMarks(bits: number, name: string): number {
  const mayDate =
    (bits & META) !== 0 || name.includes('ate') || name.includes('ublish') || name.includes('ime');
  return (
    bits |
    (mayDate && name.length < 300 && DATE_NAME.test(name) ? SAYS_DATE : 0) |
    ((bits & AUTHOR) !== 0 && isAuthorClass(name) ? SAYS_AUTHOR : 0) |
    ((bits & HIDDEN) !== 0 && UNSEEN_NAME.test(name) ? SAYS_UNSEEN : 0)
  );
}

/** The first characters of a name, as numbers. */
function codesOf(name: string, most: number): Uint16Array {
  const codes = new Uint16Array(Math.min(name.length, most));
  for (let i = 0; i < codes.length; i++) codes[i] = name.charCodeAt(i);
  return codes;
}

const LOOK_CHARS = 60;

function lookOf(codes: Uint8Array | Uint16Array, start: number, end: number): number {
  let hash = 0;
  let seen = false;
  for (let at = start; at < end && at < start + LOOK_CHARS; at++) {
    const code = codes[at]!;
    if (code <= 32) {
      if (seen) break;
      continue;
    }
    seen = true;
    if (code < 48 || code > 57) hash = (Math.imul(hash, 31) + code) | 0;
  }
  return hash;
}
