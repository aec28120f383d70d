import type { Capture } from './capture.ts';
import { lineValue, rawText } from './capture.ts';
import { addUnique } from './draft.ts';
import type { Feed } from './model.ts';
import { oneLine, resolveLink, wholeNumber } from './values.ts';

const periodSeconds = new Map<string, number>([
  ['hourly', 3600],
  ['daily', 86_400],
  ['weekly', 604_800],
  ['monthly', 2_592_000],
  ['yearly', 31_536_000],
]);

const textFields = new Set([
  'title',
  'dc:title',
  'link',
  'language',
  'dc:language',
  'ttl',
  'sy:updateperiod',
  'sy:updatefrequency',
]);

// Known fields whose values are not kept: they still end a field that was left open.
const otherFields = new Set([
  ...[
    'description',
    'tagline',
    'subtitle',
    'pubdate',
    'lastbuilddate',
    'generator',
    'copyright',
    'author',
    'id',
  ],
  ...['updated', 'modified', 'managingeditor', 'webmaster', 'docs', 'category', 'icon', 'logo'],
]);

/** Whether an element of a channel is one of its fields. */
export function isFeedField(key: string): boolean {
  return textFields.has(key) || otherFields.has(key);
}

/** Stores what a feed's own elements say in attributes. */
export function applyFeedAttributes(
  feed: Feed,
  key: string,
  attributes: Record<string, string>,
  base: string | null,
): void {
  if (feed.language === null && attributes['xml:lang'] !== undefined && key !== 'link' && key !== 'title')
    feed.language = oneLine(attributes['xml:lang'].slice(0, 100));
  const href = attributes.href;
  if (key === 'channel' && href !== undefined) feed.link ??= resolveLink(href, base);
  if (key !== 'link' || href === undefined) return;
  const url = resolveLink(href, base);
  if (url === null) return;
  const relations = (attributes.rel ?? 'alternate').toLowerCase().trim().split(/\s+/);
  if (relations.includes('self')) feed.self ??= url;
  if (relations.includes('hub') && feed.hubs.length < 20) addUnique(feed.hubs, url);
  if (relations.includes('alternate') && !/atom|rss|json/i.test(attributes.type ?? '')) feed.link ??= url;
}

/** Stores a field of the feed when its element ends. */
export function applyFeedField(feed: Feed, capture: Capture): void {
  switch (capture.key) {
    case 'title':
    case 'dc:title':
      feed.title ??= lineValue(capture);
      break;
    case 'link':
      feed.link ??= resolveLink(rawText(capture), capture.base);
      break;
    case 'language':
    case 'dc:language':
      feed.language = oneLine(rawText(capture).slice(0, 100)) ?? feed.language;
      break;
    case 'ttl':
      feed.ttlMinutes ??= wholeNumber(rawText(capture));
      break;
    case 'sy:updateperiod':
    case 'sy:updatefrequency':
      applyPeriod(feed, capture);
      break;
    default:
      break;
  }
}

// RSS 1.0 syndication module: "daily" divided by how often a day. Either may come first and either alone.
function applyPeriod(feed: Feed, capture: Capture): void {
  const text = rawText(capture).trim().toLowerCase();
  const known = feed.updatePeriodSeconds;
  if (capture.key === 'sy:updateperiod') {
    const period = periodSeconds.get(text);
    if (period === undefined) return;
    const frequency = known === null ? 1 : (periodSeconds.get('daily') ?? 0) / known;
    feed.updatePeriodSeconds = Math.max(1, Math.round(period / frequency));
    return;
  }
  const frequency = wholeNumber(text);
  if (frequency === null || frequency < 1) return;
  feed.updatePeriodSeconds = Math.max(1, Math.round((known ?? 86_400) / frequency));
}
