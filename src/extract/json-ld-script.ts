const MAX_SCRIPT_CHARS = 2_000_000;

/** Parses one JSON-LD script; broken JSON is repaired where the damage is common, else null. */
export function parseLdScript(source: string): unknown {
  if (source.length > MAX_SCRIPT_CHARS) return null;
  let text = source.trim().replace(/^(?:<!--|\/\*\s?<!\[CDATA\[\s?\*\/|\/\/\s?<!\[CDATA\[|<!\[CDATA\[)/, '');
  if (/(?:-->|\]\]>|\*\/|;)$/.test(text.slice(-5))) {
    text = text.slice(
      0,
      Math.max(text.lastIndexOf('}'), text.lastIndexOf(']\n'), text.lastIndexOf('}]') + 1) + 1,
    );
  }
  text = text.trim();
  if (text === '') return null;
  return tryParse(text) ?? tryParse(new Repair(text).run());
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

const ESCAPED_QUOTE = /&(?:quot|#34|#x22);/gi;
// What may follow the quotation mark that ends a string.
const ENDS_STRING = /[,:}\]]/;
// Scripts write these where JSON has null.
const NO_VALUE = /(?:undefined|NaN)(?![\w$])/y;

/**
 * Writes a script again as JSON: line breaks and quotation marks inside strings, bad escapes, comments, missing values,
 * trailing and missing commas, a missing or doubled end, several values one after the other.
 */
class Repair {
  private readonly source: string;
  // Pieces and the last sign kept by hand: asking a growing string for its end took minutes on a hostile page.
  private readonly out: string[] = [];
  private readonly open: string[] = [];
  private last = '';
  private at = 0;

  constructor(text: string) {
    this.source = text.includes('"') ? text : text.replace(ESCAPED_QUOTE, '"');
  }

  run(): string {
    const { source, open } = this;
    const roots: string[] = [];
    while (this.at < source.length) {
      const c = source[this.at]!;
      if (c <= ' ') this.at++;
      else if (c === '/' && this.skipComment()) continue;
      // Between two values there is a comma at the most.
      else if (open.length === 0 && c !== '{' && c !== '[') {
        if (c !== ',' && roots.length > 0) break;
        this.at++;
      } else if (!this.readSign(c)) return '';
      else if (open.length === 0) {
        roots.push(this.out.join(''));
        this.out.length = 0;
        this.last = '';
      }
    }
    if (open.length > 0) {
      this.endValue();
      while (open.length > 0) this.out.push(open.pop()!);
      roots.push(this.out.join(''));
    }
    return roots.length === 1 ? roots[0]! : `[${roots.join(',')}]`;
  }

  /** Reads what begins with a sign outside of strings; false where no JSON can be made of it. */
  private readSign(c: string): boolean {
    if (c === '"') {
      // A string right behind a value: the comma between them is missing.
      if (this.last === '"' || this.last === '}' || this.last === ']') this.put(',');
      this.readString();
      return true;
    }
    if (c === '}' || c === ']') {
      this.endValue();
      if (this.open.pop() !== c) return false;
      this.put(c);
    } else if (c === '{' || c === '[') {
      this.open.push(c === '{' ? '}' : ']');
      this.put(c);
    } else if (c === ',') {
      if (this.last === ':') this.put('null');
      if (this.last !== ',') this.put(c);
    } else {
      NO_VALUE.lastIndex = this.at;
      const nothing = c === 'u' || c === 'N' ? NO_VALUE.exec(this.source)?.[0] : undefined;
      this.put(nothing === undefined ? c : 'null');
      this.at += (nothing ?? c).length;
      return true;
    }
    this.at++;
    return true;
  }

  private put(piece: string): void {
    this.out.push(piece);
    this.last = piece;
  }

  private endValue(): void {
    if (this.last === ':') this.put('null');
    else if (this.last === ',') this.out.pop();
  }

  private readString(): void {
    const { source, out } = this;
    this.put('"');
    while (++this.at < source.length) {
      const c = source[this.at]!;
      if (c === '\\') {
        const next = source[++this.at] ?? '';
        out.push('"\\/bfnrtu'.includes(next) ? c + next : next);
      } else if (c === '"') {
        if (this.isEnd()) break;
        out.push('\\"');
      } else if (c >= ' ') out.push(c);
      else if (c === '\n') out.push('\\n');
      else if (c === '\r' || c === '\t') out.push(' ');
    }
    this.at++;
    this.put('"');
  }

  /** Whether the quotation mark here ends the string: what follows it is JSON, or the next line. */
  private isEnd(): boolean {
    const { source } = this;
    let at = this.at + 1;
    while (at < source.length && at < this.at + MAX_SPACES && source[at]! <= ' ')
      if (source[at++] === '\n') return true;
    return at >= source.length || ENDS_STRING.test(source[at]!) || source.startsWith('/*', at);
  }

  /** Steps over a comment as scripts have them; false where none begins. */
  private skipComment(): boolean {
    const { source, at } = this;
    const next = source[at + 1];
    if (next !== '*' && next !== '/') return false;
    const end = source.indexOf(next === '*' ? '*/' : '\n', at + 2);
    this.at = end < 0 ? source.length : end + (next === '*' ? 2 : 1);
    return true;
  }
}

// More than this between a string and what follows it is looked at no further.
const MAX_SPACES = 100;
