import { expect, it } from 'vitest';
import {
  COPY_SIMILARITY,
  signatureBands,
  signatureSimilarity,
  textSignature,
} from '../../src/extract/index.ts';
import { type CopyPair, copyLanguages, makeCopies, makeReports } from './copies.ts';

// The threshold was chosen on articles 0 to 79 of each language; these are others.
const from = 5000;
const perLanguage = 60;

/** As the index consumer decides: a common band, then the estimate. */
function isFound({ a, b }: CopyPair): boolean {
  const [one, other] = [textSignature(a), textSignature(b)];
  if (one === null || other === null) return false;
  const bands = new Set(signatureBands(one));
  return (
    signatureBands(other).some((band) => bands.has(band)) &&
    signatureSimilarity(one, other) >= COPY_SIMILARITY
  );
}

it('tells syndicated copies from other reports of the same story', () => {
  const pairs = [...makeCopies(from, perLanguage), ...makeReports(from, perLanguage)];
  const copies = pairs.filter((pair) => pair.copy);
  expect(copies.length).toBeGreaterThanOrEqual(300);
  expect(pairs.length - copies.length).toBeGreaterThanOrEqual(300);
  const found = pairs.filter(isFound);
  const right = found.filter((pair) => pair.copy).length;
  expect(right / found.length, 'precision').toBeGreaterThanOrEqual(0.98);
  expect(right / copies.length, 'recall').toBeGreaterThanOrEqual(0.9);
  for (const language of copyLanguages) {
    const own = copies.filter((pair) => pair.language === language);
    const share = own.filter((pair) => found.includes(pair)).length / own.length;
    expect(share, `recall in ${language}`).toBeGreaterThanOrEqual(0.85);
  }
});

it('does not hang on the lexicon: unrelated articles of one language are far apart', () => {
  for (const language of copyLanguages) {
    const texts = [...makeReports(from, perLanguage)].filter((pair) => pair.language === language);
    for (let i = 1; i < texts.length; i += 1) {
      const [one, other] = [textSignature(texts[i - 1]!.a)!, textSignature(texts[i]!.a)!];
      expect(signatureSimilarity(one, other), `${language} ${i}`).toBeLessThan(COPY_SIMILARITY);
    }
  }
});
