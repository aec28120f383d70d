import type { AttributeTable, Page } from '../html/index.ts';
import { isAuthorClass } from './authors.ts';
import { lender } from './lent-memory.ts';
import { bitsOfName, bitsOfValue, GROUP_NAMES, MAY_DATE } from './name-groups.ts';
import { MAX_NAME_CHARS } from './name-words.ts';

const DATE_NAME =
  /(?:^|[\s_-])(?:date|dates|dateline|published|publish|pubdate|posted|timestamp|time|datum|fecha|data|meta)(?:[\s_-]|$)|[a-z](?:Date|Time)\b|pubdate|postdate|entrydate/i;
const META = 1 << GROUP_NAMES.indexOf('meta');
const AUTHOR = 1 << GROUP_NAMES.indexOf('author');

/** Bits above those of the groups: the class is that of a date, of an author. */
export const SAYS_DATE = 2 * MAY_DATE;
export const SAYS_AUTHOR = 4 * MAY_DATE;
const SAYS_GROUPS = MAY_DATE - 1;

const MASK = 2_047;
// Beyond this a page hardly repeats its classes, and slots would get crowded.
const MAX_SHARED = 1_500;
const borrowSlots = lender((size) => new Int32Array(size));

/**
 * The classes of a page by number, 0 for none. An element's class comes three times on a page, and what it says is asked
 * for by many: each is read once.
 */
export class ClassNames {
  /** By index of an element: the number of its class. */
  readonly #numbers: Int32Array;
  /** By number: what the class says, and its look. */
  readonly #says = [0];
  readonly #looks = [0];
  readonly #starts = [0];
  readonly #ends = [0];
  readonly #slots: Int32Array;

  constructor(page: Page) {
    this.#numbers = new Int32Array(page.nodeCount + 1);
    this.#slots = borrowSlots(MASK + 1).fill(0);
  }

  /** Reads the class of an element; returns its groups, SAYS_DATE and SAYS_AUTHOR as bits. Only good while no other page is read. */
  read(index: number, table: AttributeTable, i: number): number {
    const number = this.#find(table, i);
    this.#numbers[index] = number;
    return this.#says[number]!;
  }

  /** The groups the class of an element belongs to, as bits. */
  groups(index: number): number {
    return this.#says[this.#numbers[index]!]! & SAYS_GROUPS;
  }

  /** Its first word without digits as a number: the whole attribute tells items of one list apart. */
  look(index: number): number {
    return this.#looks[this.#numbers[index]!]!;
  }

  #find(table: AttributeTable, i: number): number {
    const { codes } = table.source;
    const start = table.starts[i]!;
    const end = table.ends[i]!;
    if (end - start > MAX_NAME_CHARS) return this.#readAlone(table.value(i));
    let hash = 0;
    for (let at = start; at < end; at++) {
      const code = codes[at]!;
      if (code === 38 || code > 127) return this.#readAlone(table.value(i));
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    let slot = (hash ^ (hash >>> 11)) & MASK;
    for (let number = this.#slots[slot]!; number !== 0; number = this.#slots[slot]!) {
      if (this.#isAt(number, table, i)) return number;
      slot = (slot + 1) & MASK;
    }
    const bits = bitsOfValue(table, i);
    // The words tell nearly all names apart without the patterns.
    const says = (bits & (META | AUTHOR | MAY_DATE)) === 0 ? bits : withMarks(bits, table.value(i));
    const number = this.#add(says, lookOf(codes, start, end), start, end);
    if (number < MAX_SHARED) this.#slots[slot] = number;
    return number;
  }

  #isAt(number: number, { source, starts, ends }: AttributeTable, i: number): boolean {
    const { codes } = source;
    const start = starts[i]!;
    const from = this.#starts[number]!;
    const length = ends[i]! - start;
    if (this.#ends[number]! - from !== length) return false;
    for (let at = 0; at < length; at++) if (codes[from + at] !== codes[start + at]) return false;
    return true;
  }

  #readAlone(name: string): number {
    const codes = Uint16Array.from({ length: Math.min(name.length, LOOK_CHARS) }, (_, at) =>
      name.charCodeAt(at),
    );
    return this.#add(withMarks(bitsOfName(name), name), lookOf(codes, 0, codes.length), 0, 0);
  }

  #add(says: number, look: number, start: number, end: number): number {
    this.#looks.push(look);
    this.#starts.push(start);
    this.#ends.push(end);
    return this.#says.push(says) - 1;
  }
}

function withMarks(bits: number, name: string): number {
  const mayDate =
    (bits & META) !== 0 || name.includes('ate') || name.includes('ublish') || name.includes('ime');
  return (
    bits |
    (mayDate && name.length < 300 && DATE_NAME.test(name) ? SAYS_DATE : 0) |
    ((bits & AUTHOR) !== 0 && isAuthorClass(name) ? SAYS_AUTHOR : 0)
  );
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
