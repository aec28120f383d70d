import { type Page, type PageNode, TEXT } from '../html/index.ts';
import type { ClassNames } from './class-names.ts';
import { clearedLender, lender } from './lent-memory.ts';

// Siblings beyond this are not told apart any more.
const MAX_COMPARED = 2_000;

const borrowSignatures = clearedLender((size) => new Int32Array(size));
const borrowAlike = clearedLender((size) => new Int32Array(size));
const borrowDepths = lender((size) => new Int32Array(size));
const borrowPlaces = lender((size) => new Int32Array(size));
const borrowChildren = lender((size) => new Int32Array(size));

/**
 * What the features ask of elements again and again, worked out once for each and kept by the element's index: arrays
 * cost a third of maps by element, and the siblings of a list are looked at once instead of once for every entry. Only
 * good until the next page is read.
 */
export class NodeFacts {
  readonly #signatures: Int32Array;
  readonly #depths: Int32Array;
  /** By element: siblings that look the same, itself included; 0 until its parent's children were looked at. */
  readonly #alike: Int32Array;
  /** By element: its place among the elements of its parent. */
  readonly #places: Int32Array;
  /** By parent: how many elements it holds. */
  readonly #children: Int32Array;
  readonly #counts = new Map<number, number>();
  readonly #classes: ClassNames;

  constructor(page: Page, classes: ClassNames) {
    this.#classes = classes;
    const size = page.nodeCount + 1;
    this.#signatures = borrowSignatures(size);
    this.#depths = borrowDepths(size);
    this.#alike = borrowAlike(size);
    this.#places = borrowPlaces(size);
    this.#children = borrowChildren(size);
    this.#depths[0] = 1;
    for (let i = 1; i < page.nodeCount; i++)
      this.#depths[i] = this.#depths[page.nodes[i]!.parent!.index]! + 1;
  }

  /** The look of an element as a number. */
  signature(node: PageNode): number {
    const known = this.#signatures[node.index]!;
    if (known !== 0) return known;
    const found = signatureOf(node, this.#classes.look(node.index));
    this.#signatures[node.index] = found;
    return found;
  }

  /** Elements from this one up to the root, both counted. */
  depth(node: PageNode): number {
    return this.#depths[node.index]!;
  }

  /** How many elements of its parent look like this one, itself included. */
  alike(node: PageNode): number {
    if (node.parent === null) return 1;
    if (this.#alike[node.index] === 0) this.#lookAtChildren(node.parent);
    return this.#alike[node.index]!;
  }

  /** The place of an element among those of its parent, from 0. */
  place(node: PageNode): number {
    if (node.parent === null) return 0;
    if (this.#alike[node.index] === 0) this.#lookAtChildren(node.parent);
    return this.#places[node.index]!;
  }

  /** How many elements stand beside this one, itself included. */
  siblings(node: PageNode): number {
    if (node.parent === null) return 0;
    if (this.#alike[node.index] === 0) this.#lookAtChildren(node.parent);
    return this.#children[node.parent.index]!;
  }

  #lookAtChildren(parent: PageNode): void {
    const counts = this.#counts;
    counts.clear();
    let seen = 0;
    let place = 0;
    for (let child = parent.first; child !== null; child = child.next, seen++) {
      if (child.tag === TEXT) continue;
      this.#places[child.index] = place++;
      if (seen >= MAX_COMPARED) continue;
      const look = this.signature(child);
      counts.set(look, (counts.get(look) ?? 0) + 1);
    }
    this.#children[parent.index] = place;
    for (let child = parent.first; child !== null; child = child.next)
      if (child.tag !== TEXT) this.#alike[child.index] = counts.get(this.signature(child)) ?? 1;
  }
}

// A hash of 0 would be worked out again and again.
const NO_LOOK = 7;

/**
 * Its tag and first class without digits. The whole class attribute tells items of one list apart (WordPress writes
 * `post-123 category-x` on each), the tag alone throws everything together. A hash by hand, as building strings for
 * every sibling took a twentieth of a page's time.
 */
function signatureOf({ tag }: PageNode, look: number): number {
  let hash = look;
  for (let i = 0; i < tag.length; i++) hash = (Math.imul(hash, 31) + tag.charCodeAt(i)) | 0;
  return hash || NO_LOOK;
}
