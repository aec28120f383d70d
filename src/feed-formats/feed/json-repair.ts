/** Parsed JSON, and whether its end was missing. */
export type RepairedJson = { value: unknown; truncated: boolean };

// Depth beyond which a document is not data but an attack on the parser.
const maxDepth = 512;

/**
 * Parses JSON as found: raw control characters in strings and trailing commas are forgiven, and a document that was
 * cut off keeps what was complete. `value` is undefined when nothing could be read.
 */
export function repairJson(text: string): RepairedJson {
  const whole = parse(text);
  if (whole !== undefined) return { value: whole, truncated: false };
  const { clean, cut, closers, deep } = scan(text);
  if (deep) return { value: undefined, truncated: false };
  const cleaned = parse(clean);
  if (cleaned !== undefined) return { value: cleaned, truncated: false };
  return { value: cut === 0 ? undefined : parse(clean.slice(0, cut) + closers), truncated: true };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // JSON.parse reports malformed text only by throwing; a RangeError is text nested too deep for it.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return undefined;
  }
}

type Scan = { clean: string; cut: number; closers: string; deep: boolean };

// Strings by the character instead of by alternatives: a regular expression that loops over alternatives took 5 s
// for 15 MB where this takes a fraction of one.
const token = /[{}[\],]|[^"{}[\],]+/y;
const stringEnd = /[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;

// One pass that copies the text with its small errors mended and remembers the last place where an object ended
// that an array could end behind.
function scan(text: string): Scan {
  const open: string[] = [];
  const result: Scan = { clean: '', cut: 0, closers: '', deep: false };
  const parts: string[] = [];
  let length = 0;
  let pendingComma = false;
  let closersHold = false;
  for (let at = 0; at < text.length; ) {
    const isString = text[at] === '"';
    const pattern = isString ? stringEnd : token;
    pattern.lastIndex = isString ? at + 1 : at;
    // A string without an end is where the document was cut.
    if (!pattern.test(text)) break;
    const part = text.slice(at, pattern.lastIndex);
    at = pattern.lastIndex;
    if (part === ',') {
      pendingComma = true;
      continue;
    }
    const isClosing = part === '}' || part === ']';
    if (pendingComma && part.trim() !== '') {
      // A comma before a closing bracket says nothing.
      if (!isClosing) length += parts.push(',') > 0 ? 1 : 0;
      pendingComma = false;
    }
    if (part === '{' || part === '[') open.push(part === '{' ? '}' : ']');
    if (open.length > maxDepth) return { ...result, deep: true };
    const mended = isString ? escapeControls(part) : part;
    parts.push(mended);
    length += mended.length;
    if (!isClosing) continue;
    if (open.pop() === undefined || open.length === 0) break;
    if (open.length < result.closers.length) closersHold = false;
    if (part !== '}' || open.at(-1) !== ']' || (closersHold && open.length > result.closers.length)) continue;
    // Between two items the document may end; inside an item's own lists it may not.
    if (!closersHold) result.closers = open.toReversed().join('');
    closersHold = true;
    result.cut = length;
  }
  result.clean = parts.join('');
  return result;
}

function escapeControls(text: string): string {
  return /[\u0000-\u001f]/.test(text)
    ? text.replace(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
}
