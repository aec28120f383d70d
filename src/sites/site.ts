import { type ShapeCounts, Shapes } from './kinds.ts';
import { type PagerRule, Pagination } from './pagination.ts';
import { Traps, type Yield } from './traps.ts';

/** Everything that is remembered of one domain's pages. */
export type SiteFacts = {
  shapes: [string, ShapeCounts & { level: number }][];
  prefixes: [string, Yield][];
  rules: PagerRule[];
};

/** What has changed of a site since it was last saved. */
export type SiteChanges = SiteFacts & { refused: [string, number][] };

/**
 * What the spider knows of one domain: which shapes its articles and listings have, how its listings are paged, and
 * where it would walk for ever. Whoever holds the domain's lease learns alone.
 */
export class Site {
  readonly shapes: Shapes;
  readonly traps: Traps;
  readonly pagination: Pagination;
  #refused = new Map<string, number>();

  constructor(facts: SiteFacts = { shapes: [], prefixes: [], rules: [] }) {
    this.shapes = new Shapes(facts.shapes);
    this.traps = new Traps(facts.prefixes);
    this.pagination = new Pagination(facts.rules);
  }

  /** Counts links that were not followed, by reason. */
  refuse(reason: string, links = 1): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + links);
  }

  /** Takes what has changed, to be saved; null: nothing has. */
  takeChanges(): SiteChanges | null {
    const changes = {
      shapes: this.shapes.takeChanges(),
      prefixes: this.traps.takeChanges(),
      rules: this.pagination.takeChanges(),
      refused: [...this.#refused],
    };
    this.#refused = new Map();
    return Object.values(changes).some((list) => list.length > 0) ? changes : null;
  }

  /** Changes that could not be saved wait for the next time. */
  putBack(changes: SiteChanges): void {
    this.shapes.putBack(changes.shapes);
    this.traps.putBack(changes.prefixes);
    this.pagination.putBack(changes.rules);
    for (const [reason, links] of changes.refused) this.refuse(reason, links);
  }
}
