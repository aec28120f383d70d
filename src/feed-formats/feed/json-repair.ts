/** Parsed JSON, and whether its end was missing. */
export type RepairedJson = { value: unknown; truncated: boolean };

// Depth beyond which a document is not data but an attack on the parser.
const maxDepth = 512;

/**
 * Parses JSON as found: raw control characters in strings, trailing commas and text behind the end are forgiven, and a
 * document that was cut off keeps what was complete. `value` is undefined when nothing could be read.
 */
export function repairJson(text: string): RepairedJson {
  // JSON.parse counts no depth: fifteen million brackets took it four seconds and 700 MB.
  if (isTooDeep(text)) return { value: undefined, truncated: false };
  const whole = parse(text);
  if (whole !== undefined) return { value: whole, truncated: false };
  const { end, cut, closers } = scan(text);
  if (end !== null) return { value: parse(clean(text.slice(0, end))), truncated: false };
  if (cut === 0) return { value: undefined, truncated: true };
  const kept = text.slice(0, cut) + closers;
  return { value: parse(kept) ?? parse(clean(kept)), truncated: true };
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

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return false;
}

type Scan = {
  /** Where the outermost value ends, when it does. */
  end: number | null;
  /** The last place between two items of a list; 0 when there is none. */
  cut: number;
  /** The brackets that close what is open there. */
  closers: string;
};

// By character codes, because a regular expression with a match per token took seconds for 15 MB.
function scan(text: string): Scan {
  const open: string[] = [];
  const result: Scan = { end: null, cut: 0, closers: '' };
  let closersHold = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
    } else if (code === openBrace || code === openBracket) {
      open.push(code === openBrace ? '}' : ']');
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
      if (open.length === 0) return { ...result, end: at + 1 };
      if (open.length < result.closers.length) closersHold = false;
      const isItem = code === closeBrace && open.at(-1) === ']';
      // Between two items the document may end; inside an item's own lists it may not.
      if (!isItem || (closersHold && open.length > result.closers.length)) continue;
      if (!closersHold) result.closers = open.toReversed().join('');
      closersHold = true;
      result.cut = at + 1;
    }
  }
  return result;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

// Position of the quotation mark that ends the string starting here; the text's end when none does.
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

function clean(text: string): string {
  return text.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"|,(?=\s*[}\]])/g, (part) =>
    part === ',' ? '' : escapeControls(part),
  );
}

function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
