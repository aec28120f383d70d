import { decodeBytes } from '../../text/index.ts';
import { resolveUrl } from '../../url/index.ts';
import { localName, parseAttributes, XmlScanner } from '../xml-stream/index.ts';
import type { OpmlOutline } from './model.ts';

/** What reading an OPML file gave. */
export type OpmlResult =
  | {
      outcome: 'ok';
      title: string | null;
      outlines: OpmlOutline[];
      /** Outlines with an address nobody can fetch. */
      invalid: number;
      /** The limit of outlines was reached. */
      capped: boolean;
    }
  | { outcome: 'not_opml'; reason: string };

// The largest list seen has 9,000 feeds; a bomb of an import must end somewhere.
const MAX_OUTLINES = 100_000;
const MAX_BYTES = 64_000_000;
// Deeper folders are followed but not named: the names of a million levels would be a million strings per feed.
const MAX_FOLDERS = 20;
const PIECE = 65_536;

/** Reads the subscriptions of an OPML file, whatever its version and nesting; never throws. */
export function parseOpml(input: string | Uint8Array): OpmlResult {
  if (input.length > MAX_BYTES) return { outcome: 'not_opml', reason: 'the file is larger than 64 MB' };
  const text = typeof input === 'string' ? input : decodeBytes(input, { kind: 'xml' }).text;
  const outlines: OpmlOutline[] = [];
  let invalid = 0;
  let capped = false;
  const reader = new OpmlReader({
    onOutline: (outline) => {
      if (outlines.length < MAX_OUTLINES) outlines.push(outline);
      else capped = true;
    },
    onInvalid: () => {
      invalid += 1;
    },
  });
  for (let at = 0; at < text.length && !capped; at += PIECE) reader.push(text.slice(at, at + PIECE));
  reader.end();
  if (!reader.isOpml && outlines.length === 0)
    return { outcome: 'not_opml', reason: 'the file has no opml or outline element' };
  return { outcome: 'ok', title: shortText(reader.title, 500), outlines, invalid, capped };
}

/** What a reader tells as it goes. */
export type OpmlHandler = {
  onOutline(outline: OpmlOutline): void;
  /** An outline with an address nobody can fetch. */
  onInvalid(address: string): void;
};

/** Reads an OPML file piece by piece, in bounded memory; never throws. */
export class OpmlReader {
  isOpml = false;
  title = '';
  readonly #handler: OpmlHandler;
  readonly #extraPrefix: string;
  readonly #scanner: XmlScanner;
  #inTitle = false;
  #folders: string[] = [];
  /** For each open outline whether it is a folder; depth beyond the named folders is only counted. */
  #open: boolean[] = [];
  #deeper = 0;

  /** `extraPrefix` names the namespace whose attributes are kept, as "outrider". */
  constructor(handler: OpmlHandler, extraPrefix: string | null = null) {
    this.#handler = handler;
    this.#extraPrefix = extraPrefix === null ? '' : `${extraPrefix}:`;
    this.#scanner = new XmlScanner({
      onOpen: (name, attributes, isEmpty) => this.#onOpen(localName(name), attributes, isEmpty),
      onClose: (name) => this.#onClose(localName(name)),
      onText: (text) => {
        if (this.#inTitle && this.title.length < 1_000) this.title += text;
      },
    });
  }

  /** Reads the next piece; some kilobytes each are best. */
  push(piece: string): void {
    this.#scanner.push(piece);
  }

  /** Ends the file. */
  end(): void {
    this.#scanner.end();
  }

  #onOpen(name: string, raw: string, isEmpty: boolean): void {
    if (name === 'opml') this.isOpml = true;
    if (name === 'title') this.#inTitle = !isEmpty;
    if (name !== 'outline') return;
    this.#inTitle = false;
    const attributes = parseAttributes(raw);
    const label = shortText(attributes.get('title') ?? attributes.get('text'), 500);
    const address =
      attributes.get('xmlurl') ?? (attributes.get('type') === 'rss' ? attributes.get('url') : undefined);
    const site = attributes.get('htmlurl') ?? attributes.get('url');
    const isFolder = address === undefined && (site === undefined || !isEmpty);
    if (!isFolder) this.#add(label, address, site, attributes);
    if (isEmpty) return;
    if (this.#open.length >= MAX_FOLDERS) {
      this.#deeper += 1;
      return;
    }
    this.#open.push(isFolder);
    if (isFolder) this.#folders.push(label ?? '');
  }

  #onClose(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (name !== 'outline') return;
    if (this.#deeper > 0) this.#deeper -= 1;
    else if (this.#open.pop() === true) this.#folders.pop();
  }

  #add(
    title: string | null,
    address: string | undefined,
    site: string | undefined,
    attributes: ReadonlyMap<string, string>,
  ): void {
    const feedUrl = webAddress(address);
    const siteUrl = webAddress(site);
    if (feedUrl === null && (address !== undefined || siteUrl === null)) {
      this.#handler.onInvalid((address ?? site ?? '').slice(0, 200));
      return;
    }
    const extra = this.#extraOf(attributes);
    this.#handler.onOutline({
      title,
      feedUrl,
      siteUrl,
      description: shortText(attributes.get('description'), 2_000),
      language: shortText(attributes.get('language'), 35),
      folders: this.#folders.filter((folder) => folder !== ''),
      ...(extra === null ? {} : { extra }),
    });
  }

  #extraOf(attributes: ReadonlyMap<string, string>): Record<string, string> | null {
    if (this.#extraPrefix === '') return null;
    const kept = [...attributes].filter(([name]) => name.startsWith(this.#extraPrefix));
    if (kept.length === 0) return null;
    return Object.fromEntries(kept.map(([name, value]) => [name.slice(this.#extraPrefix.length), value]));
  }
}

function webAddress(text: string | undefined): string | null {
  if (text === undefined || text.length > 4_096) return null;
  // `feed://host/x` and `feed:https://host/x` are how some readers write a feed's address.
  const plain = text
    .trim()
    .replace(/^feed:(?:\/\/(?!https?:))?/i, (prefix) => (prefix.endsWith('/') ? 'http://' : ''));
  const href = resolveUrl(plain);
  return href !== null && /^https?:/.test(href) ? href : null;
}

function shortText(text: string | undefined, maxLength: number): string | null {
  if (text === undefined) return null;
  const collapsed = text.slice(0, maxLength).replace(/\s+/g, ' ').trim();
  // Copied: a slice would keep the whole file alive.
  return collapsed === '' ? null : Buffer.from(collapsed, 'utf8').toString('utf8');
}
