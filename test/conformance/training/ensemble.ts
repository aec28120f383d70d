import { isLeaf, type Trees } from '../../../src/extract/trees.ts';

/**
 * The mean of models of equal length as one model. Their trees take turns, so that the sum on the way to the last tree
 * grows as that of a single model does, and scoring may stop early at the same shares.
 */
export function meanOf(models: Trees[]): Trees {
  const roots: number[] = [];
  const links: number[] = [];
  const value: number[] = [];
  for (let t = 0; t < models[0]!.roots.length; t++) {
    for (const one of models) {
      roots.push(links.length);
      const end = one.roots[t + 1] ?? one.links.length;
      for (let at = one.roots[t]!; at < end; at++) {
        links.push(one.links[at]!);
        value.push(isLeaf(one.links[at]!) ? one.value[at]! / models.length : one.value[at]!);
      }
    }
  }
  return {
    base: models.reduce((sum, one) => sum + one.base, 0) / models.length,
    roots: Int32Array.from(roots),
    links: Uint16Array.from(links),
    value: Float32Array.from(value),
  };
}
