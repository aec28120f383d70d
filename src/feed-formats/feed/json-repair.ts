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

// One pass that copies the text with its small errors mended and remembers the last place where a value ended that
// an array or object could close behind.
function scan(text: string): Scan {
  const open: string[] = [];
  const result: Scan = { clean: '', cut: 0, closers: '', deep: false };
  const parts: string[] = [];
  let length = 0;
  const emit = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  const token = /"(?:[^"\\]|\\[\s\S])*"|[{}[\],]|[^"{}[\],]+|"/gy;
  let pendingComma = false;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const part = match[0];
    if (part === '"') break;
    if (part === ',') {
      pendingComma = true;
      continue;
    }
    if (pendingComma && part.trim() !== '') {
      // A comma before a closing bracket says nothing.
      if (part !== '}' && part !== ']') emit(',');
      pendingComma = false;
    }
    if (part === '{' || part === '[') open.push(part === '{' ? '}' : ']');
    if (open.length > maxDepth) return { ...result, deep: true };
    emit(part.startsWith('"') ? escapeControls(part) : part);
    if ((part === '}' || part === ']') && open.pop() === undefined) break;
    // After a complete object inside an array the document may end; inside an item it may not.
    if (part === '}' && open.at(-1) === ']' && (result.cut === 0 || open.length <= result.closers.length)) {
      result.cut = length;
      result.closers = open.toReversed().join('');
    }
    if (open.length === 0 && (part === '}' || part === ']')) break;
  }
  result.clean = parts.join('');
  return result;
}

function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
