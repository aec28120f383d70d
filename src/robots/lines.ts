// Google's limit (eight times the 2,083 characters of old browsers' URLs); what follows on the line is dropped.
const MAX_LINE_BYTES = 16_663;

/** The lines of a robots.txt, numbered from 1, as latin-1 (a character per byte, so that escapes stay exact). */
export function* readLines(body: Uint8Array): Generator<{ text: string; line: number }> {
  const bytes = textBytes(body);
  let start = 0;
  let line = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    const code = at < bytes.length ? bytes[at]! : 10;
    if (code !== 10 && code !== 13) continue;
    line += 1;
    yield { text: lineText(bytes, start, at), line };
    if (code === 13 && bytes[at + 1] === 10) at += 1;
    start = at + 1;
  }
}

/** Whether the body is no text at all: an image, an archive, a compressed answer. */
export function isProbablyBinary(bytes: Uint8Array): boolean {
  if (isUtf16(bytes)) return false;
  const sample = bytes.subarray(0, 1024);
  let control = 0;
  for (const code of sample) if (code < 9 || (code > 13 && code < 32) || code === 127) control += 1;
  return control > Math.max(2, sample.length / 10);
}

/** Whether the body is a page served in place of the file. A PHP warning before real rules is not: they count. */
export function isProbablyHtml(bytes: Uint8Array): boolean {
  const start = latin1(textBytes(bytes).subarray(0, 1024)).replace(/^\s+/, '').toLowerCase();
  return /^(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<(?:!doctype|html|head|body|script|title|meta)\b/.test(
    start,
  );
}

function lineText(bytes: Uint8Array, start: number, end: number): string {
  const text = latin1(bytes.subarray(start, Math.min(end, start + MAX_LINE_BYTES)));
  const nul = text.indexOf('\0');
  return nul < 0 ? text : text.slice(0, nul);
}

/** The bytes without their mark; files in UTF-16 are turned into UTF-8 rather than read as rules for nobody. */
function textBytes(bytes: Uint8Array): Uint8Array {
  if (isUtf16(bytes)) {
    const even = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)));
    const little = bytes[0] === 0xff ? even : even.swap16();
    return Buffer.from(little.toString('utf16le'), 'utf8');
  }
  // A cut mark (EF or EF BB alone) is skipped as far as it goes, as Google's parser does.
  const mark = [0xef, 0xbb, 0xbf];
  let at = 0;
  while (at < 3 && bytes[at] === mark[at]) at += 1;
  return bytes.subarray(at);
}

function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
