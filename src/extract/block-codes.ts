/** The characters of some texts as numbers in one row: text `i` stands from `starts[i]` to `starts[i + 1]`. */
export type Codes = { codes: Uint16Array; starts: Int32Array };

// Fresh memory for every page cost more than filling it: the characters of a page are overwritten by those of the next.
let lent = new Uint16Array(0);
const MAX_LENT = 1_000_000;

function borrow(size: number): Uint16Array {
  if (size > MAX_LENT) return new Uint16Array(size);
  if (lent.length < size) lent = new Uint16Array(Math.min(MAX_LENT, 2 * size));
  return lent;
}

/**
 * Writes texts out as numbers; only good until the next call. Texts are slices of a page, for which the engine finds
 * the page, its width and the place again at every character it is asked for: five times what a typed array takes.
 */
export function writeCodes(texts: readonly { text: string }[]): Codes {
  const starts = new Int32Array(texts.length + 1);
  let all = '';
  for (let i = 0; i < texts.length; i++) {
    all += texts[i]!.text;
    starts[i + 1] = all.length;
  }
  const codes = borrow(all.length);
  Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength).write(all, 'utf16le');
  return { codes, starts };
}
