const WHOLE = 1;
const WORD = 2;
const DIGITS = 35;
const step = (hash: number, code: number) => (Math.imul(hash, 31) + code) | 0;
const isDigit = (code: number) => code >= 48 && code <= 57;
const isLower = (code: number) => code >= 97 && code <= 122;
const isUpper = (code: number) => code >= 65 && code <= 90;

/**
 * The names in a class attribute and the words they are made of as hashes: "postBody entry-12" gives those of postBody,
 * post, body, entry-# and entry. Numbers of any length are one sign, as they tell items of a list apart.
 */
export function hashNames(codes: ArrayLike<number>, start: number, end: number): number[] {
  const hashes: number[] = [];
  let whole = WHOLE;
  let word = WORD;
  let letters = 0;
  let before = 32;
  for (let at = start; at <= end; at++) {
    const code = at < end ? codes[at]! : 32;
    const upper = isUpper(code);
    if (upper || isLower(code)) {
      if (upper && (isLower(before) || isDigit(before))) {
        if (letters > 1) hashes.push(word);
        word = WORD;
        letters = 0;
      }
      word = step(word, upper ? code + 32 : code);
      letters++;
    } else if (letters > 0) {
      if (letters > 1) hashes.push(word);
      word = WORD;
      letters = 0;
    }
    if (code <= 32) {
      if (whole !== WHOLE) hashes.push(whole);
      whole = WHOLE;
    } else if (!isDigit(code)) whole = step(whole, code);
    else if (!isDigit(before)) whole = step(whole, DIGITS);
    before = code;
  }
  return hashes;
}
