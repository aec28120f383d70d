import { shapesOf } from '../url/index.ts';
import { sampledShape } from './kinds.ts';

/** What came of the pages under a path, or of one page with parameters. */
export type Yield = {
  /** Pages that were fetched for the first time. */
  pages: number;
  /** Those of them that were articles or led to some. */
  content: number;
  /** Pages since the last one with content; with parameters, since the last one that brought something new. */
  barren: number;
  /** Barren pages by their shape; 0: known by links only. */
  shapes: Record<string, number>;
  cap: Cap | null;
};

/** Why nothing is fetched under a path any more. */
export type Cap = { reason: string; atMs: number };

/** Prefixes that are kept for one domain. */
export const mostPrefixes = 500;
const mostShapesEach = 20;
const deepestPrefix = 3;

// Two pages of every shape that the prefix is known to have, and three in all: a calendar has days and months, an
// archive has years without articles and months with some.
const barrenOfShape = 2;
const leastBarren = 3;
// Some traps have a new shape with every step.
const mostBarren = 6;
// Content once is no promise for ever.
const longBarren = 40;
// Parameters that show known articles in another order never end, and are no loss.
const longRepeating = 12;

/** The prefixes whose yield an address counts for: its folders up to the first slug, and its page with any parameters. */
export function prefixesOf(url: string): string[] {
  const shapes = shapesOf(url);
  if (shapes === null) return [];
  const [path = '', query] = shapes[0].split('?', 2);
  const prefixes: string[] = [];
  let prefix = '/';
  for (const segment of path.split('/').filter((one) => one !== '')) {
    if (/^\{(?:slug4|id)/.test(segment) || prefixes.length >= deepestPrefix) break;
    // Years and days are numbers: a trap in each of them is one trap.
    prefix += `${segment.replace(/\{(?:y|m|n|date)\}/g, '{n}')}/`;
    prefixes.push(prefix);
  }
  if (query !== undefined) prefixes.push(`${path.replace(/\/$/, '') || '/'}?`);
  return prefixes;
}

const nothing = (): Yield => ({ pages: 0, content: 0, barren: 0, shapes: {}, cap: null });

/** Whether a prefix is a trap by what it gave, and why. */
export function decideCap(prefix: string, given: Yield): string | null {
  if (prefix.endsWith('?') && given.content > 0)
    return given.barren >= longRepeating ? `${given.barren} pages in a row brought nothing new` : null;
  if (given.content > 0)
    return given.barren >= longBarren ? `${given.barren} pages in a row without content` : null;
  const words = `${given.pages} pages and no content`;
  if (given.barren >= mostBarren) return words;
  const everyShape = Object.values(given.shapes).every((count) => count >= barrenOfShape);
  return given.barren >= leastBarren && everyShape ? words : null;
}

/** What a page that was fetched for the first time came to. */
export type PageYield = {
  /** It is an article, or has links to some. */
  content: boolean;
  /** Some of these were not known. */
  news: boolean;
};

/** The yield of a domain's prefixes; changes are kept apart until they are saved. */
export class Traps {
  readonly #known: Map<string, Yield>;
  #changed = new Set<string>();

  constructor(known: Iterable<[string, Yield]> = []) {
    this.#known = new Map(known);
  }

  /** The cap that an address lies under. */
  capOf(url: string): (Cap & { prefix: string }) | null {
    for (const prefix of prefixesOf(url)) {
      const cap = this.#known.get(prefix)?.cap;
      if (cap) return { prefix, ...cap };
    }
    return null;
  }

  /** Whether something under the first folder of an address had content. */
  isProven(url: string): boolean {
    const [prefix] = prefixesOf(url);
    return prefix === undefined || (this.#known.get(prefix)?.content ?? 0) > 0;
  }

  /** A link was followed: its shape is one that the prefixes have, until pages of it say more. */
  noteLink(url: string): void {
    const shape = sampledShape(url);
    if (shape === null) return;
    for (const prefix of prefixesOf(url)) {
      const given = this.#known.get(prefix) ?? nothing();
      if (given.content > 0 || Object.hasOwn(given.shapes, shape)) continue;
      if (Object.keys(given.shapes).length >= mostShapesEach) continue;
      this.#put(prefix, { ...given, shapes: { ...given.shapes, [shape]: 0 } });
    }
  }

  /**
   * Whether a page should wait for others of its prefix: enough of its shape gave nothing, and another shape there was
   * never looked at.
   */
  shouldWait(url: string): boolean {
    const shape = sampledShape(url);
    if (shape === null) return false;
    return prefixesOf(url).some((prefix) => {
      const given = this.#known.get(prefix);
      if (given === undefined || given.content > 0 || given.cap !== null) return false;
      return (
        (given.shapes[shape] ?? 0) >= barrenOfShape &&
        Object.values(given.shapes).some((count) => count === 0)
      );
    });
  }

  /** Counts a page and answers the caps that follow from it. */
  learn(url: string, page: PageYield, nowMs: number): { prefix: string; reason: string }[] {
    const shape = sampledShape(url);
    if (shape === null) return [];
    const caps: { prefix: string; reason: string }[] = [];
    for (const prefix of prefixesOf(url)) {
      const before = this.#known.get(prefix) ?? nothing();
      // What lies deeper is cut off with it.
      if (before.cap !== null || caps.length > 0) break;
      const good = prefix.endsWith('?') && before.content > 0 ? page.news : page.content;
      const after: Yield = {
        ...before,
        pages: before.pages + 1,
        content: before.content + (page.content ? 1 : 0),
        barren: good ? 0 : before.barren + 1,
        // What has content needs no shapes.
        shapes:
          before.content > 0 || page.content
            ? {}
            : { ...before.shapes, [shape]: (before.shapes[shape] ?? 0) + 1 },
      };
      const reason = decideCap(prefix, after);
      if (reason !== null) {
        after.cap = { reason, atMs: nowMs };
        caps.push({ prefix, reason });
      }
      this.#put(prefix, after);
    }
    return caps;
  }

  #put(prefix: string, given: Yield): void {
    if (!this.#known.has(prefix) && this.#known.size >= mostPrefixes) return;
    this.#known.set(prefix, given);
    this.#changed.add(prefix);
  }

  /** What has changed since it was last taken, whole. */
  takeChanges(): [string, Yield][] {
    const changes = [...this.#changed].map((prefix): [string, Yield] => [prefix, this.#known.get(prefix)!]);
    this.#changed = new Set();
    return changes;
  }

  /** Changes that could not be saved wait for the next time. */
  putBack(changes: readonly [string, Yield][]): void {
    for (const [prefix] of changes) this.#changed.add(prefix);
  }
}
