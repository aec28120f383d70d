import { type TextSource, textSource } from '../text/index.ts';
import { resolveUrl as resolveWhatwg } from '../url/index.ts';
import { AttributeTable } from './attributes.ts';
import { attribute, collapse, PageNode, TEXT, textOf } from './node.ts';
import { repairDoubleEncoding } from './repair-encoding.ts';
import { type ScanHandler, scanHtml } from './scan.ts';
import { HOLDS_HTML, IMPLIED_END, SHOWN_TEMPLATE, STRAY_READING, TAG } from './tree-rules.ts';

/** A page after its one pass: the tree, and the places everybody asks for. */
export type Page = {
  url: string;
  /** What the page was read from; nodes hold slices of it, so it lives as long as they do anyway. */
  source: TextSource;
  /** Where relative addresses resolve against: `<base href>` or the page's own address. */
  baseUrl: string;
  root: PageNode;
  body: PageNode;
  title: string | null;
  lang: string | null;
  metas: PageNode[];
  links: PageNode[];
  anchors: PageNode[];
  /** Texts of `application/ld+json` scripts, unparsed. */
  jsonLd: string[];
  scriptChars: number;
  /** Scripts that hold the TeX of a formula. */
  texScripts: number;
  /** Sources of external scripts, for the signatures of challenge pages. */
  scriptSources: string[];
  passwordFields: number;
  /** Every node by its index: parents stand before their children. */
  nodes: PageNode[];
  nodeCount: number;
  /** True when the node cap ended the pass early. */
  truncated: boolean;
};

/** Caps of the pass; a page beyond them is cut, never refused. */
export type ParseOptions = { url: string; maxNodes?: number; maxDepth?: number };

// 512 is where browsers flatten too; real pages stay below 100.
const MAX_DEPTH = 512;
const MAX_NODES = 250_000;
const MAX_KEPT = 20_000;
// Each further <body> writes those of all before it again.
const MAX_ATTRIBUTES = 200;
// A declarative shadow root, as the HTML standard names it and as browsers did before.
const SHADOW_NAME = /^shadowroot(?:mode)?$/;
const SHADOW_MODE = /^(?:open|closed)$/i;
const RUBY_LEVELS = 6;
// Characters of a page for each node; most pages have fewer nodes.
const USUAL_CHARS = 90;

/** Builds the tree from the scanner's events; see the HTML standard, 13.2.6, of which this is the useful part. */
class TreeBuilder implements ScanHandler {
  readonly maxNodes: number;
  readonly maxDepth: number;
  readonly root = new PageNode('#document', 0, null, 0, '');
  /** As many as `nodeCount` until the page is read, with room for more behind them. */
  readonly nodes: PageNode[];
  nodeCount = 1;
  readonly stack: PageNode[] = [this.root];
  readonly metas: PageNode[] = [];
  readonly links: PageNode[] = [];
  readonly anchors: PageNode[] = [];
  readonly jsonLd: string[] = [];
  readonly scriptSources: string[] = [];
  htmlNode: PageNode | null = null;
  bodyNode: PageNode | null = null;
  headNode: PageNode | null = null;
  titleNode: PageNode | null = null;
  baseNode: PageNode | null = null;
  scriptChars = 0;
  texScripts = 0;
  passwordFields = 0;
  svgDepth = 0;
  readings = 0;
  openParagraphs = 0;
  headOpen = false;
  truncated = false;
  private readonly table: AttributeTable;

  constructor(table: AttributeTable, options: ParseOptions) {
    this.table = table;
    this.nodes = new Array<PageNode>(Math.ceil(table.source.raw.length / USUAL_CHARS + 16)).fill(this.root);
    this.maxNodes = options.maxNodes ?? MAX_NODES;
    this.maxDepth = options.maxDepth ?? MAX_DEPTH;
  }

  text(text: string): void {
    const top = this.stack[this.stack.length - 1]!;
    if ((top.tag === 'script' || top.tag === 'style') && top.text !== 'tex') {
      this.skip(text.length);
      if (top.text === 'ld') this.jsonLd[this.jsonLd.length - 1] += text;
      return;
    }
    const last = top.last;
    if (last !== null && last.tag === TEXT) {
      last.text += text;
      return;
    }
    if (this.full()) return;
    this.append(top, new PageNode(TEXT, 0, top, this.nodeCount, text));
  }

  wantsRaw(): boolean {
    const { tag, text } = this.stack[this.stack.length - 1]!;
    return (tag !== 'script' && tag !== 'style') || text !== '';
  }

  skip(chars: number): void {
    if (this.stack[this.stack.length - 1]!.tag === 'script') this.scriptChars += chars;
  }

