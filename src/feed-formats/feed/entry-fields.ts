import type { Capture } from './capture.ts';
import { htmlValue, lineValue, rawText } from './capture.ts';
import type { Draft } from './draft.ts';
import { addEnclosure, addUnique, isFull } from './draft.ts';
import { block, oneLine, permalinkOf, resolveLink, wholeNumber } from './values.ts';

type Attributes = Record<string, string>;
type Apply = (draft: Draft, capture: Capture) => void;

const title: Apply = (draft, capture) => {
  draft.title ??= lineValue(capture);
};
const otherTitle: Apply = (draft, capture) => {
  draft.otherTitle ??= lineValue(capture);
};
const summary: Apply = (draft, capture) => {
  draft.summary ??= block(htmlValue(capture));
};
const content: Apply = (draft, capture) => {
  draft.content ??= block(htmlValue(capture));
};
const otherSummary: Apply = (draft, capture) => {
  draft.otherSummary ??= block(htmlValue(capture));
};
const published: Apply = (draft, capture) => addDate(draft.published, capture);
const updated: Apply = (draft, capture) => addDate(draft.updated, capture);
const created: Apply = (draft, capture) => addDate(draft.created, capture);
const author: Apply = (draft, capture) => {
  if (isFull(draft.authors)) return;
  const { person } = capture;
  const name = person.get('name') ?? person.get('email') ?? person.get('uri') ?? person.get('url');
  addUnique(draft.authors, name ?? lineValue(capture));
};
const category: Apply = (draft, capture) => {
  if (isFull(draft.categories)) return;
  addUnique(
    draft.categories,
    lineValue(capture) ?? oneLine(capture.attributes.label ?? capture.attributes.term ?? ''),
  );
};
const guid: Apply = (draft, capture) => {
  const text = block(rawText(capture));
  if (text === null || draft.guid) return;
  const permalink = capture.key === 'guid' ? permalinkOf(capture.attributes.ispermalink) : false;
  draft.guid = { text, base: capture.base, permalink };
};
const link: Apply = (draft, capture) => {
  const href = block(rawText(capture));
  if (href !== null && capture.attributes.href === undefined)
    draft.link = { href, base: capture.base, isHtml: true };
};
const originalLink: Apply = (draft, capture) => {
  const href = block(rawText(capture));
  if (href !== null) draft.originalLink ??= { href, base: capture.base, isHtml: true };
};
const attributesOnly: Apply = () => undefined;

const fields = new Map<string, Apply>([
  ['title', title],
  ['dc:title', otherTitle],
  ['media:title', otherTitle],
  ['itunes:title', otherTitle],
  ['link', link],
  ['feedburner:origlink', originalLink],
  ['pheedo:origlink', originalLink],
  ['guid', guid],
  ['id', guid],
  ['dc:identifier', guid],
  ['description', summary],
  ['dc:description', summary],
  ['summary', summary],
  ['dcterms:abstract', otherSummary],
  ['itunes:summary', otherSummary],
  ['media:description', otherSummary],
  ['abstract', otherSummary],
  ['content', content],
  ['content:encoded', content],
  ['encoded', content],
  ['fullitem', content],
  ['body', content],
  ['xhtml:body', content],
  ['xhtml:div', content],
  ['author', author],
  ['dc:creator', author],
  ['dc:author', author],
  ['itunes:author', author],
  ['creator', author],
  ['category', category],
  ['dc:subject', category],
  ['itunes:category', category],
  ['pubdate', published],
  ['published', published],
  ['issued', published],
  ['dcterms:issued', published],
  ['dc:issued', published],
  ['dcterms:available', published],
  ['updated', updated],
  ['modified', updated],
  ['lastmod', updated],
  ['dc:date', updated],
  ['date', updated],
  ['dcterms:modified', updated],
  ['dc:modified', updated],
  ['created', created],
  ['dcterms:created', created],
  ['dc:created', created],
  ['enclosure', attributesOnly],
  ['media:content', attributesOnly],
]);

/** Whether an element inside an entry is one of its fields. */
export function isEntryField(key: string): boolean {
  return fields.has(key);
}

/** Stores a field of an entry when its element ends. */
export function applyEntryField(draft: Draft, capture: Capture): void {
  fields.get(capture.key)?.(draft, capture);
}

function addDate(list: string[], capture: Capture): void {
  const text = block(rawText(capture));
  if (text !== null && list.length < 10) list.push(text);
}

/** Stores what an entry's fields say in attributes, when their element starts. */
export function applyEntryAttributes(
  draft: Draft,
  key: string,
  attributes: Attributes,
  base: string | null,
): void {
  if (key === 'item') applyItem(draft, attributes, base);
  else if (key === 'link') applyLink(draft, attributes, base);
  else if (key === 'content' && attributes.src !== undefined && !isMedia(attributes.type))
    draft.contentSource ??= { href: attributes.src, base, isHtml: true };
  else if (key === 'enclosure') applyEnclosure(draft, attributes.url ?? attributes.href, attributes, base);
  else if (key === 'media:content') applyEnclosure(draft, attributes.url, attributes, base);
}

// RDF names its items by rdf:about; CDF items are all attributes.
function applyItem(draft: Draft, attributes: Attributes, base: string | null): void {
  const about = attributes['rdf:about'] ?? attributes.about;
  if (about !== undefined) draft.about = { href: about, base, isHtml: true };
  if (attributes.href !== undefined) draft.alternates.push({ href: attributes.href, base, isHtml: true });
  if (attributes.lastmod !== undefined) draft.updated.push(attributes.lastmod);
}

function applyLink(draft: Draft, attributes: Attributes, base: string | null): void {
  const href = attributes.href ?? attributes['rdf:resource'];
  if (href === undefined || draft.alternates.length >= 100) return;
  const relations = (attributes.rel ?? 'alternate').toLowerCase();
  if (/(?:^|[\s/])alternate$/.test(relations)) {
    const isHtml = attributes.type === undefined || /html/i.test(attributes.type);
    draft.alternates.push({ href, base, isHtml });
  } else if (relations === 'enclosure') applyEnclosure(draft, href, attributes, base);
}

function applyEnclosure(
  draft: Draft,
  address: string | undefined,
  attributes: Attributes,
  base: string | null,
): void {
  const url = address === undefined ? null : resolveLink(address, base);
  if (url === null) return;
  const type = oneLine(attributes.type ?? '');
  addEnclosure(draft.enclosures, {
    url,
    type,
    length: wholeNumber(attributes.length ?? attributes.filesize),
  });
}

function isMedia(type: string | undefined): boolean {
  return /^(?:image|audio|video)\//i.test(type ?? '');
}
