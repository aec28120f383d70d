import { isAscii, isUtf8 } from 'node:buffer';
import { resolveLabel } from './labels.ts';
import { metaCharset } from './meta-charset.ts';
import { sniffLegacy } from './sniff.ts';

/** What is known about the bytes besides themselves. */
export type DecodeOptions = {
  /** The Content-Type header, as received. */
  contentType?: string | undefined;
  /** What the document is; decides where a declaration is looked for. */
  kind?: 'html' | 'xml' | 'text' | 'json' | undefined;
};

/** Whether the bytes are all of the document, or its beginning. */
export type Extent = 'whole' | 'beginning';

/** What the choice of an encoding rests on. */
export type Evidence = 'bom' | 'header' | 'declaration' | 'sniff';

/** A chosen encoding and why. */
export type Detected = { charset: string; evidence: Evidence };

// HTML says the meta element must be within the first 1024 bytes; real pages put scripts before it.
const declarationBytes = 8192;

/** Chooses the encoding: byte order mark, then HTTP header, then declaration, then the bytes themselves. */
export function detectCharset(bytes: Uint8Array, options: DecodeOptions, extent: Extent): Detected {
  const wide = detectWide(bytes);
  if (wide) return wide;
  const header = headerCharset(options.contentType);
  // What most pages are; no declaration could change it.
  if (header === 'utf-8' && (isAscii(bytes) || isWholeUtf8(bytes, extent)))
    return { charset: 'utf-8', evidence: 'header' };
  const declared = declaredCharset(bytes, options.kind);
  const claims: Detected[] = [];
  if (header) claims.push({ charset: header, evidence: 'header' });
  if (declared) claims.push({ charset: declared, evidence: 'declaration' });
  if (isAscii(bytes)) return settleAscii(bytes, claims);
  if (isWholeUtf8(bytes, extent)) return settleUtf8(bytes.subarray(0, completeUtf8Length(bytes)), claims);
  return settleOther(bytes, claims, options.kind);
}

// A body cut off inside a character is common; one whose only such character is cut off proves nothing.
function isWholeUtf8(bytes: Uint8Array, extent: Extent): boolean {
  const complete = bytes.subarray(0, completeUtf8Length(bytes));
  return isUtf8(complete) && (extent === 'beginning' || !isAscii(complete));
}

// Marks, and the wide encodings an ASCII declaration cannot be written in: no header can be right against these.
function detectWide(bytes: Uint8Array): Detected | null {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { charset: 'utf-8', evidence: 'bom' };
  if (a === 0xff && b === 0xfe)
    return { charset: c === 0 && d === 0 ? 'utf-32le' : 'utf-16le', evidence: 'bom' };
  if (a === 0xfe && b === 0xff) return { charset: 'utf-16be', evidence: 'bom' };
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return { charset: 'utf-32be', evidence: 'bom' };
  if (bytes.length < 4) return null;
  if (isMarkup(a) && b === 0 && c === 0 && d === 0) return { charset: 'utf-32le', evidence: 'sniff' };
  if (a === 0 && b === 0 && c === 0 && isMarkup(d)) return { charset: 'utf-32be', evidence: 'sniff' };
  if (isMarkup(a) && b === 0 && c !== 0 && d === 0) return { charset: 'utf-16le', evidence: 'sniff' };
  if (a === 0 && isMarkup(b) && c === 0 && d !== 0) return { charset: 'utf-16be', evidence: 'sniff' };
  // "<?xm" in EBCDIC (XML 1.0, appendix F).
  if (a === 0x4c && b === 0x6f && c === 0xa7 && d === 0x94)
    return { charset: ebcdicDeclaration(bytes), evidence: 'declaration' };
  return null;
}

// "<", "{", "[" or white space: what documents start with.
function isMarkup(byte: number | undefined): boolean {
  return byte === 0x3c || byte === 0x7b || byte === 0x5b || byte === 0x20 || byte === 0x0a || byte === 0x0d;
}

// The digits of "cp037" and "cp500" have the same bytes in every EBCDIC page.
function ebcdicDeclaration(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes.subarray(0, 128)) digits += byte >= 0xf0 && byte <= 0xf9 ? byte - 0xf0 : ' ';
  if (digits.includes('500')) return 'cp500';
  return digits.includes('1140') ? 'cp1140' : 'cp037';
}

