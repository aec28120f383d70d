const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

// Longest reference worth waiting for at a chunk's end: `&#x0010FFFF;` and some zeros.
const MAX_REFERENCE = 16;

/**
 * Decodes the five predefined entities and character references. Others stay as they are: expanding what a document
 * declares is how a kilobyte becomes a gigabyte, or a local file.
 */
export function decodeEntities(text: string): string {
  let at = text.indexOf('&');
  if (at < 0) return text;
  let out = '';
  let copied = 0;
  while (at >= 0) {
    const end = endOfReference(text, at + 1);
    const value = end < 0 ? null : decodeReference(text.slice(at + 1, end));
    if (value !== null) {
      out += text.slice(copied, at) + value;
      copied = end + 1;
    }
    at = text.indexOf('&', value === null ? at + 1 : copied);
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** Where a reference begins that the next chunk may finish, or the text's length. */
export function unfinishedReference(text: string): number {
  const at = text.lastIndexOf('&');
  return at < 0 || text.length - at >= MAX_REFERENCE || text.indexOf(';', at) >= 0 ? text.length : at;
}

/** The `;` of a reference, looked for near by only: `&&&&…;` must not be searched to its end from each `&`. */
function endOfReference(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_REFERENCE);
  for (let at = start; at < limit; at += 1) if (text.charCodeAt(at) === 59) return at;
  return -1;
}

function decodeReference(name: string): string | null {
  if (name.charCodeAt(0) !== 35) return named.get(name) ?? null;
  const match = /^#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,10}))$/.exec(name);
  if (match === null) return null;
  const code = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd';
  return String.fromCodePoint(code);
}

/**
 * An address with its ampersands unescaped once more: some write `&amp;amp;`, or `&amp;` inside CDATA, where it stands for
 * itself. No address means a parameter called `amp;page`, and servers answer without the parameter or with 404.
 */
export function unescapeAgain(address: string): string {
  return address.includes('&') ? address.replace(/&(?:amp;|#0{0,5}38;|#x0{0,5}26;)+/gi, '&') : address;
}