  stopped(): boolean {
    return this.truncated;
  }

  private full(): boolean {
    if (this.nodeCount < this.maxNodes) return false;
    this.truncated = true;
    return true;
  }

  private append(parent: PageNode, node: PageNode): void {
    if (parent.last === null) parent.first = node;
    else parent.last.next = node;
    parent.last = node;
    this.nodes[this.nodeCount++] = node;
  }

  open(tag: string, flags: number, from: number, selfClosing: boolean): void {
    // `<div/>` opens a div in HTML; only foreign elements may close themselves.
    const closed = selfClosing && (this.svgDepth > 0 || tag === 'svg');
    if ((flags & TAG.once) !== 0) {
      const seen = tag === 'html' ? this.htmlNode : tag === 'body' ? this.bodyNode : this.headNode;
      if (seen !== null) {
        // A second <html> or <body> only adds its attributes.
        this.addAttributes(seen, from);
        return;
      }
    }
    if (this.full()) return;
    if (this.svgDepth > 0 && (flags & TAG.endsForeign) !== 0) this.leaveForeign();
    if (this.svgDepth === 0) this.closeImplied(tag, flags);
    if (this.stack.length > this.maxDepth) this.pop();
    const parent = this.stack[this.stack.length - 1]!;
    const known = (flags & (TAG.late | TAG.reading)) === 0 ? flags : this.decideFlags(flags, from);
    const node = new PageNode(tag, known, parent, this.nodeCount, '');
    node.attributes = this.table;
    node.attributesFrom = from;
    node.attributesTo = this.table.count;
    this.append(parent, node);
    if ((flags & TAG.noted) !== 0) this.note(node);
    if ((flags & TAG.void) !== 0 || closed) return;
    this.stack.push(node);
    if (tag === 'p') this.openParagraphs++;
    if ((flags & TAG.foreign) !== 0) this.svgDepth++;
    else if ((known & TAG.reading) !== 0) this.readings++;
  }

  /** What is known of a tag about which its attributes or its place say more. */
  private decideFlags(flags: number, from: number): number {
    if ((flags & TAG.late) !== 0) return this.holdsShadow(from) ? SHOWN_TEMPLATE : flags;
    const { stack } = this;
    // `<ruby><rtc><rt>` and some styles between are the most there is.
    for (let i = stack.length - 1; i > 0 && i > stack.length - RUBY_LEVELS; i--)
      if (stack[i]!.tag === 'ruby') return flags;
    return STRAY_READING;
  }

  /** Ends the drawings and formulas that nobody ended: the text of the page stands in none, and would not be read. */
  private leaveForeign(): void {
    let from = -1;
    for (let i = this.stack.length - 1, left = this.svgDepth; i > 0 && left > 0; i--) {
      const { tag, flags } = this.stack[i]!;
      if (HOLDS_HTML.has(tag)) break;
      if ((flags & TAG.foreign) === 0) continue;
      from = i;
      left--;
    }
    if (from > 0) while (this.stack.length > from) this.pop();
  }

  /** Ends the parts of a ruby that nobody ended: a paragraph stands in none, and would not be read. */
  private endReadings(): void {
    while (this.readings > 0) this.pop();
  }

  /** Whether a `<template>` with the attributes from `from` on is a part of the page that browsers show in its place. */
  private holdsShadow(from: number): boolean {
    const { table } = this;
    for (let i = from; i < table.count; i++)
      if (SHADOW_NAME.test(table.names[i]!) && SHADOW_MODE.test(table.value(i))) return true;
    return false;
  }

  /** Gives an element those from `from` on beside its own. */
  private addAttributes(node: PageNode, from: number): void {
    const { table } = this;
    const to = table.count;
    if (from === to || node.attributesTo - node.attributesFrom > MAX_ATTRIBUTES) return;
    table.repeat(node.attributesFrom, node.attributesTo);
    table.repeat(from, to);
    node.attributesFrom = to;
    node.attributesTo = table.count;
  }

  private note(node: PageNode): void {
    switch (node.tag) {
      case 'a':
        if (this.anchors.length < MAX_KEPT) this.anchors.push(node);
        break;
      case 'meta':
        if (this.metas.length < 2_000) this.metas.push(node);
        break;
      case 'link':
        if (this.links.length < 2_000) this.links.push(node);
        break;
      case 'title':
        if (this.svgDepth === 0) this.titleNode ??= node;
        break;
      case 'base':
        this.baseNode ??= node;
        break;
      case 'html':
        this.htmlNode = node;
        break;
      case 'head':
        this.headNode = node;
        this.headOpen = true;
        break;
      case 'body':
        this.bodyNode = node;
        break;
      case 'input':
        if (attribute(node, 'type')?.toLowerCase() === 'password') this.passwordFields++;
        break;
      case 'script': {
        const type = attribute(node, 'type');
        if (type !== null && /ld\+json/i.test(type) && this.jsonLd.length < 100) {
          node.text = 'ld';
          this.jsonLd.push('');
        } else if (type?.startsWith('math/tex')) {
          node.text = 'tex';
          this.texScripts++;
        }
        const source = attribute(node, 'src');
        if (source !== null && this.scriptSources.length < 200) this.scriptSources.push(source);
        break;
      }
    }
  }

