import { isSingle, type LearnedKinds, type PageKind, shapesOf } from '../url/index.ts';

/** What pages of one shape turned out to be, and how many addresses of it were submitted while nobody knew. */
export type ShapeCounts = { article: number; listing: number; other: number; sampled: number };

/** Shapes that are kept for one domain: more of them are noise, or somebody's trap. */
export const mostShapes = 600;

// How much evidence a shape needs, by how general it is: one address speaks for itself, a shape of slugs for thousands.
const leastExact = 2;
const leastGeneral = 3;
const leastCoarse = 5;
// That a whole shape is not worth a request is said later: it would never be looked at again.
const leastOther = 6;
const leastOtherExact = 4;
const sureShare = 0.8;

/** The kind that pages of a shape have; null: too few are known, or they differ. */
export function decideKind(shape: string, level: number, counts: ShapeCounts): PageKind | null {
  const total = counts.article + counts.listing + counts.other;
  const least = level === 0 ? (isSingle(shape) ? 1 : leastExact) : level === 1 ? leastGeneral : leastCoarse;
  if (total < least) return null;
  for (const kind of ['article', 'listing', 'other'] as const) {
    if (counts[kind] < total * sureShare) continue;
    if (kind !== 'other' || isSingle(shape)) return kind;
    return total < (level === 0 ? leastOtherExact : leastOther) ? null : kind;
  }
  return null;
}

// A shape that is still unclear after so many pages stays so: its addresses are not asked for any more.
const mostUnclear = 20;
// Addresses of an unknown shape that wait until it is known. Headlines are worth keeping, for nobody names them again.
const mostWaiting = 300;
const mostOthersWaiting = 30;
const freshSamples = 6;

/** Whether another address of a shape that nobody knows may wait for its turn. */
export function mayWait(counts: ShapeCounts | undefined, isHeadline: boolean): boolean {
  if (counts === undefined) return true;
  return !isUnclear(counts) && counts.sampled < (isHeadline ? mostWaiting : mostOthersWaiting);
}

/** Whether enough pages of a shape were read to say that it says nothing. */
export const isUnclear = ({ article, listing, other }: ShapeCounts): boolean =>
  article + listing + other >= mostUnclear;

/** The shape whose samples are counted: the general one, or all parameters of one page together. */
export function sampledShape(url: string): string | null {
  const shapes = shapesOf(url);
  if (shapes === null) return null;
  return shapes[1].includes('?') ? shapes[2] : shapes[1];
}

const mostAsked = 5000;
const levelOf = (shape: string): number => (shape.endsWith('?…') ? 2 : 1);

/** Counts by shape, and the kinds that follow; changes are kept apart until they are saved. */
export class Shapes {
  readonly #counts: Map<string, ShapeCounts & { level: number }>;
  readonly #changes = new Map<string, ShapeCounts & { level: number }>();
  readonly #asked = new Set<string>();
  #kinds: Record<string, PageKind> | null = null;

  constructor(known: Iterable<[string, ShapeCounts & { level: number }]> = []) {
    this.#counts = new Map(known);
  }

  /** A page of this address turned out to be of this kind. */
  learn(url: string, kind: PageKind): void {
    const shapes = shapesOf(url);
    if (shapes === null) return;
    // Two levels may have one name; it counts once, at the more telling level.
    for (const [level, shape] of shapes.entries())
      if (shapes.indexOf(shape) === level) this.#add(shape, level, kind);
  }

  /** Whether an address of a shape nobody knows may be submitted to find out; counts it if so. */
  sample(url: string, isHeadline: boolean): boolean {
    const shape = sampledShape(url);
    if (shape === null || this.#asked.has(url) || !mayWait(this.#counts.get(shape), isHeadline)) return false;
    // The same links stand on every page.
    if (this.#asked.size >= mostAsked) this.#asked.clear();
    this.#asked.add(url);
    return this.#add(shape, levelOf(shape), 'sampled');
  }

  /** The site is read anew: what was asked for before and never read may be asked for again. */
  beginRound(): void {
    this.#asked.clear();
  }

  /** Whether few addresses of its shape wait. */
  isFresh(url: string): boolean {
    const shape = sampledShape(url);
    return shape !== null && (this.#counts.get(shape)?.sampled ?? 0) <= freshSamples;
  }

  /** It was known already and tells nothing new. */
  unsample(url: string): void {
    const shape = sampledShape(url);
    if (shape !== null) this.#add(shape, levelOf(shape), 'sampled', -1);
  }

  /** Whether pages of its shape are of no one kind, as far as was looked. */
  isUnclear(url: string): boolean {
    const shape = sampledShape(url);
    const counts = shape === null ? undefined : this.#counts.get(shape);
    return counts !== undefined && isUnclear(counts);
  }

  #add(shape: string, level: number, what: keyof ShapeCounts, by = 1): boolean {
    const before = this.#counts.get(shape);
    if (before === undefined && this.#counts.size >= mostShapes) return false;
    const none = { article: 0, listing: 0, other: 0, sampled: 0, level };
    const after = { ...(before ?? none) };
    after[what] += by;
    this.#counts.set(shape, after);
    const change = this.#changes.get(shape) ?? { ...none, level: after.level };
    change[what] += by;
    this.#changes.set(shape, change);
    this.#kinds = null;
    return true;
  }

  /** What is sure by now, for `classifyUrl`. */
  get kinds(): LearnedKinds {
    if (this.#kinds !== null) return this.#kinds;
    const kinds: Record<string, PageKind> = {};
    for (const [shape, counts] of this.#counts) {
      const kind = decideKind(shape, counts.level, counts);
      if (kind !== null) kinds[shape] = kind;
    }
    this.#kinds = kinds;
    return kinds;
  }

  /** What has changed since it was last taken, as differences. */
  takeChanges(): [string, ShapeCounts & { level: number }][] {
    const changes = [...this.#changes];
    this.#changes.clear();
    return changes;
  }

  /** Changes that could not be saved wait for the next time. */
  putBack(changes: readonly [string, ShapeCounts & { level: number }][]): void {
    for (const [shape, counts] of changes) {
      const since = this.#changes.get(shape);
      this.#changes.set(shape, since === undefined ? counts : sum(counts, since));
    }
  }
}

const sum = (a: ShapeCounts & { level: number }, b: ShapeCounts): ShapeCounts & { level: number } => ({
  level: a.level,
  article: a.article + b.article,
  listing: a.listing + b.listing,
  other: a.other + b.other,
  sampled: a.sampled + b.sampled,
});
