import type { TextSource } from '../text/index.ts';
import { decodeEntities } from './entities.ts';

const LONG_CHARS = 1_000;
// Characters of a page for each attribute; most pages have fewer attributes.
const USUAL_CHARS = 60;

/**
 * The attributes of all elements of a page in their order: an element's are a run of numbers. Only the places of the
 * values are kept; a value is cut out and decoded when somebody asks for it, which for four in five nobody does. Strings
 * and an array for every element were a quarter of the parser's time and most of its garbage.
 */
export class AttributeTable {
  readonly source: TextSource;
  /** As many as `count`; there is room for more behind them. */
  readonly names: string[];
  count = 0;
  /** In turns: where a value begins in the source, and the place after its end. Lists of numbers left four times the garbage. */
  #places: Int32Array;
  /** Long values by their place: many may ask for the megabytes of one. */
  readonly #long = new Map<number, string>();

  constructor(source: TextSource) {
    this.source = source;
    const room = Math.ceil(source.raw.length / USUAL_CHARS + 16);
    this.names = new Array<string>(room).fill('');
    this.#places = new Int32Array(2 * room);
  }

  add(name: string, start: number, end: number): void {
    const at = this.count++;
    if (2 * at >= this.#places.length) this.#grow();
    this.names[at] = name;
    this.#places[2 * at] = start;
    this.#places[2 * at + 1] = end;
  }

  /** Where the value of an attribute begins in the source. */
  start(i: number): number {
    return this.#places[2 * i]!;
  }

  /** The place after its end. */
  end(i: number): number {
    return this.#places[2 * i + 1]!;
  }

  #grow(): void {
    const places = new Int32Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
  }

  /** Adds a run of attributes again, so that they stand together with others. */
  repeat(from: number, to: number): void {
    for (let i = from; i < to; i++) this.add(this.names[i]!, this.start(i), this.end(i));
  }

  /** The value of an attribute. */
  value(i: number): string {
    const start = this.start(i);
    const end = this.end(i);
    if (end - start < LONG_CHARS) return readDecoded(this.source, start, end);
    const known = this.#long.get(start) ?? readDecoded(this.source, start, end);
    this.#long.set(start, known);
    return known;
  }

  /** Whether the value of an attribute stands in the source letter by letter: ASCII without entities. */
  isPlain(i: number): boolean {
    return isPlain(this.source, this.start(i), this.end(i));
  }
}

const AMPERSAND = 38;
const LAST_ASCII = 127;

/** Whether a piece of a page is ASCII without entities. */
function isPlain({ codes }: TextSource, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = codes[at]!;
    if (code === AMPERSAND || code > LAST_ASCII) return false;
  }
  return true;
}

/** The text of a piece of a page with its entities read. */
export function readDecoded(source: TextSource, start: number, end: number): string {
  if (start === end) return '';
  if (isPlain(source, start, end)) return source.raw.slice(start, end);
  const text = source.read(start, end);
  return text.includes('&') ? decodeEntities(text) : text;
}
