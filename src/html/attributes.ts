import type { TextSource } from '../text/index.ts';
import { decodeEntities } from './entities.ts';

const LONG_CHARS = 1_000;

/**
 * The attributes of all elements of a page in their order: an element's are a run of numbers. Only the places of the
 * values are kept; a value is cut out and decoded when somebody asks for it, which for four in five nobody does. Strings
 * and an array for every element were a quarter of the parser's time and most of its garbage.
 */
export class AttributeTable {
  readonly source: TextSource;
  readonly names: string[] = [];
  /** Where values begin in the source, and the place after their end. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** Long values by their place: many may ask for the megabytes of one. */
  readonly #long = new Map<number, string>();

  constructor(source: TextSource) {
    this.source = source;
  }

  get count(): number {
    return this.names.length;
  }

  add(name: string, start: number, end: number): void {
    this.names.push(name);
    this.starts.push(start);
    this.ends.push(end);
  }

  /** Adds a run of attributes again, so that they stand together with others. */
  repeat(from: number, to: number): void {
    for (let i = from; i < to; i++) this.add(this.names[i]!, this.starts[i]!, this.ends[i]!);
  }

  /** The value of an attribute. */
  value(i: number): string {
    const start = this.starts[i]!;
    const end = this.ends[i]!;
    if (end - start < LONG_CHARS) return readDecoded(this.source, start, end);
    const known = this.#long.get(start) ?? readDecoded(this.source, start, end);
    this.#long.set(start, known);
    return known;
  }

  /** Whether the value of an attribute stands in the source letter by letter: ASCII without entities. */
  isPlain(i: number): boolean {
    return isPlain(this.source, this.starts[i]!, this.ends[i]!);
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
