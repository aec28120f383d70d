import { gridSide } from './grid.ts';

const hashSide = 8;
// Differences below this are a compressor's noise: a plain area would resemble every other plain area.
const leastContrast = 6;

const cosines = Array.from({ length: hashSide }, (_, frequency) =>
  Float64Array.from({ length: gridSide }, (_, at) =>
    Math.cos(((2 * at + 1) * frequency * Math.PI) / (2 * gridSide)),
  ),
);

/**
 * 64 bits that stay nearly the same when a picture is scaled or compressed again: the signs, against their median, of
 * the 64 lowest frequencies of its brightness. Two pictures are alike when few bits differ (up to about ten). null: the
 * picture is plain.
 */
export function perceptualHash(grid: Float64Array): bigint | null {
  let [darkest, brightest] = [255, 0];
  for (const value of grid) {
    darkest = Math.min(darkest, value);
    brightest = Math.max(brightest, value);
  }
  if (brightest - darkest < leastContrast) return null;
  const rows = new Float64Array(gridSide * hashSide);
  for (let y = 0; y < gridSide; y += 1)
    for (let u = 0; u < hashSide; u += 1) {
      let sum = 0;
      for (let x = 0; x < gridSide; x += 1) sum += grid[y * gridSide + x]! * cosines[u]![x]!;
      rows[y * hashSide + u] = sum;
    }
  const frequencies = new Float64Array(hashSide * hashSide);
  for (let v = 0; v < hashSide; v += 1)
    for (let u = 0; u < hashSide; u += 1) {
      let sum = 0;
      for (let y = 0; y < gridSide; y += 1) sum += rows[y * hashSide + u]! * cosines[v]![y]!;
      frequencies[v * hashSide + u] = sum;
    }
  const sorted = frequencies.toSorted();
  const median = (sorted[31]! + sorted[32]!) / 2;
  let hash = 0n;
  for (const frequency of frequencies) hash = (hash << 1n) | (frequency > median ? 1n : 0n);
  return hash;
}
