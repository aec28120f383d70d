import type { Page, PageNode } from '../html/index.ts';
import { lender } from './lent-memory.ts';

const borrowSteps = lender((size) => new Int32Array(size));
const borrowArticles = lender((size) => new Int32Array(size));
const borrowShares = lender((size) => new Uint8Array(size));

/** How the elements of a page stand to its headline; only good until the next page is read. */
export class HeadlineView {
  /** By element: steps up to what holds both it and the headline. */
  readonly #steps: Int32Array;
  /** The index of the innermost `<article>` on that way, -1 without one. */
  readonly #articles: Int32Array;
  /** Whether what holds both stands in an `<article>`. */
  readonly #shares: Uint8Array;

  constructor(page: Page, headline: PageNode | null) {
    const { nodes, nodeCount } = page;
    const steps = borrowSteps(nodeCount);
    const articles = borrowArticles(nodeCount);
    const shares = borrowShares(nodeCount);
    // Parents stand before their children, so what a parent knows is there.
    steps.fill(-1, 0, nodeCount);
    for (let at = headline; at !== null; at = at.parent) steps[at.index] = 0;
    for (let i = 0; i < nodeCount; i++) {
      const { tag, parent } = nodes[i]!;
      const up = parent === null ? -1 : parent.index;
      const isArticle = tag === 'article';
      const isAround = steps[i] === 0;
      if (!isAround) steps[i] = up < 0 ? 1 : steps[up]! + 1;
      articles[i] = isAround ? -1 : isArticle ? i : up < 0 ? -1 : articles[up]!;
      shares[i] = isAround && isArticle ? 1 : up < 0 ? 0 : shares[up]!;
    }
    this.#steps = steps;
    this.#articles = articles;
    this.#shares = shares;
  }

  steps(node: PageNode): number {
    return this.#steps[node.index]!;
  }

  article(node: PageNode): number {
    return this.#articles[node.index]!;
  }

  sharesArticle(node: PageNode): boolean {
    return this.#shares[node.index] === 1;
  }
}
