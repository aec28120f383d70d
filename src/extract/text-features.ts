import type { Codes } from './block-codes.ts';
import type { Block } from './blocks.ts';

/** Names of the features below, in order. */
export const TEXT_NAMES: readonly string[] = [
  'words',
  'chars',
  'linkShare',
  'links',
  'strongShare',
  'images',
  'wordLength',
  'commas',
  'digitShare',
  'upperShare',
  'capitalWords',
  'endsSentence',
  'sentences',
  'startsLower',
  'pipes',
  'urlish',
  'shortWords',
  'bullet',
  'codeSigns',
  'sinceImage',
  'leadLink',
];

type Sink = { add(value: number): void };

const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : 0);

// What comes after is like what came before.
const MAX_READ = 2_000;

/** Adds what the text of a block looks like: length, links, punctuation, capitals. */
export function addText(row: Sink, block: Block, i: number, { codes, starts }: Codes): void {
  const { text, chars, words } = block;
  const from = starts[i]!;
  const to = starts[i + 1]!;
  let commas = 0;
  let digits = 0;
  let upper = 0;
  let capitals = 0;
  let sentences = 0;
  let pipes = 0;
  let shorts = 0;
  let wordStart = from;
  let signs = 0;
  // Addresses: the parts of them that are no letters are met on the way.
  let urlish = to - from > MAX_READ && (text.includes('www.') || text.includes('@'));
  const end = Math.min(to, from + MAX_READ);
  for (let at = from; at <= end; at++) {
    const code = at < end ? codes[at]! : 32;
    if (code === 32) {
      if (at - wordStart > 0 && at - wordStart <= 3) shorts++;
      wordStart = at + 1;
      continue;
    }
    // Nearly all there is.
    if (code >= 97 && code <= 122) continue;
    if (code >= 48 && code <= 57) digits++;
    else if (
      (code >= 65 && code <= 90) ||
      (code >= 0xc0 && code <= 0xde) ||
      (code >= 0x410 && code <= 0x42f)
    ) {
      upper++;
      if (at === wordStart) capitals++;
    } else if (code === 44 || code === 0x3001 || code === 0xff0c) commas++;
    else if (code === 46 || code === 33 || code === 63 || code === 0x3002) {
      if (at + 1 >= end || codes[at + 1] === 32) sentences++;
      if (code === 46 && at - from >= 3 && isWww(codes, at - 3)) urlish = true;
    } else if (code === 64) urlish = true;
    else if (isCodeSign(code)) signs++;
    else if (code === 124 || code === 0xbb || code === 0x203a || code === 0x2022 || code === 0xb7) pipes++;
  }
  const last = codes[to - 1]!;
  const first = codes[from]!;
  const seen = Math.max(1, end - from);
  row.add(Math.min(words, 400));
  row.add(Math.min(chars, 3_000));
  row.add(ratio(block.linkChars, chars));
  row.add(Math.min(block.links, 30));
  row.add(ratio(block.strongChars, chars));
  row.add(Math.min(block.images, 5));
  row.add(ratio(chars, words));
  row.add(Math.min(commas, 30));
  row.add(digits / seen);
  row.add(upper / seen);
  row.add(ratio(capitals, Math.min(words, 300)));
  row.add(isEnd(last) || (isQuote(last) && to - from > 1 && isEnd(codes[to - 2]!)) ? 1 : 0);
  row.add(Math.min(sentences, 20));
  row.add(first >= 97 && first <= 122 ? 1 : 0);
  row.add(Math.min(pipes, 10));
  row.add(urlish || text.includes('http') ? 1 : 0);
  row.add(ratio(shorts, Math.min(words, 300)));
  row.add(
    first === 0x2022 ||
      first === 45 ||
      first === 0x2013 ||
      first === 0xb7 ||
      first === 0x25ba ||
      first === 0x2192 ||
      first === 0xbb
      ? 1
      : 0,
  );
  row.add(signs / seen);
  row.add(Math.min(block.sinceImage, 50));
  row.add(ratio(block.leadLinkChars, chars));
}

const isWww = (codes: Uint16Array, at: number) =>
  codes[at] === 119 && codes[at + 1] === 119 && codes[at + 2] === 119;

/** Braces, brackets, operators: seldom in prose, everywhere in programs. */
const isCodeSign = (code: number) =>
  code === 123 ||
  code === 125 ||
  code === 59 ||
  code === 61 ||
  code === 60 ||
  code === 62 ||
  code === 91 ||
  code === 93 ||
  code === 95 ||
  code === 35 ||
  code === 92 ||
  code === 36;

const isEnd = (code: number) =>
  code === 46 || code === 33 || code === 63 || code === 0x2026 || code === 0x3002;
const isQuote = (code: number) =>
  code === 34 ||
  code === 39 ||
  code === 0x201c ||
  code === 0x201d ||
  code === 0x2019 ||
  code === 0xbb ||
  code === 0xab ||
  code === 0x201e ||
  code === 41;
