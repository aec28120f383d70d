import { decidePriority, type LeasedUrl, type SubmitItem } from '../frontier/index.ts';
import type { PageFacts, SpiderLink, SpiderRules } from '../ingest/index.ts';
import type { NextPage, Site } from '../sites/index.ts';
import { unknownShape } from '../url/index.ts';

const defaultDepth = 3;
// What nobody knows goes last, but for the first of each shape: one of them may be the site's articles. A listing that
// has proven nothing goes behind those that have.
const sampleFalls = 3;
const firstSampleFalls = 1;
const unprovenFalls = 1;

/** What a page's links came to: what to submit, which of it nobody knows, and why the rest is left. */
export type Choice = {
  items: SubmitItem[];
  samples: ReadonlySet<string>;
  refused: ReadonlyMap<string, number>;
};

/** A page that was read, with what it is read for. */
export type ReadPage = { row: LeasedUrl; rules: SpiderRules; page: PageFacts; pagers: boolean };

/** The links of a page that are worth a request; all others are counted by the reason. */
export function chooseLinks(site: Site, { row, rules, page, pagers }: ReadPage): Choice {
  const refused = new Map(Object.entries(page.refused));
  if (pagers && page.kind !== 'article') site.pagination.learnPagers(page.pagers);
  const depth = row.depth + 1;
  const maxDepth = rules.settings.maxDepth || defaultDepth;
  const isTooDeep = maxDepth > 0 && depth > maxDepth;
  const items: SubmitItem[] = [];
  const samples = new Set<string>();
  for (const link of page.links) {
    if (link.url === row.url || link.url === page.url) continue;
    const reason = reasonAgainst(site, link, { isTooDeep, pagers });
    if (reason !== null) {
      refused.set(reason, (refused.get(reason) ?? 0) + 1);
      continue;
    }
    const isSample = link.kind === 'other';
    const isFirst = isSample && site.shapes.isFresh(link.url);
    if (isSample) samples.add(link.url);
    const kind = link.kind === 'listing' ? 'listing' : 'article';
    const isUnproven = kind === 'listing' && !link.external && !site.traps.isProven(link.url);
    if (!link.external && (isSample || kind === 'listing')) site.traps.noteLink(link.url);
    const falls = isFirst ? firstSampleFalls : isSample ? sampleFalls : isUnproven ? unprovenFalls : 0;
    items.push(
      itemOf(row, rules, {
        url: link.url,
        kind,
        depth,
        external: link.external,
        falls,
        parentUrl: page.url,
      }),
    );
  }
  return { items, samples, refused };
}

function reasonAgainst(
  site: Site,
  link: SpiderLink,
  { isTooDeep, pagers }: { isTooDeep: boolean; pagers: boolean },
): string | null {
  if (!link.external) {
    // The pages of a listing are asked for one after the other.
    if (pagers && site.pagination.placeOf(link.url) !== null) return 'pager';
    if (site.traps.capOf(link.url) !== null) return 'trap';
  }
  if (link.kind === 'other' && link.reason !== unknownShape)
    return link.reason.startsWith('learned') ? 'learned_other' : link.reason.replaceAll(' ', '_');
  if (isTooDeep) return 'depth';
  if (link.kind !== 'other') return null;
  return !link.external && site.shapes.sample(link.url, link.isHeadline) ? null : 'unknown_shape';
}

/** The page of a listing that comes next, as it is submitted. */
export function nextPageItem(
  { row, rules }: Pick<ReadPage, 'row' | 'rules'>,
  next: NextPage,
  found: { parentUrl: string; nowMs: number },
): SubmitItem {
  return itemOf(row, rules, {
    url: next.url,
    kind: 'listing',
    // Pages of a listing are as deep as the listing.
    depth: row.depth,
    external: false,
    falls: next.guessed ? unprovenFalls : 0,
    parentUrl: found.parentUrl,
    // A page that is known is read again.
    ...(next.again ? { modifiedAt: new Date(found.nowMs) } : {}),
  });
}

function itemOf(
  row: LeasedUrl,
  rules: SpiderRules,
  about: {
    url: string;
    kind: 'article' | 'listing';
    depth: number;
    external: boolean;
    /** Levels below what it would have. */
    falls: number;
    parentUrl: string;
    modifiedAt?: Date;
  },
): SubmitItem {
  const { url, kind, depth, external, falls, parentUrl, modifiedAt } = about;
  // What an archive lists comes last, as the archive itself does.
  const origin = row.origin === 'archive' ? 'archive' : 'spider';
  const priority = decidePriority({ base: rules.priority, origin, kind, depth, external });
  return {
    url,
    kind,
    origin,
    sourceId: row.sourceId,
    priority: Math.max(1, priority - falls),
    depth,
    parentUrl,
    executionId: row.executionId,
    own: !external,
    ...(modifiedAt === undefined ? {} : { modifiedAt }),
  };
}
