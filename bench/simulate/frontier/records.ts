/** Numbers of a record: eight cache lines. */
export const width = 64;

/**
 * A record of numbers for each domain. Its columns are views of one memory, each a number further on: the record of a
 * domain begins at `domain * width` in every column. With an array for each column a poll touched some fifty of them, and
 * a request among 50,000 domains cost twice what it did among 3,000.
 */
export class Records {
  readonly count: number;
  readonly #memory: ArrayBuffer;
  #columns = 0;

  constructor(count: number) {
    this.count = count;
    this.#memory = new ArrayBuffer(count * width * Float64Array.BYTES_PER_ELEMENT);
  }

  /** The next column, the same number in every record. Those that are used together should be asked for together. */
  column(value = 0): Float64Array {
    if (this.#columns === width) throw new Error(`a record has ${width} numbers and no more`);
    const column = new Float64Array(this.#memory, this.#columns * Float64Array.BYTES_PER_ELEMENT);
    this.#columns += 1;
    if (value !== 0) for (let at = 0; at < column.length; at += width) column[at] = value;
    return column;
  }
}
