import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decodeHints, encodeHints, type Hints } from './class-hints.ts';
import { HINTS, TREES } from './model.ts';
import { decodeTrees, encodeTrees, type Trees } from './trees.ts';

/** The block scorer: what class names tell, and the trees over all features, of which that is one. */
export type BlockModel = { trees: Trees; hints: Hints };

/** Packs a model as the two texts that model.ts holds. */
export function encodeModel({ trees, hints }: BlockModel): { trees: string; hints: string } {
  // Most of the weights are 0, which packs well; trees do not.
  return { trees: encodeTrees(trees), hints: deflateRawSync(encodeHints(hints)).toString('base64') };
}

/** Unpacks what `encodeModel` packed. */
export function decodeModel(packed: { trees: string; hints: string }): BlockModel {
  return {
    trees: decodeTrees(packed.trees),
    hints: decodeHints(inflateRawSync(Buffer.from(packed.hints, 'base64'))),
  };
}

/** The trained scorer. */
export const BLOCK_MODEL = decodeModel({ trees: TREES, hints: HINTS });
