import { isUtf8 } from 'node:buffer';
import { decodeReferences, htmlToLine, oneLine } from './values.ts';

/** The value of one element while it is being read. */
export type Capture = {
  key: string;
  /** Depth of the element itself. */
  depth: number;
  attributes: Record<string, string>;
  base: string | null;
  /** Whether elements inside belong to the value (XHTML content, unescaped HTML in a description). */
  holdsMarkup: boolean;
  /** Open elements inside the value. */
  innerDepth: number;
  parts: { text: string; isMarkup: boolean }[];
  hasMarkup: boolean;
  /** Values of the parts of a person: name, email. */
  person: Map<string, string>;
  size: number;
};

// Longer values are cut: the whole feed may be 16 MB, one field of it need not.
const maxSize = 4_000_000;
const markupFields = new Set([
  'description',
  'summary',
  'content',
  'content:encoded',
  'encoded',
  'fullitem',
  'body',
  'xhtml:body',
  'xhtml:div',
  'itunes:summary',
  'media:description',
  'tagline',
  'subtitle',
  'info',
]);
const personParts = new Set(['name', 'email', 'itunes:name', 'itunes:email', 'foaf:name', 'uri', 'url']);

/** Starts reading a value. */
export function openCapture(
  key: string,
  depth: number,
  attributes: Record<string, string>,
  base: string | null,
): Capture {
  const type = attributes.type ?? '';
  const holdsMarkup = markupFields.has(key) || type.includes('xhtml') || type.includes('html');
  return {
    key,
    depth,
    attributes,
    base,
    holdsMarkup,
    innerDepth: 0,
    parts: [],
    hasMarkup: false,
    person: new Map(),
    size: 0,
  };
}

/** Takes the start tag of an element inside the value. */
export function openInner(
  capture: Capture,
  key: string,
  name: string,
  attributes: Record<string, string>,
): void {
  capture.innerDepth += 1;
  if (!capture.holdsMarkup) {
    // The name of a person begins anew; what stood before it was white space.
    if (personParts.has(key)) capture.parts = [];
    return;
  }
  let tag = `<${name.slice(name.indexOf(':') + 1)}`;
  for (const attribute in attributes) {
    if (attribute.startsWith('xmlns')) continue;
    tag += ` ${attribute}="${escapeHtml(attributes[attribute] ?? '').replaceAll('"', '&quot;')}"`;
  }
  add(capture, `${tag}>`, true);
}

// Elements that HTML writes without an end tag.
const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Takes the end of an element inside the value. */
export function closeInner(capture: Capture, key: string): void {
  capture.innerDepth = Math.max(0, capture.innerDepth - 1);
  if (capture.holdsMarkup) {
    const local = key.slice(key.indexOf(':') + 1);
    if (!voids.has(local)) add(capture, `</${local}>`, true);
    return;
  }
  if (personParts.has(key)) {
    const value = oneLine(decodeReferences(rawText(capture)));
    if (value !== null) capture.person.set(key.slice(key.indexOf(':') + 1), value);
    capture.parts = [];
  }
}

/** Takes text of the value. */
export function writeCapture(capture: Capture, text: string): void {
  add(capture, text, false);
}

function add(capture: Capture, text: string, isMarkup: boolean): void {
  if (capture.size > maxSize) return;
  capture.size += text.length;
  capture.parts.push({ text, isMarkup });
  if (isMarkup) capture.hasMarkup = true;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The value as text, elements inside left out. */
export function rawText(capture: Capture): string {
  let text = '';
  for (const part of capture.parts) if (!part.isMarkup) text += part.text;
  return isBase64(capture) ? decodeBase64(text) : text;
}

/** The value as HTML: markup that was escaped once is unescaped, markup that was written plainly is kept. */
export function htmlValue(capture: Capture): string {
  if (!capture.hasMarkup) return rawText(capture);
  let html = '';
  for (const part of capture.parts) html += part.isMarkup ? part.text : escapeHtml(part.text);
  return html;
}

/** The value as one line of text: markup off, character references decoded. */
export function lineValue(capture: Capture): string | null {
  // Atom says what its text is. Everyone else may mean HTML and mostly does.
  const isPlain = capture.attributes.type === 'text';
  if (isPlain || capture.hasMarkup) return oneLine(decodeReferences(rawText(capture)));
  return htmlToLine(rawText(capture));
}

const textConstructs = new Set(['title', 'summary', 'content', 'subtitle', 'tagline']);

// Atom 0.3 said mode="base64"; Atom 1.0 (RFC 4287 4.1.3.3) implies it for media types that are neither text nor XML.
function isBase64(capture: Capture): boolean {
  const { mode, type } = capture.attributes;
  if (mode !== undefined && mode.trim().toLowerCase() === 'base64') return true;
  if (mode !== undefined || type === undefined || !textConstructs.has(capture.key)) return false;
  return type.includes('/') && !/^\s*text\/|html|[/+]xml\s*(?:;|$)/i.test(type);
}

// The type is often wrong; only what decodes to text was base64.
function decodeBase64(text: string): string {
  if (!/^[\w+/=\s-]*$/.test(text)) return text;
  const bytes = Buffer.from(text, 'base64');
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : text;
}
