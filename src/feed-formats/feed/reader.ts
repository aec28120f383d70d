import { Parser } from 'htmlparser2';
import type { Capture } from './capture.ts';
import { closeInner, openCapture, openInner, writeCapture } from './capture.ts';
import type { Draft } from './draft.ts';
import { emptyDraft, finishDraft, isBlank } from './draft.ts';
import { applyEntryAttributes, applyEntryField, isEntryField } from './entry-fields.ts';
import { applyFeedAttributes, applyFeedField, isFeedField } from './feed-fields.ts';
import type { Feed } from './model.ts';
import { addEntry, emptyFeed } from './model.ts';
import type { Scope } from './names.ts';
import { enterScope, keyOf, rootScope } from './names.ts';
import { resolveBase } from './values.ts';

// Real feeds stay under 40 levels, XHTML content included. htmlparser2 shifts an array for every open element, so
// depth is also what its time is quadratic in.
const maxDepth = 512;

/** Why the reader stopped before the end. */
export type Stop = 'html' | 'too_deep' | 'capped' | null;

type Frame = { key: string; scope: Scope; base: string | null };

/** Reads one XML feed in one pass, holding nothing but the open elements and the entry being read. */
export class FeedReader {
  feed: Feed | null = null;
  stopped: Stop = null;
  /** The name of the document's outermost element, for the message when it is no feed. */
  rootName: string | null = null;

  readonly #parser: Parser;
  readonly #maxEntries: number;
  readonly #frames: Frame[] = [];
  readonly #outer: Frame;
  #capture: Capture | null = null;
  #draft: Draft | null = null;
  #entryDepth = 0;
  #feedDepth = 0;
  // Fields left open ("<link>http://... <title>") push their siblings one level down each.
  #unclosed = 0;
  // An entry that another one began inside of: unclosed before it, unless the inner one turns out to be empty.
  #suspended: { draft: Draft; depth: number; unclosed: number } | null = null;
  #rootDepth = 0;
  #rootClosed = false;
  #ending = false;
  #htmlDoctype = false;

