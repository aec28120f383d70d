/** One value of a JSON list as text, or what is wrong with it. */
export type JsonItem =
  | { outcome: 'text'; line: number; text: string }
  | { outcome: 'bad'; line: number; reason: string; text: string };

const mostDepth = 32;

/**
 * Cuts a JSON document into the values of its list without reading it as a whole. `listDepth` is how deep the list
 * stands: 1 for `[…]`, 2 for `{"sources": […]}`, 0 for values that simply follow each other.
 */
export async function* readJsonItems(
  chunks: AsyncIterable<string> | Iterable<string>,
  options: { listDepth: number; most: number },
): AsyncGenerator<JsonItem> {
  const cutter = new ItemCutter(options.listDepth, options.most);
  for await (const chunk of chunks) {
    yield* cutter.push(chunk);
    if (cutter.isOver) return;
  }
  yield* cutter.end();
}

const quote = 34;
const backslash = 92;

class ItemCutter {
  isOver = false;
  readonly #listDepth: number;
  readonly #most: number;
  #line = 1;
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #escaped = false;
  /** 'none': between items; 'nested': until the depth is back; 'string'; 'bare': a number or word. */
  #item: 'none' | 'nested' | 'string' | 'bare' = 'none';
  #parts: string[] = [];
  #length = 0;

  constructor(listDepth: number, most: number) {
    this.#listDepth = listDepth;
    this.#most = most;
  }

  *push(chunk: string): Generator<JsonItem> {
    let start = 0;
    for (let at = 0; at < chunk.length && !this.isOver; at += 1) {
      const code = chunk.charCodeAt(at);
      if (code === 10) this.#line += 1;
      if (this.#item === 'none') {
        if (!this.#begins(code)) continue;
        start = at;
      }
      const end = this.#step(code);
      if (end === 'goes on') continue;
      this.#take(chunk.slice(start, end === 'after' ? at + 1 : at));
      yield this.#finish();
      if (end === 'before') this.#outside(code);
    }
    if (this.#item !== 'none') this.#take(chunk.slice(start));
  }

  *end(): Generator<JsonItem> {
    if (this.#item === 'bare') yield this.#finish();
    else if (this.#item !== 'none')
      yield { ...this.#finish(), outcome: 'bad', reason: 'the file ends inside this entry' };
    else if (this.#depth > 0)
      yield { outcome: 'bad', line: this.#line, reason: 'the file ends before its list does', text: '' };
  }

  /** A character between items: punctuation is passed over, anything else begins an item. */
  #begins(code: number): boolean {
    if (this.#inString) {
      // The name of the list's own key.
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === quote) this.#inString = false;
      return false;
    }
    if (code <= 32 || code === 44 || code === 58 || code === 0xfeff) return false;
    if (this.#depth < this.#listDepth) {
      if (code === quote) this.#inString = true;
      else this.#outside(code);
      return false;
    }
    if (code === 93 || code === 125) {
      this.#outside(code);
      return false;
    }
    this.#item = code === 123 || code === 91 ? 'nested' : code === quote ? 'string' : 'bare';
    this.#deepest = this.#depth;
    return true;
  }

  #outside(code: number): void {
    if (code === 123 || code === 91) this.#depth += 1;
    else if (code === 93 || code === 125) this.#depth -= 1;
    // What follows the list is no list.
    if (this.#listDepth > 0 && this.#depth < this.#listDepth && (code === 93 || code === 125))
      this.isOver = true;
    if (this.#depth < 0) this.#depth = 0;
  }

  /** One character of an item: whether the item ends before it, after it, or goes on. */
  #step(code: number): 'goes on' | 'before' | 'after' {
    if (this.#item === 'bare')
      return code <= 32 || code === 44 || code === 93 || code === 125 ? 'before' : 'goes on';
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === quote) {
        this.#inString = false;
        if (this.#item === 'string') return 'after';
      }
      return 'goes on';
    }
    if (code === quote) this.#inString = true;
    else if (code === 123 || code === 91) {
      this.#depth += 1;
      this.#deepest = Math.max(this.#deepest, this.#depth);
    } else if (code === 125 || code === 93) {
      this.#depth -= 1;
      if (this.#depth === this.#listDepth) return 'after';
    }
    return 'goes on';
  }

  #take(piece: string): void {
    if (this.#length < this.#most) this.#parts.push(piece.slice(0, this.#most - this.#length));
    this.#length += piece.length;
  }

  #finish(): JsonItem {
    const text = this.#parts.join('');
    const isLong = this.#length > this.#most;
    const isDeep = this.#deepest - this.#listDepth > mostDepth;
    this.#item = 'none';
    this.#parts = [];
    this.#length = 0;
    const line = this.#line;
    if (isLong) return { outcome: 'bad', line, reason: `longer than ${this.#most} characters`, text };
    if (isDeep) return { outcome: 'bad', line, reason: `nested deeper than ${mostDepth} levels`, text };
    return { outcome: 'text', line, text };
  }
}