  private closeImplied(tag: string, flags: number): void {
    if ((flags & TAG.inHead) === 0 && this.headOpen) this.closeUpTo('head');
    if (this.readings > 0 && (flags & (TAG.inline | TAG.void)) === 0) this.endReadings();
    const rule = (flags & TAG.ends) === 0 ? undefined : IMPLIED_END.get(tag);
    if (rule !== undefined) {
      let from = -1;
      for (let i = this.stack.length - 1; i > 0; i--) {
        const name = this.stack[i]!.tag;
        if (rule.ends.has(name)) from = i;
        else if (rule.within.has(name)) break;
      }
      if (from > 0) while (this.stack.length > from) this.pop();
    }
    if ((flags & TAG.closesP) !== 0 && this.openParagraphs > 0) {
      for (let i = this.stack.length - 1; i > 0; i--) {
        const { tag: name, flags: bits } = this.stack[i]!;
        if (name === 'p') {
          while (this.stack.length > i) this.pop();
          break;
        }
        if ((bits & TAG.scope) !== 0) break;
      }
    }
  }

  private closeUpTo(tag: string): void {
    while (this.stack.length > 1) if (this.pop().tag === tag) return;
  }

  private pop(): PageNode {
    const node = this.stack.pop()!;
    if (node.tag === 'p') this.openParagraphs--;
    else if (node === this.headNode) this.headOpen = false;
    else if ((node.flags & TAG.foreign) !== 0) this.svgDepth--;
    else if ((node.flags & TAG.reading) !== 0) this.readings--;
    return node;
  }

  close(tag: string, flags: number): void {
    // Text may follow </body> and </html> on broken pages: keep them open to the end.
    if (tag === 'body' || tag === 'html') return;
    if (tag === 'br') {
      this.open('br', flags, this.table.count, false);
      return;
    }
    const inline = (flags & TAG.inline) !== 0;
    const tablePart = (flags & TAG.tablePart) !== 0;
    for (let i = this.stack.length - 1; i > 0; i--) {
      const { tag: name, flags: around } = this.stack[i]!;
      if (name === tag) {
        while (this.stack.length > i) this.pop();
        return;
      }
      // A stray </b> must not close the paragraphs and cells around it.
      if (
        inline ? (around & TAG.inline) === 0 && this.svgDepth === 0 : (around & TAG.scope) !== 0 && !tablePart
      )
        return;
    }
  }
}

/** Reads a page in one pass into a tree with capped depth and size; never throws on any text. */
export function parsePage(html: string | TextSource, options: ParseOptions): Page {
  const source = typeof html === 'string' ? textSource(repairDoubleEncoding(html)) : html;
  const table = new AttributeTable(source);
  const builder = new TreeBuilder(table, options);
  scanHtml(table, builder);
  builder.nodes.length = builder.nodeCount;
  const { root, htmlNode, titleNode, baseNode } = builder;
  const title = titleNode === null ? '' : collapse(textOf(titleNode, 2_000));
  return {
    url: options.url,
    source,
    baseUrl:
      resolveUrl(baseNode === null ? '' : (attribute(baseNode, 'href') ?? ''), options.url) ?? options.url,
    root,
    body: builder.bodyNode ?? htmlNode ?? root,
    title: title === '' ? null : title,
    lang: htmlNode === null ? null : attribute(htmlNode, 'lang') || attribute(htmlNode, 'xml:lang'),
    metas: builder.metas,
    links: builder.links,
    anchors: builder.anchors,
    jsonLd: builder.jsonLd,
    scriptChars: builder.scriptChars,
    texScripts: builder.texScripts,
    scriptSources: builder.scriptSources,
    passwordFields: builder.passwordFields,
    nodes: builder.nodes,
    nodeCount: builder.nodeCount,
    truncated: builder.truncated,
  };
}

/** An http(s) address resolved against the base, or null when it is none. */
export function resolveUrl(reference: string, base: string): string | null {
  const trimmed = reference.trim();
  if (trimmed.length > 8_192) return null;
  const href = resolveWhatwg(trimmed, base);
  return href !== null && /^https?:/.test(href) ? href : null;
}