  constructor(options: { url: string | null; maxEntries: number }) {
    this.#maxEntries = options.maxEntries;
    this.#outer = { key: '', scope: rootScope(), base: options.url };
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        ontext: (text) => this.#text(text),
        onclosetag: () => this.#close(),
        onprocessinginstruction: (name, data) => this.#instruction(name, data),
      },
      // Entities: htmlparser2 knows the five of XML and numeric ones; declared ones are never expanded.
      { xmlMode: true, decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
    );
  }

  /** Takes the next part of the document; does nothing once the reader stopped. */
  write(text: string): void {
    if (this.stopped === null) this.#parser.write(text);
  }

  /** Ends the document: what is still open is taken as far as it was complete. */
  end(): void {
    this.#ending = true;
    if (this.stopped === null) this.#parser.end();
    if (this.stopped !== 'capped') this.#endLastEntry();
    if (this.feed) this.feed.truncated = !this.#rootClosed && this.stopped !== 'capped';
  }

  #stop(reason: Exclude<Stop, null>): void {
    this.stopped = reason;
    // The tokenizer looks at this flag before every character.
    this.#parser.pause();
  }

  #instruction(name: string, data: string): void {
    if (name === '!doctype' && /^!doctype\s+html\b/i.test(data)) this.#htmlDoctype = true;
  }

  #open(name: string, attributes: Record<string, string>): void {
    if (this.stopped !== null) return;
    if (this.#frames.length >= maxDepth) {
      this.#stop('too_deep');
      return;
    }
    const parent = this.#frames.at(-1) ?? this.#outer;
    const scope = enterScope(parent.scope, attributes);
    const key = keyOf(name, scope);
    const written = attributes['xml:base'] ?? (key === 'link' ? undefined : attributes.base);
    const base = written === undefined ? parent.base : resolveBase(written, parent.base);
    this.#frames.push({ key, scope, base });
    this.rootName ??= name;
    if (this.#capture && !this.#leavesCapture(key)) {
      openInner(this.#capture, key, name, attributes);
      return;
    }
    if (this.#startsEntry(key)) this.#startEntry(attributes, base);
    else if (this.#draft) this.#openEntryField(key, attributes, base);
    else this.#openFeedPart(key, attributes, base);
  }

  // A field that cannot hold elements ends where the next field begins, and every field where the next entry does.
  #leavesCapture(key: string): boolean {
    const capture = this.#capture;
    if (!capture || capture.holdsMarkup) return false;
    const next = key === 'item' || key === 'entry';
    if (!next && !(this.#draft ? isEntryField(key) : isFeedField(key))) return false;
    // An element that has only white space before its first child is a container, like <author> or <enclosure>.
    if (!next && (capture.key === key || capture.innerDepth > 0 || capture.text.trim() === '')) return false;
    this.#endCapture();
    this.#unclosed += 1;
    return true;
  }

  #startsEntry(key: string): boolean {
    if (key !== 'item' && key !== 'entry') return false;
    if (this.feed === null) return key === 'entry' && this.#frames.length === 1;
    // Inside an open entry only a sibling that forgot its end tag, never part of a foreign tree.
    return this.#draft === null || this.#frames.length <= this.#entryDepth + 1 + this.#unclosed;
  }

  #startEntry(attributes: Record<string, string>, base: string | null): void {
    if (this.#capture) this.#endCapture();
    this.#commitSuspended();
    if (this.feed === null) this.#startFeed(emptyFeed('atom', null));
    if (this.#draft)
      this.#suspended = { draft: this.#draft, depth: this.#entryDepth, unclosed: this.#unclosed };
    if (this.#isFull()) {
      this.#commitSuspended();
      this.#draft = null;
      this.#stop('capped');
      return;
    }
    this.#draft = emptyDraft();
    this.#entryDepth = this.#frames.length;
    this.#unclosed = 0;
    applyEntryAttributes(this.#draft, 'item', attributes, base);
    if (!isBlank(this.#draft)) this.#commitSuspended();
  }

  #isFull(): boolean {
    if (!this.feed) return false;
    this.feed.capped = this.feed.entries.length + (this.#suspended ? 1 : 0) >= this.#maxEntries;
    return this.feed.capped;
  }

  #commitSuspended(): void {
    if (this.#suspended) this.#addEntry(this.#suspended.draft);
    this.#suspended = null;
  }

  #addEntry(draft: Draft): void {
    if (!this.feed) return;
    const { link, language } = this.feed;
    addEntry(this.feed, finishDraft(draft, { fallbackBase: this.#outer.base ?? link, language }));
  }

  #endEntry(): void {
    if (this.#capture) this.#endCapture();
    const draft = this.#draft;
    if (!draft) return;
    if (this.#suspended && isBlank(draft)) {
      // "<item><title>a</title><item/>..." goes on with the outer entry.
      this.#draft = this.#suspended.draft;
      this.#entryDepth = this.#suspended.depth;
      this.#unclosed = this.#suspended.unclosed;
      this.#suspended = null;
      return;
    }
    this.#commitSuspended();
    this.#addEntry(draft);
    this.#draft = null;
  }

  // The entry the document's end cut off counts if anything of it was complete.
  #endLastEntry(): void {
    this.#commitSuspended();
    if (this.#draft && !isBlank(this.#draft)) {
      // The link that should follow may differ from the item's name in RDF.
      this.#draft.about = null;
      this.#addEntry(this.#draft);
    }
    this.#draft = null;
  }

  #openEntryField(key: string, attributes: Record<string, string>, base: string | null): void {
    if (!this.#draft) return;
    const depth = this.#frames.length - this.#entryDepth - this.#unclosed;
    const inGroup = depth === 2 && this.#frames.at(-2)?.key === 'media:group';
    if ((depth !== 1 && !inGroup) || !isEntryField(key)) return;
    this.#commitSuspended();
    // An empty reference is its base (RFC 3986 5.2.2). That is worth something where the document named the base
    // itself; the address of the feed is no article.
    if (key === 'link' && attributes.href?.trim() === '' && base !== null && base !== this.#outer.base)
      attributes.href = base;
    applyEntryAttributes(this.#draft, key, attributes, base);
    this.#capture = openCapture(key, this.#frames.length, attributes, base);
  }

  #openFeedPart(key: string, attributes: Record<string, string>, base: string | null): void {
    const started = startFeed(key, attributes, this.#frames.at(-1)?.scope ?? this.#outer.scope);
    if (started && this.feed === null) this.#startFeed(started);
    if (this.feed === null) {
      if (this.#htmlDoctype || key === 'html' || key === 'xhtml:html') this.#stop('html');
      return;
    }
    if (started || key === 'channel') {
      this.#feedDepth = this.#frames.length;
      this.#unclosed = 0;
      applyFeedAttributes(this.feed, key, attributes, base);
      return;
    }
    if (this.#frames.length - this.#feedDepth - this.#unclosed !== 1 || !isFeedField(key)) return;
    applyFeedAttributes(this.feed, key, attributes, base);
    this.#capture = openCapture(key, this.#frames.length, attributes, base);
  }

  #startFeed(feed: Feed): void {
    this.feed = feed;
    this.#rootDepth = this.#frames.length;
  }

  #text(text: string): void {
    if (this.#capture) writeCapture(this.#capture, text);
  }

  #close(): void {
    const depth = this.#frames.length;
    const frame = this.#frames.pop();
    if (!frame || this.stopped !== null) return;
    if (this.feed && depth === this.#rootDepth && !this.#ending) this.#rootClosed = true;
    if (this.#capture) {
      if (depth > this.#capture.depth) closeInner(this.#capture, frame.key);
      else this.#endCapture();
    }
    // At the end of a cut document the last entry is looked at once more, by end().
    if (this.#draft && depth === this.#entryDepth && !this.#ending) this.#endEntry();
  }

  #endCapture(): void {
    const capture = this.#capture;
    this.#capture = null;
    // What the end of the document cut off is not the value: half an address is a wrong address.
    if (!capture || this.#ending) return;
    if (this.#draft) applyEntryField(this.#draft, capture);
    else if (this.feed) applyFeedField(this.feed, capture);
  }
}

function startFeed(key: string, attributes: Record<string, string>, scope: Scope): Feed | null {
  const version = attributes.version?.slice(0, 20) || null;
  switch (key) {
    case 'rss':
      return emptyFeed('rss', version);
    case 'rdf:rdf':
    case 'rdf':
      return emptyFeed('rdf', scope.address.includes('netscape') ? '0.90' : '1.0');
    case 'feed':
      return emptyFeed('atom', version ?? (scope.address.includes('purl.org/atom') ? '0.3' : '1.0'));
    case 'channel':
      // RSS without its root element, or Microsoft's Channel Definition Format.
      return emptyFeed(
        attributes.href !== undefined || attributes.lastmod !== undefined ? 'cdf' : 'rss',
        version,
      );
    default:
      return null;
  }
}
