import { localName, parseAttributes, XmlScanner } from '../xml-stream/index.ts';
import { type EntryDraft, finishDraft, MAX_IMAGES, newDraft, type SitemapEntry } from './entry.ts';

/** What kind of document the root element announces. */
export type XmlKind = 'urlset' | 'index' | 'feed' | 'page';

/** What a sitemap reader reports. */
export type SitemapSink = { onEntry(entry: SitemapEntry): void; onInvalid(count: number): void };

// Longest text of one field; a `loc` has 2,048 by the protocol.
const MAX_FIELD = 8_192;
const pageFields = new Set(['loc', 'lastmod', 'changefreq', 'priority']);
const newsFields = new Set(['title', 'publication_date', 'name', 'language']);
// Elements of extensions whose own `loc` is not a page, whether their prefix is right, wrong or missing.
const extensions = new Set([
  'image',
  'video',
  'news',
  'pagemap',
  'dataobject',
  'mobile',
  'geo',
  'codesearch',
]);
const extensionPrefixes = new Set([
  'image',
  'video',
  'news',
  'xhtml',
  'mobile',
  'geo',
  'pagemap',
  'content',
  'media',
]);

/**
 * Reads a sitemap's elements by their local names: half of the broken sitemaps have their namespaces wrong. Keeps no
 * stack, so unclosed elements cost nothing; an entry ends where it is closed, where the next begins, or with the file.
 */
export class SitemapXmlReader {
  readonly scanner: XmlScanner;
  kind: XmlKind | null = null;
  #sink: SitemapSink;
  #base: string | undefined;
  #draft: EntryDraft | null = null;
  /** Local name of the extension element we are in. */
  #extension: string | null = null;
  #field: string | null = null;
  #text = '';
  #hasEntries = false;
  /** An entry element was opened inside the address we are in. */
  #isNested = false;

  constructor(sink: SitemapSink, base: string | undefined) {
    this.#sink = sink;
    this.#base = base;
    this.scanner = new XmlScanner({
      onOpen: (name, attributes, isEmpty) => this.#open(name, attributes, isEmpty),
      onClose: (name) => this.#close(localName(name)),
      onText: (text) => this.#collect(text),
    });
  }

  /** Ends the document, keeping a last entry whose address is whole. */
  end(): void {
    const isCut = this.scanner.end();
    // The half of an address or date is a wrong one.
    if (!isCut) this.#finishField();
    else if (this.#field === null && this.#draft !== null) this.#draft.bare = '';
    this.#field = null;
    this.#finishEntry();
  }

  #open(name: string, attributes: string, isEmpty: boolean): void {
    const local = localName(name);
    if (this.kind === null && this.#isRoot(local)) return;
    if (local === 'url' || local === 'sitemap') {
      this.#openEntry(local, isEmpty);
      return;
    }
    // `link` is an empty element even where it is written `<xhtml:link …>` and never closed.
    if (this.#draft === null || local === 'link') return;
    const prefix = name.slice(0, Math.max(0, name.indexOf(':'))).toLowerCase();
    if (this.#extension === null && (extensions.has(local) || extensionPrefixes.has(prefix))) {
      if (local === 'news') this.#draft.hasNews = true;
      if (!isEmpty) this.#extension = local;
      return;
    }
    if (isEmpty) return;
    // A field that is open still was never closed; a `loc` inside a `loc` is one field.
    const field = this.#fieldOf(local);
    if (field === null || field === this.#field) return;
    this.#finishField();
    this.#field = field;
    if (local === 'loc' && attributes !== '') this.#takeHref(attributes);
  }

  #isRoot(local: string): boolean {
    if (local === 'urlset') this.kind = 'urlset';
    else if (local === 'sitemapindex') this.kind = 'index';
    else if (local === 'rss' || local === 'feed' || local === 'rdf') this.kind = 'feed';
    else if (local === 'html' || local === 'head' || local === 'body') this.kind = 'page';
    else return false;
    if (this.kind === 'feed' || this.kind === 'page') this.scanner.stop();
    return true;
  }

  #openEntry(local: 'url' | 'sitemap', isEmpty: boolean): void {
    // `<loc><url>…</url></loc>` is seen in the wild: inside an address it means nothing.
    if (this.#field === 'loc' && this.#text.trim() === '') {
      this.#isNested = true;
      return;
    }
    this.#finishField();
    this.#finishEntry();
    // The elements are right where the root is wrong.
    if (!this.#hasEntries) this.kind = local === 'url' ? 'urlset' : 'index';
    this.#hasEntries = true;
    this.#extension = null;
    if (!isEmpty) this.#draft = newDraft();
  }

  #fieldOf(local: string): string | null {
    if (this.#extension === null) return pageFields.has(local) ? local : null;
    if (this.#extension === 'news') return newsFields.has(local) ? `news.${local}` : null;
    return this.#extension === 'image' && local === 'loc' ? 'image.loc' : null;
  }

  /** `<loc href="…"/>` and the like: an address in an attribute is better than none. */
  #takeHref(attributes: string): void {
    this.#text = parseAttributes(attributes).get('href') ?? '';
  }

  #close(local: string): void {
    if (this.#draft === null) return;
    if (local === 'url' || local === 'sitemap') {
      if (this.#isNested) {
        this.#isNested = false;
        return;
      }
      this.#finishField();
      this.#finishEntry();
      this.#extension = null;
    } else if (this.#field !== null && this.#field.slice(this.#field.indexOf('.') + 1) === local) {
      this.#finishField();
    } else if (local === this.#extension) {
      this.#finishField();
      this.#extension = null;
    } else if (local === 'urlset' || local === 'sitemapindex') {
      this.#finishField();
      this.#finishEntry();
    }
  }

  #collect(text: string): void {
    if (this.#field !== null) {
      if (this.#text.length < MAX_FIELD) this.#text += text;
    } else if (this.#draft !== null && this.#extension === null && this.#draft.bare.length < MAX_FIELD) {
      this.#draft.bare += text;
    }
  }

  #finishField(): void {
    const field = this.#field;
    const text = this.#text;
    this.#field = null;
    this.#text = '';
    this.#isNested = false;
    const draft = this.#draft;
    if (field === null || draft === null) return;
    // 1,000 is beyond any honest entry; a million `loc` in one entry would be a million strings held.
    if (field === 'loc') {
      if (draft.locs.length < 1_000 && text.trim() !== '') draft.locs.push(text);
    } else if (field === 'image.loc') {
      if (draft.images.length < MAX_IMAGES) draft.images.push(text);
    } else {
      draft.fields ??= new Map();
      if (!draft.fields.has(field)) draft.fields.set(field, text);
    }
  }

  #finishEntry(): void {
    const draft = this.#draft;
    this.#draft = null;
    if (draft === null) return;
    const { entries, invalid } = finishDraft(draft, this.#base);
    for (const entry of entries) this.#sink.onEntry(entry);
    if (invalid > 0) this.#sink.onInvalid(invalid);
  }
}
