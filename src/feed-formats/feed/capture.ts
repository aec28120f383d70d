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
  /** The text so far, elements left out. */
  text: string;
  /** The text so far with the elements inside it; null until there is one. */
  html: string | null;
  /** Values of the parts of a person: name, email. */
  person: Map<string, string>;
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

// Shared by all captures without persons, which is most of them.
const noPerson: Map<string, string> = new Map();

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
    text: '',
    html: null,
    person: noPerson,
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
    if (personParts.has(key)) capture.text = '';
    return;
  }
  let tag = `<${name.slice(name.indexOf(':') + 1)}`;
  for (const attribute in attributes) {
    if (attribute.startsWith('xmlns')) continue;
    tag += ` ${attribute}="${escapeHtml(attributes[attribute] ?? '').replaceAll('"', '&quot;')}"`;
  }
  addMarkup(capture, `${tag}>`);
}

// Elements that HTML writes without an end tag.
const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Takes the end of an element inside the value. */
export function closeInner(capture: Capture, key: string): void {
  capture.innerDepth = Math.max(0, capture.innerDepth - 1);
  if (capture.holdsMarkup) {
    const local = key.slice(key.indexOf(':') + 1);
    if (!voids.has(local)) addMarkup(capture, `</${local}>`);
    return;
  }
  if (personParts.has(key)) {
    const value = oneLine(decodeReferences(rawText(capture)));
    if (capture.person === noPerson) capture.person = new Map();
    if (value !== null) capture.person.set(key.slice(key.indexOf(':') + 1), value);
    capture.text = '';
  }
}

/** Takes text of the value. */
export function writeCapture(capture: Capture, text: string): void {
  const room = maxSize - capture.text.length;
  if (room <= 0) return;
  const part = text.length > room ? text.slice(0, room) : text;
  capture.text += part;
  if (capture.html !== null) capture.html += escapeHtml(part);
}

function addMarkup(capture: Capture, tag: string): void {
  capture.html ??= escapeHtml(capture.text);
  if (capture.html.length <= maxSize) capture.html += tag;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The value as text, elements inside left out. */
export function rawText(capture: Capture): string {
  return isBase64(capture) ? decodeBase64(capture.text) : capture.text;
}

/** The value as HTML: markup that was escaped once is unescaped, markup that was written plainly is kept. */
export function htmlValue(capture: Capture): string {
  return capture.html ?? rawText(capture);
}

/** The value as one line of text: markup off, character references decoded. */
export function lineValue(capture: Capture): string | null {
  // Atom says what its text is. Everyone else may mean HTML and mostly does.
  const isPlain = capture.attributes.type === 'text';
  if (isPlain || capture.html !== null) return oneLine(decodeReferences(rawText(capture)));
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
