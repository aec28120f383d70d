// UTF-8 read as Latin-1 and encoded again: the bytes of one character stand there as two to four characters. The second
// and third of punctuation (U+0080–U+00BF) include control characters that no text contains, so the sign is certain.
const DOUBLE =
  /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/g;
// A right or left quote, a dash: some stand on every page of prose.
const SIGN = '\u00e2\u0080';
const MIN_SIGNS = 3;

/** Undoes double UTF-8 encoding where a page shows it beyond doubt; all other pages are only searched once. */
export function repairDoubleEncoding(html: string): string {
  let signs = 0;
  for (let at = html.indexOf(SIGN); at >= 0 && signs < MIN_SIGNS; at = html.indexOf(SIGN, at + 2)) signs++;
  if (signs < MIN_SIGNS) return html;
  return html.replace(DOUBLE, (run) => {
    const text = Buffer.from(run, 'latin1').toString('utf8');
    return text.includes('\ufffd') ? run : text;
  });
}
