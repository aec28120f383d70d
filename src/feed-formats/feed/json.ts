import type { Draft } from './draft.ts';
import { addEnclosure, addUnique, emptyDraft, finishDraft } from './draft.ts';
import { repairJson } from './json-repair.ts';
import type { Feed, FeedResult } from './model.ts';
import { addEntry, emptyFeed } from './model.ts';
import { block, htmlToLine, oneLine, permalinkOf, resolveLink, wholeNumber } from './values.ts';

type JsonObject = Record<string, unknown>;
type Limits = { url: string | null; maxEntries: number };

/** Reads a JSON Feed (1.0, 1.1) or RSS-in-JSON document; a cut one gives the items before the cut. */
export function parseJsonFeed(text: string, limits: Limits): FeedResult {
  const { value, truncated } = repairJson(text);
  const root = asObject(value);
  if (!root)
    return { outcome: 'not_a_feed', reason: 'invalid_json', detail: 'the document is not a JSON object' };
  const rss = asObject(root.rss);
  const channel = asObject(rss?.channel ?? root.channel);
  if (channel) return finish(readRss(channel, rss ?? root, limits), truncated);
  const version = asText(root.version);
  if (!version?.includes('jsonfeed.org') && !Array.isArray(root.items))
    return { outcome: 'not_a_feed', reason: 'unknown_format', detail: 'the JSON object has no items' };
  return finish(readJsonFeed(root, version, limits), truncated);
}

function finish(feed: Feed, truncated: boolean): FeedResult {
  feed.truncated = truncated;
  return { outcome: 'feed', feed };
}

function readJsonFeed(root: JsonObject, version: string | null, limits: Limits): Feed {
  const feed = emptyFeed('json', /version\/([\d.]{1,10})/.exec(version ?? '')?.[1] ?? null);
  feed.self = resolveLink(asText(root.feed_url) ?? '', limits.url);
  const base = limits.url ?? feed.self;
  feed.title = oneLine(asText(root.title) ?? '');
  feed.link = resolveLink(asText(root.home_page_url) ?? '', base);
  feed.language = oneLine(asText(root.language) ?? '');
  for (const hub of asList(root.hubs).slice(0, 20))
    addUnique(feed.hubs, resolveLink(asText(asObject(hub)?.url) ?? '', base));
  readItems(feed, root.items, limits, (item) => {
    const draft = emptyDraft();
    readJsonItem(draft, item, base);
    return finishDraft(draft, { fallbackBase: base ?? feed.link, language: feed.language });
  });
  return feed;
}

function readItems(
  feed: Feed,
  items: unknown,
  limits: Limits,
  read: (item: JsonObject) => Feed['entries'][number],
): void {
  for (const value of asList(items)) {
    const item = asObject(value);
    if (!item) continue;
    if (feed.entries.length >= limits.maxEntries) {
      feed.capped = true;
      return;
    }
    addEntry(feed, read(item));
  }
}

function readJsonItem(draft: Draft, item: JsonObject, base: string | null): void {
  // Programs write what they do not have as an empty text.
  const link = block(asText(item.url) ?? '') ?? asText(item.external_url);
  if (link) draft.link = { href: link, base, isHtml: true };
  const id = block(asText(item.id) ?? '');
  // JSON Feed asks for the permanent address as id, so an id that is an address may serve as link.
  if (id !== null) draft.guid = { text: id, base, permalink: null };
  draft.title = oneLine(asText(item.title) ?? '');
  draft.summary = block(asText(item.summary) ?? '');
  draft.content = block(asText(item.content_html) ?? asText(item.content_text) ?? '');
  addText(draft.published, item.date_published);
  addText(draft.updated, item.date_modified);
  for (const author of [...asList(item.authors), item.author]) {
    const person = asObject(author);
    addUnique(draft.authors, oneLine(asText(person ? (person.name ?? person.url) : author) ?? ''));
  }
  for (const tag of asList(item.tags)) addUnique(draft.categories, oneLine(asText(tag) ?? ''));
  for (const attachment of asList(item.attachments)) {
    const file = asObject(attachment);
    addFile(draft, file?.url, file?.mime_type, file?.size_in_bytes, base);
  }
}

function readRss(channel: JsonObject, rss: JsonObject, limits: Limits): Feed {
  const feed = emptyFeed('rss', asText(rss.version));
  feed.title = htmlToLine(asText(channel.title) ?? '');
  feed.link = resolveLink(asText(channel.link) ?? '', limits.url);
  feed.language = oneLine(asText(channel.language) ?? '');
  feed.ttlMinutes = wholeNumber(asText(channel.ttl));
  const base = limits.url ?? feed.link;
  const items = channel.item ?? channel.items;
  readItems(feed, Array.isArray(items) ? items : [items], limits, (item) => {
    const draft = emptyDraft();
    readRssItem(draft, item, base);
    return finishDraft(draft, { fallbackBase: base, language: feed.language });
  });
  return feed;
}

function readRssItem(draft: Draft, item: JsonObject, base: string | null): void {
  const link = asText(item.link);
  if (link) draft.link = { href: link, base, isHtml: true };
  const guid = block(valueText(item.guid) ?? '');
  const permalink = permalinkOf(asText(asObject(item.guid)?.isPermaLink));
  if (guid !== null) draft.guid = { text: guid, base, permalink };
  draft.title = htmlToLine(valueText(item.title) ?? '');
  draft.summary = block(valueText(item.description) ?? '');
  draft.content = block(valueText(item['content:encoded']) ?? '');
  addText(draft.published, item.pubDate);
  for (const author of [item.author, item['dc:creator']])
    addUnique(draft.authors, oneLine(valueText(author) ?? ''));
  for (const category of asList(item.category ?? []))
    addUnique(draft.categories, oneLine(valueText(category) ?? ''));
  for (const enclosure of asList(item.enclosure)) {
    const file = asObject(enclosure);
    addFile(draft, file?.url, file?.type, file?.length, base);
  }
}

function addFile(draft: Draft, address: unknown, type: unknown, length: unknown, base: string | null): void {
  const url = resolveLink(asText(address) ?? '', base);
  if (url === null) return;
  addEnclosure(draft.enclosures, {
    url,
    type: oneLine(asText(type) ?? ''),
    length: wholeNumber(asText(length)),
  });
}

function addText(list: string[], value: unknown): void {
  const text = asText(value);
  if (text !== null) list.push(text);
}

// An attribute beside text makes converters write { "#value": "...", "isPermaLink": "..." }.
function valueText(value: unknown): string | null {
  const object = asObject(value);
  return asText(object ? (object['#value'] ?? object['#text'] ?? object._) : value);
}

function asText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}
