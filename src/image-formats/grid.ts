/** Cells on each side of the grid that a picture is averaged into. */
export const gridSide = 32;

/**
 * Averages a picture's brightness into a small square as its pixels come, in any order, without holding them. A pixel
 * on the border of two cells counts in both by its parts: blocks of a JPEG are hardly smaller than the cells.
 */
export class LumaGrid {
  readonly #sums = new Float64Array((gridSide + 1) * (gridSide + 1));
  readonly #weights = new Float64Array((gridSide + 1) * (gridSide + 1));
  readonly #across: Spans;
  readonly #down: Spans;
  #row = 0;
  #rowWeight = 0;

  /** `width` and `height` in pixels, or in blocks, of which the last may stand out of the picture. */
  constructor(width: number, height: number) {
    this.#across = new Spans(width);
    this.#down = new Spans(height);
  }

  /** Chooses the row of the pixels that follow; false: it is not in the picture. */
  goTo(y: number): boolean {
    const cell = this.#down.cells[y];
    if (cell === undefined) return false;
    this.#row = cell * (gridSide + 1);
    this.#rowWeight = this.#down.shares[y]!;
    return true;
  }

  /** Adds a pixel of the row. */
  add(x: number, luma: number): void {
    const column = this.#across.cells[x];
    if (column === undefined) return;
    const share = this.#across.shares[x]!;
    const [upper, lower] = [this.#rowWeight, 1 - this.#rowWeight];
    const at = this.#row + column;
    this.#put(at, luma, share * upper);
    if (share < 1) this.#put(at + 1, luma, (1 - share) * upper);
    if (lower === 0) return;
    this.#put(at + gridSide + 1, luma, share * lower);
    if (share < 1) this.#put(at + gridSide + 2, luma, (1 - share) * lower);
  }

  #put(at: number, luma: number, weight: number): void {
    this.#sums[at]! += luma * weight;
    this.#weights[at]! += weight;
  }

  /** The averages, 0 to 255; a cell that no pixel fell into takes its neighbour's. */
  values(): Float64Array {
    const values = new Float64Array(gridSide * gridSide);
    for (let i = 0; i < values.length; i += 1) {
      const at = Math.floor(i / gridSide) * (gridSide + 1) + (i % gridSide);
      const weight = this.#weights[at]!;
      values[i] = weight > 0 ? this.#sums[at]! / weight : i > 0 ? values[i - 1]! : 0;
    }
    return values;
  }
}

/** For each pixel of a line the cell it begins in, and its share there; the rest lies in the next cell. */
class Spans {
  readonly cells: Uint8Array;
  readonly shares: Float32Array;

  constructor(length: number) {
    const count = Math.ceil(length);
    this.cells = new Uint8Array(count);
    this.shares = new Float32Array(count);
    const step = gridSide / length;
    for (let i = 0; i < count; i += 1) {
      const start = i * step;
      const cell = Math.min(gridSide - 1, Math.floor(start));
      this.cells[i] = cell;
      this.shares[i] = Math.min(1, (cell + 1 - start) / step);
    }
  }
}

/** How bright a colour is, by the weights of the JPEG file format. */
export const lumaOf = (red: number, green: number, blue: number): number =>
  0.299 * red + 0.587 * green + 0.114 * blue;

/** What a decoder saw of a picture: its grid, and which share of it there was. */
export type Decoded = { grid: Float64Array; share: number };
