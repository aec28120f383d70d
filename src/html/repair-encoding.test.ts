import { describe, expect, it } from 'vitest';
import { repairDoubleEncoding } from './repair-encoding.ts';

const twice = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

describe('repairDoubleEncoding', () => {
  it('gives back what was encoded twice', () => {
    const text = 'It’s a “quiet” café — and it’s ours…';
    expect(repairDoubleEncoding(twice(text))).toBe(text);
  });

  it.each([
    ['plain text', 'It’s a “quiet” café — and it’s ours…'],
    ['text that only mentions the damage', 'An apostrophe turns into â€™ when bytes are misread.'],
    ['one stray sign', `a ${twice('’')} b`],
    ['letters that merely look alike', 'Ã© Â£ â'],
  ])('leaves %s alone', (_name, text) => {
    expect(repairDoubleEncoding(text)).toBe(text);
  });

  it('keeps what is no UTF-8 even then', () => {
    expect(repairDoubleEncoding(`${twice('’’’')} \u00e9\u00e9`)).toBe('’’’ \u00e9\u00e9');
  });
});
