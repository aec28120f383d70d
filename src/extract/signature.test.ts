import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COPY_SIMILARITY, signatureBands, signatureSimilarity, textSignature } from './index.ts';
import { SIGNATURE_BANDS, SIGNATURE_BYTES } from './signature.ts';

const words = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `word${from + i}`);
const signed = (text: string) => textSignature(text)!;
const similarity = (a: string, b: string) => signatureSimilarity(signed(a), signed(b));

describe('a signature', () => {
  it('stays the same for ever: stored ones are compared with new ones', () => {
    const signature = signed(words(100).join(' '));
    expect(signature).toHaveLength(SIGNATURE_BYTES);
    expect(signature.subarray(0, 16).toString('hex')).toBe('adefdd0845758921650ef4a7e3fecd0e');
    expect(signatureBands(signature)[1]).toBe(0x1_8921_650e_f4a7n);
  });

  it.each([
    ['case', words(80).join(' ').toUpperCase()],
    ['punctuation', words(80).join(', ')],
    ['spacing and line ends', words(80).join('\r\n\r\n')],
    ['full width', words(80).join(' ').replaceAll('w', 'ｗ')],
    ['emoji', words(80).join(' 🎉 ❤️ ')],
    ['soft hyphens', words(80).join(' ').replaceAll('or', 'o\u00adr')],
  ])('does not see %s', (_what, text) => {
    expect(signed(text).equals(signed(words(80).join(' ')))).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['spaces', ' '.repeat(5000)],
    ['punctuation', '...!?'.repeat(1000)],
    ['41 words', words(41).join(' ')],
    ['43 characters without spaces', '漢'.repeat(43)],
  ])('is not made of %s', (_what, text) => {
    expect(textSignature(text)).toBeNull();
  });

  it('is made of 42 words, of 44 characters without spaces, and of one word said often', () => {
    expect(textSignature(words(42).join(' '))).not.toBeNull();
    expect(textSignature('漢'.repeat(44))).not.toBeNull();
    expect(textSignature('again '.repeat(500))).not.toBeNull();
  });

  it('reads the beginning of a text of megabytes', () => {
    const start = words(20_000).join(' ');
    expect(signed(`${start} ${'x '.repeat(2_000_000)}`).equals(signed(`${start} y`))).toBe(true);
  });

  it('takes any text, gives the same for the same, and bands that fit a bigint', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 0, maxLength: 600 }), (text) => {
        const signature = textSignature(text);
        if (signature === null) return;
        expect(textSignature(text)?.equals(signature)).toBe(true);
        expect(signatureSimilarity(signature, signature)).toBe(1);
        const bands = signatureBands(signature);
        expect(bands).toHaveLength(SIGNATURE_BANDS);
        for (const band of bands) expect(BigInt.asIntN(64, band)).toBe(band);
      }),
    );
  });
});

describe('similarity', () => {
  // Of two texts of n words that begin with the same k: (k - 2) / (2n - 4 - (k - 2)) shingles in common.
  it.each([
    [1000, 500],
    [1000, 700],
    [1000, 900],
    [300, 240],
    [60, 54],
  ])('of %i words with %i in common is estimated within three standard errors', (count, common) => {
    const a = words(count).join(' ');
    const b = [...words(common), ...words(count - common, 50_000)].join(' ');
    const truth = (common - 2) / (2 * count - 4 - (common - 2));
    // A short text fills fewer bins, which is what its estimate rests on.
    const samples = Math.min(128, count / 2);
    expect(Math.abs(similarity(a, b) - truth)).toBeLessThan(3 * Math.sqrt((truth * (1 - truth)) / samples));
  });

  it('of unrelated texts is none', () => {
    expect(similarity(words(500).join(' '), words(500, 9000).join(' '))).toBeLessThan(0.05);
    expect(similarity(words(45).join(' '), words(45, 9000).join(' '))).toBeLessThan(0.05);
  });

  it('does not depend on spaces that the script has not', () => {
    const text = Array.from({ length: 400 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 5000)));
    const spaced = text.map((character, i) => (i % 9 === 0 ? `${character} ` : character)).join('');
    expect(similarity(text.join(''), spaced)).toBe(1);
    const edited = text.map((character, i) => (i % 40 === 0 ? '々' : character)).join('');
    expect(similarity(text.join(''), edited)).toBeGreaterThan(COPY_SIMILARITY);
    expect(similarity(text.join(''), [...text].reverse().join(''))).toBeLessThan(0.05);
  });
});
