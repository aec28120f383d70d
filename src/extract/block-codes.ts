import { lender } from './lent-memory.ts';

/** The characters of some texts as numbers in one row: text `i` stands from `starts[i]` to `starts[i + 1]`. */
export type Codes = { codes: Uint16Array; starts: Int32Array };

const borrow = lender((size) => new Uint16Array(size));

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