function headerCharset(contentType: string | undefined): string | null {
  if (contentType === undefined) return null;
  const match = /;\s*charset\s*=\s*["']?([^\s"';,]{1,64})/i.exec(contentType.slice(0, 1000));
  return match?.[1] === undefined ? null : claimOf(match[1]);
}

// "us-ascii" is what servers and libraries write who never thought about it: it claims nothing for other bytes.
function claimOf(label: string): string | null {
  return /^(?:us-?)?ascii$|^ansi_x3/i.test(label) ? null : resolveLabel(label);
}

function declaredCharset(bytes: Uint8Array, kind: DecodeOptions['kind']): string | null {
  if (kind === 'text' || kind === 'json') return null;
  const head = Buffer.from(bytes.subarray(0, declarationBytes)).toString('latin1');
  const xml = /<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([^"'>]{1,64})["']/i.exec(head);
  const meta = kind === 'xml' ? null : metaCharset(head, (label) => claimOf(label) !== null);
  const label = kind === 'html' ? (meta ?? xml?.[1]) : (xml?.[1] ?? meta);
  const charset = label == null ? null : claimOf(label);
  // Whoever could read the declaration byte by byte was not reading UTF-16 (HTML, "prescan a byte stream").
  return charset !== null && /^utf-(?:16|32)/.test(charset) ? 'utf-8' : charset;
}

function settleAscii(bytes: Uint8Array, claims: Detected[]): Detected {
  // Escape sequences make ISO-2022 and HZ look like ASCII.
  const claim = claims[0];
  if (claim && !isWide(claim.charset)) return claim;
  if (bytes.includes(0x1b) && sniffLegacy(bytes) === 'iso-2022-jp')
    return { charset: 'iso-2022-jp', evidence: 'sniff' };
  return { charset: 'utf-8', evidence: 'sniff' };
}

// Text that is valid UTF-8 beyond ASCII is UTF-8 whatever it says: single-byte text passes that test by accident
// about once in a thousand short texts, double-byte text more often, so those need more proof.
function settleUtf8(bytes: Uint8Array, claims: Detected[]): Detected {
  const agreeing = claims.find((claim) => claim.charset === 'utf-8');
  if (agreeing) return agreeing;
  const claim = claims[0];
  if (!claim || isWide(claim.charset)) return { charset: 'utf-8', evidence: 'sniff' };
  if (isDoubleByte(claim.charset) && countMultibyte(bytes, 6) < 6) return claim;
  return { charset: 'utf-8', evidence: 'sniff' };
}

function settleOther(bytes: Uint8Array, claims: Detected[], kind: DecodeOptions['kind']): Detected {
  for (const claim of claims) {
    if (isWide(claim.charset)) continue;
    // A few damaged bytes in good UTF-8 are damage; more damage than characters is another encoding.
    if (claim.charset === 'utf-8' && !isMostlyUtf8(bytes)) continue;
    // Latin-1 in a header is often the server's default; a document that names a double-byte encoding knows better.
    if (claim.charset === 'windows-1252' && claims.some((other) => isDoubleByte(other.charset))) continue;
    return claim;
  }
  if (kind === 'json' || (claims.length === 0 && isMostlyUtf8(bytes)))
    return { charset: 'utf-8', evidence: 'sniff' };
  return { charset: sniffLegacy(bytes), evidence: 'sniff' };
}

function isWide(charset: string): boolean {
  return /^utf-(?:16|32)|^cp(?:037|500|1140)$/.test(charset);
}

function isDoubleByte(charset: string): boolean {
  return /^(?:gb18030|big5|shift_jis|euc-jp|euc-kr|iso-2022-jp)$/.test(charset);
}

function countMultibyte(bytes: Uint8Array, enough: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count < enough; at += 1) if ((bytes[at] ?? 0) >= 0xc0) count += 1;
  return count;
}

/** Length without a UTF-8 sequence cut off at the end, so that a first chunk can be judged. */
export function completeUtf8Length(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function isMostlyUtf8(bytes: Uint8Array): boolean {
  let good = 0;
  let bad = 0;
  const end = Math.min(bytes.length, 1 << 20);
  for (let at = 0; at < end; ) {
    if (bytes[at]! < 0x80) {
      at += 1;
      continue;
    }
    const length = sequenceLength(bytes, at);
    if (length > 0) good += 1;
    else bad += 1;
    at += Math.max(1, length);
  }
  return good > bad * 3;
}

/** Bytes of the UTF-8 character beyond ASCII that stands at a place; 0 when there is none (Unicode, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  const length = lead >= 0xf5 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1]!;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let i = 2; i < length; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0;
  return length;
}
