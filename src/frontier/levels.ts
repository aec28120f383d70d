import type { UrlKind, UrlOrigin } from './rows.ts';

/** What a URL's priority is made of. */
export type PriorityInput = {
  /** The source's base priority, 1–10. */
  base: number;
  origin: UrlOrigin;
  kind: UrlKind;
  depth: number;
  /** Points to another registrable domain than the page it was found on. */
  external: boolean;
};

const bonus: Partial<Record<UrlOrigin, number>> = { feed: 2, push: 2, sitemap: 1 };

/** Priority 1–10: the source's base, a bonus for fresh origins, less for depth and foreign links; archives come last. */
export function decidePriority(input: PriorityInput): number {
  if (input.origin === 'archive') return 1;
  const spider = input.origin === 'spider';
  const points =
    input.base +
    (bonus[input.origin] ?? 0) +
    (spider && input.kind === 'article' ? 1 : 0) -
    (spider ? input.depth : 0) -
    (input.external ? 2 : 0);
  return Math.max(1, Math.min(10, points));
}

/** Level 1–12 orders the work: probes first because someone waits, then polls, then pages by priority. */
export function levelOf(kind: UrlKind, priority: number): number {
  if (kind === 'probe') return 12;
  return kind === 'channel' ? 11 : priority;
}
