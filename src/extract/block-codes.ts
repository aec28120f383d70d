import { lender } from './lent-memory.ts';

/** The characters of some texts as numbers in one row: text `i` stands from `starts[i]` to `starts[i + 1]`. */
export type Codes = { codes: Uint16Array; starts: Int32Array };

const borrowCodes = lender((size) => new Uint16Array(size));
const borrowStarts = lender((size) => new Int32Array(size));

let written: { texts: readonly object[]; codes: Codes } | null = null;

/**
 * Writes texts out as numbers; only good until the next call. Texts are slices of a page, for which the engine finds
 * the page, its width and the place again at every character it is asked for: five times what a typed array takes.
 */
export function writeCodes(texts: readonly { text: string }[]): Codes {
  const starts = borrowStarts(texts.length + 1);
  starts[0] = 0;
  let all = '';
  for (let i = 0; i < texts.length; i++) {
    all += texts[i]!.text;
    starts[i + 1] = all.length;
  }
  const codes = borrowCodes(all.length);
  Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength).write(all, 'utf16le');
  written = { texts, codes: { codes, starts } };
  return written.codes;
}

/** The same for texts that were most likely the last to be written; lets go of them, as a whole page hangs on them. */
export function takeCodes(texts: readonly { text: string }[]): Codes {
  const { codes } = written?.texts === texts ? written : { codes: writeCodes(texts) };
  written = null;
  return codes;
}
