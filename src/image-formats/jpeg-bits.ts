/** The code lengths and values of a table; the lookup is made when a scan needs it. */
export class HuffmanTable {
  readonly #counts: Uint8Array;
  readonly #values: Uint8Array;
  #lookup: Uint16Array | null = null;

  constructor(counts: Uint8Array, values: Uint8Array) {
    this.#counts = counts;
    this.#values = values;
  }

  /** For every 16 bits the length of the code they begin with, times 256, and its value; 0: no code. */
  get lookup(): Uint16Array {
    if (this.#lookup !== null) return this.#lookup;
    const lookup = new Uint16Array(65_536);
    let [code, nth] = [0, 0];
    for (let length = 1; length <= 16; length += 1) {
      for (let i = 0; i < this.#counts[length - 1]!; i += 1) {
        const from = code << (16 - length);
        // More codes than there is room for: the rest of a made-up table is left out.
        if (from < 65_536) lookup.fill((length << 8) | this.#values[nth]!, from, from + (1 << (16 - length)));
        code += 1;
        nth += 1;
      }
      code <<= 1;
    }
    this.#lookup = lookup;
    return lookup;
  }
}

/** Reads the tables of a DHT segment under their class and number (class 1: 0x10). */
export function readHuffmanTables(
  body: Buffer,
  start: number,
  end: number,
  into: Map<number, HuffmanTable>,
): void {
  for (let at = start; at + 17 <= end; ) {
    const counts = body.subarray(at + 1, at + 17);
    let length = 0;
    for (const count of counts) length += count;
    if (length > 256 || at + 17 + length > end) return;
    into.set(body[at]! & 0x1f, new HuffmanTable(counts, body.subarray(at + 17, at + 17 + length)));
    at += 17 + length;
  }
}

/** The bits of a scan, without the zero bytes behind 0xFF; at a marker or the end there are none left. */
export class BitReader {
  readonly #body: Buffer;
  #at: number;
  #held = 0;
  #count = 0;
  // Bits that were made up behind the end: a code may look 16 ahead, so ending with a few of them is fine.
  #lent = 0;

  constructor(body: Buffer, at: number) {
    this.#body = body;
    this.#at = at;
  }

  /** Bits were used that are not there. */
  get isEnded(): boolean {
    return this.#lent > this.#count;
  }

  #fill(): void {
    while (this.#count <= 16) {
      const byte = this.#body[this.#at];
      const isMarker = byte === 0xff && this.#body[this.#at + 1] !== 0;
      if (byte === undefined || isMarker) {
        this.#held = (this.#held << 8) & 0xffffff;
        this.#lent += 8;
      } else {
        this.#held = ((this.#held << 8) | byte) & 0xffffff;
        this.#at += byte === 0xff ? 2 : 1;
      }
      this.#count += 8;
    }
  }

  #code(lookup: Uint16Array): number {
    this.#fill();
    const entry = lookup[(this.#held >> (this.#count - 16)) & 0xffff]!;
    // No code: one bit is dropped, so that damaged data comes to its end.
    this.#count -= entry === 0 ? 1 : entry >> 8;
    return entry & 0xff;
  }

  #bits(count: number): number {
    if (count === 0) return 0;
    this.#fill();
    this.#count -= count;
    return (this.#held >> this.#count) & ((1 << count) - 1);
  }

  /** The next first coefficient, as its difference from the one before. */
  difference(table: HuffmanTable): number {
    const size = Math.min(this.#code(table.lookup), 16);
    const value = this.#bits(size);
    return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }

  /** Steps over the other 63 coefficients of a block. */
  skipBlock(table: HuffmanTable): void {
    const { lookup } = table;
    for (let nth = 1; nth < 64; nth += 1) {
      const code = this.#code(lookup);
      const size = code & 15;
      if (size === 0 && code < 0xf0) return;
      nth += code >> 4;
      this.#bits(size);
    }
  }

  /** Goes on behind a restart marker; false: there is none. */
  restart(): boolean {
    if (this.#body[this.#at] !== 0xff || (this.#body[this.#at + 1]! & 0xf8) !== 0xd0) return false;
    this.#at += 2;
    [this.#held, this.#count, this.#lent] = [0, 0, 0];
    return true;
  }
}
