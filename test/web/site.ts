import { headlineOf, revisionsOf, type Story, sectionOf, writeStory } from './article.ts';
import type { ActiveFault } from './faults/fault.ts';
import { articlePath } from './paths.ts';
import type { Publisher } from './publisher.ts';
import { shareOf } from './random.ts';
import { createTimeline, type Item, type Timeline } from './timeline.ts';

const duplicateShare = 0.12;
const syndicatedShare = 0.2;
const syndicationLagMs = 600_000;
/** How far back a copy looks for an original. */
const maxLookBack = 20;

/** What lists and feeds say about an item. */
export interface Described {
  item: Item;
  title: string;
  section: { slug: string; name: string };
  path: string;
  url: string;
}

/** Where an item's text comes from. */
export type Origin =
  | { kind: 'own' }
  | { kind: 'duplicate'; item: Item }
  | { kind: 'syndicated'; site: Site; item: Item };

/** A publisher at run time: its order of publication, its faults and what was described so far. */
export interface Site {
  readonly publisher: Publisher;
  readonly seed: number;
  readonly timeline: Timeline;
  /** Faults in force; replaced as a whole, never changed in place. */
  faults: readonly ActiveFault[];
  /** The publisher it takes articles from. */
  partner: Site | undefined;
  describe(item: Item): Described;
  originOf(item: Item): Origin;
  storyOf(item: Item, nowMs: number): Story;
  /** When the text last changed, as known at a moment. */
  changedAt(item: Item, nowMs: number): number;
}

/** Builds the run-time side of a publisher; the catalogue is drawn when it is first asked for. */
export function createSite(options: { seed: number; publisher: Publisher; startMs: number }): Site {
  const { seed, publisher, startMs } = options;
  let timeline: Timeline | undefined;
  const described = new Map<number, Described>();

  const site: Site = {
    publisher,
    seed,
    get timeline() {
      const { domain, ratePerDay, backlog } = publisher;
      timeline ??= createTimeline({ seed, domain, ratePerDay, backlog, startMs });
      return timeline;
    },
    faults: [],
    partner: undefined,
    describe(item) {
      let known = described.get(item.id);
      if (known === undefined) {
        known = describeItem(site, item);
        described.set(item.id, known);
      }
      return known;
    },
    originOf: (item) => originOf(site, item),
    storyOf: (item, nowMs) => storyOf(site, item, nowMs),
    changedAt: (item, nowMs) => changedAt(site, item, nowMs),
  };
  return site;
}

function describeItem(site: Site, item: Item): Described {
  const { publisher, seed } = site;
  const origin = site.originOf(item);
  const section = sectionOf(seed, publisher, item);
  let title: string;
  if (origin.kind === 'own') title = headlineOf(seed, publisher, item);
  else if (origin.kind === 'duplicate') title = headlineOf(seed, publisher, origin.item);
  else title = headlineOf(seed, origin.site.publisher, origin.item);
  const path = articlePath(publisher, item, { title, section: section.slug });
  return { item, title, section, path, url: `http://${publisher.host}${path}` };
}

function isCopy(site: Site, item: Item): boolean {
  const { publisher, seed } = site;
  const share = shareOf(seed, publisher.domain, 'copy', item.id);
  return (
    (publisher.duplicates && share < duplicateShare) || (publisher.syndicates && share > 1 - syndicatedShare)
  );
}

function originOf(site: Site, item: Item): Origin {
  const { publisher, seed, partner } = site;
  if (!isCopy(site, item)) return { kind: 'own' };
  const share = shareOf(seed, publisher.domain, 'copy', item.id);
  if (publisher.duplicates && share < duplicateShare) {
    const original = lastOwn(site, item.index - 1);
    return original === undefined ? { kind: 'own' } : { kind: 'duplicate', item: original };
  }
  if (partner === undefined) return { kind: 'own' };
  const original = lastOwn(partner, partner.timeline.countAt(item.atMs - syndicationLagMs) - 1);
  return original === undefined ? { kind: 'own' } : { kind: 'syndicated', site: partner, item: original };
}

function lastOwn(site: Site, from: number): Item | undefined {
  for (let index = from; index >= 0 && index > from - maxLookBack; index--) {
    const item = site.timeline.at(index);
    if (item !== undefined && !isCopy(site, item)) return item;
  }
  return undefined;
}

function storyOf(site: Site, item: Item, nowMs: number): Story {
  const origin = site.originOf(item);
  if (origin.kind === 'duplicate') return site.storyOf(origin.item, nowMs);
  if (origin.kind === 'syndicated') {
    const story = origin.site.storyOf(origin.item, nowMs);
    // Half of the copies are word for word, the others carry a credit: exact and near duplicates.
    if (item.id % 2 === 0) return story;
    const credit = { kind: 'p' as const, text: `(${origin.site.publisher.title.replace(/[&<>]/g, '')})` };
    return { ...story, blocks: [...story.blocks, credit] };
  }
  const revisions = revisionsOf(site.seed, site.publisher, item, nowMs).length;
  return writeStory(site.seed, site.publisher, item, { revisions });
}

function changedAt(site: Site, item: Item, nowMs: number): number {
  const origin = site.originOf(item);
  if (origin.kind === 'duplicate') return Math.max(item.atMs, site.changedAt(origin.item, nowMs));
  if (origin.kind === 'syndicated') return Math.max(item.atMs, origin.site.changedAt(origin.item, nowMs));
  return revisionsOf(site.seed, site.publisher, item, nowMs).at(-1) ?? item.atMs;
}
