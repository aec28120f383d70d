/** Value of a hexadecimal digit by its character code, or -1. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  if (code >= 97 && code <= 102) return code - 87;
  return -1;
}

/** Whether RFC 3986 section 2.3 calls the character unreserved: its escape means the same as itself. */
export function isUnreserved(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    code === 45 ||
    code === 46 ||
    code === 95 ||
    code === 126
  );
}

/**
 * Decodes the escapes of unreserved characters and upper-cases the others (RFC 3986 section 6.2.2).
 * A lone `%` stays, and an escape behind it that would complete a new escape stays too (`%4%31` is not `%41`),
 * else normalising twice would differ from normalising once.
 */
export function normaliseEscapes(text: string): string {
  let at = text.indexOf('%');
  if (at < 0) return text;
  let out = text.slice(0, at);
  // How many characters of an unfinished escape the output ends with: 0, 1 (`%`) or 2 (`%4`).
  let open = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const high = code === 37 && at + 2 < text.length ? hexValue(text.charCodeAt(at + 1)) : -1;
    const low = high >= 0 ? hexValue(text.charCodeAt(at + 2)) : -1;
    if (low < 0) {
      out += text[at];
      open = code === 37 ? 1 : open === 1 && hexValue(code) >= 0 ? 2 : 0;
      at += 1;
      continue;
    }
    const value = high * 16 + low;
    const completes = open > 0 && hexValue(value) >= 0;
    if (isUnreserved(value) && !completes) out += String.fromCharCode(value);
    else out += `%${text.slice(at + 1, at + 3).toUpperCase()}`;
    open = 0;
    at += 3;
  }
  return out;
}
