// RFC 3492, section 5.
const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;
// A label of a host has 63 characters; whatever is longer is no name.
const mostLength = 63;

function adapt(delta: number, points: number, isFirst: boolean): number {
  let left = isFirst ? Math.floor(delta / damp) : delta >> 1;
  left += Math.floor(left / points);
  let k = 0;
  while (left > ((base - tMin) * tMax) >> 1) {
    left = Math.floor(left / (base - tMin));
    k += base;
  }
  return k + Math.floor(((base - tMin + 1) * left) / (left + skew));
}

function digitOf(sign: string): number {
  const digit = Number.parseInt(sign, base);
  // As digits of base 36 the letters come behind the numbers; here they come before.
  return Number.isNaN(digit) ? base : digit < 10 ? digit + 26 : digit - 10;
}

/** What stands behind "xn--", decoded; null: it is none. */
function decode(text: string): string | null {
  const border = text.lastIndexOf('-');
  const points = border > 0 ? [...text.slice(0, border)].map((sign) => sign.codePointAt(0)!) : [];
  let [point, index, bias] = [128, 0, 72];
  for (let at = border > 0 ? border + 1 : 0; at < text.length; ) {
    const before = index;
    let weight = 1;
    for (let k = base; ; k += base) {
      const digit = at < text.length ? digitOf(text[at]!) : base;
      at += 1;
      if (digit >= base) return null;
      index += digit * weight;
      const least = Math.min(tMax, Math.max(tMin, k - bias));
      if (digit < least) break;
      weight *= base - least;
    }
    const length = points.length + 1;
    bias = adapt(index - before, length, before === 0);
    point += Math.floor(index / length);
    index %= length;
    if (point > 0x10ffff) return null;
    points.splice(index, 0, point);
    index += 1;
  }
  return String.fromCodePoint(...points);
}

// As browsers do: "раypal" with some Cyrillic letters among Latin ones must not look like a name that it is not.
const scripts = [
  /^[\p{Script=Latin}\p{M}]+$/u,
  /^[\p{Script=Greek}\p{M}]+$/u,
  /^[\p{Script=Cyrillic}\p{M}]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u,
  /^[\p{Script=Hangul}\p{Script=Han}]+$/u,
  /^[\p{Script=Arabic}\p{M}]+$/u,
  /^[\p{Script=Hebrew}\p{M}]+$/u,
  /^[\p{Script=Thai}\p{M}]+$/u,
  /^[\p{Script=Devanagari}\p{M}]+$/u,
  /^[\p{Script=Bengali}\p{M}]+$/u,
  /^[\p{Script=Tamil}\p{M}]+$/u,
  /^[\p{Script=Georgian}\p{M}]+$/u,
  /^[\p{Script=Armenian}\p{M}]+$/u,
];
// All of whose letters look like Latin ones: whole words can be made of them.
const lookalike = /^[асԁеһіјӏорԛѕԝхуъьвкмнтԍ\d-]+$/u;

function labelText(label: string): string {
  if (!label.startsWith('xn--') || label.length > mostLength) return label;
  const decoded = decode(label.slice(4));
  if (decoded === null || !/[^\0-\x7f]/.test(decoded) || lookalike.test(decoded)) return label;
  const letters = decoded.replace(/[\d-]/g, '');
  return scripts.some((script) => script.test(letters)) ? decoded : label;
}

/** A host, an address or a sentence with hosts as their readers write them: "münchen.de" for "xn--mnchen-3ya.de". */
export const readable = (text: string): string =>
  text.includes('xn--') ? text.replace(/(?<![a-z0-9-])xn--[a-z0-9-]+/g, labelText) : text;

/** An address without what all of them have. */
export const shortAddress = (url: string): string => readable(url).replace(/^https?:\/\//, '');
