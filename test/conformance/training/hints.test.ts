import { expect, test } from 'vitest';
import { learnHints, type NamedBlocks } from './hints.ts';

const TEXT = 7;
const TEASER = 8;
const RARE = 9;

/** A page with one block of text and one teaser, which have a name each; on few sites the text has a name more. */
const page = (site: number): NamedBlocks => ({
  site: `site-${site}.test`,
  keys: [Uint32Array.from(site < 2 ? [TEXT, RARE] : [TEXT]), Uint32Array.from([TEASER])],
  target: [1, 0],
  weight: [1, 1],
});

test('names are learnt to tell text from what is none; names of too few sites are not', () => {
  const pages = Array.from({ length: 20 }, (_, i) => page(i));
  const { weights, scale } = learnHints(pages);
  expect(weights[TEXT]! * scale).toBeGreaterThan(1);
  expect(weights[TEASER]! * scale).toBeLessThan(-1);
  expect(weights[RARE]).toBe(0);
  expect(learnHints(pages).weights).toEqual(weights);
});
