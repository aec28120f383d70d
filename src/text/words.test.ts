import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWords, countWordsOf, isUnspaced, UNSPACED } from './index.ts';

describe('countWords', () => {
  it.each([
    ['', 0],
    ['   ', 0],
    ['the lamps are on', 4],
    ["don't — really, don't!", 4],
    ['A line\nof  two\tlines', 5],
    ['“Hello”, she said…', 3],
    ['3 May 2026 | Harbour', 5],
    ['Ночью маяк погас', 3],
    ['등대가 다시 켜졌다', 3],
    ['ㅋㅋㅋ 정말', 2],
    ['האורות דולקים שוב', 3],
    ['الأضواء مضاءة', 2],
    ['दीप फिर जल उठे', 4],
    ['კარგი დღე', 2],
    ['ᏣᎳᎩ ꭶꮃꭹ', 2],
    ['ka\ua78can', 1],
    ['👍 👎', 2],
  ])('counts what spaces part: %s', (text, words) => expect(countWords(text)).toBe(words));

  it.each([
    ['灯台', 1],
    ['灯台が消えた', 3],
    ['灯台が、消えた。', 3],
    ['他说：“你好！”', 2],
    ['他说：“你好！” 。', 2 + 1],
    ['北京（中国）', 2],
    ['2026年3月', 1 + 1 + 1],
    ['使用Linux系统', 2 + 1],
    ['好👍好', 1],
    ['𠮷野家', 2],
    ['东京・大阪', 2],
    ['注音ㄅㄆ', 2],
    ['ꆈꌠꉙꁱ', 2],
  ])('makes a word of two letters of East Asia and none of signs: %s', (text, words) =>
    expect(countWords(text)).toBe(words),
  );

  it.each([
    ['Thai', 'ไฟประภาคารกลับมาสว่างอีกครั้ง', 29, 6],
    ['Thai, with a space and a year', 'ไฟประภาคาร กลับมาสว่าง 2569', 21, 5 + 1],
    ['Lao', 'ໄຟປະພາຄານກັບມາແຈ້ງ', 18, 4],
    ['Khmer', 'ភ្លើងប៉មត្រឡប់មកវិញ។', 19, 4],
    ['Burmese', 'မီးပြတိုက်ပြန်လင်းပြီ။', 21, 4],
    ['Tibetan', 'སྒྲོན་མེ་ཡང་བསྐྱར་སྤར།', 17, 4],
  ])('makes a word of some letters of %s', (_name, text, letters, words) => {
    expect([...text].filter((letter) => isUnspaced(letter.charCodeAt(0)))).toHaveLength(letters);
    expect(countWords(text)).toBe(words);
  });

  it('counts words of any other writing as it counts spaces', () => {
    const spaced = fc.stringMatching(/^[a-zÀ-ɏͰ-ԯ֐-ۿऀ-෿가-힣0-9.,;:!?"'“”—|/ -]{0,60}$/u);
    fc.assert(
      fc.property(spaced, (text) => {
        const words = text.split(' ').filter((word) => word !== '').length;
        expect(countWords(text)).toBe(words);
      }),
    );
  });

  it('counts a part as it counts the whole', () => {
    const codes = Uint16Array.from([...'one 灯台 two'].map((sign) => sign.charCodeAt(0)));
    expect(countWordsOf(codes, 0, 3)).toBe(1);
    expect(countWordsOf(codes, 4, codes.length)).toBe(2);
  });
});

it('has the letters, marks and digits that Unicode gives to scripts without spaces', () => {
  const written = /[\p{L}\p{M}\p{N}]/u;
  const unspaced = new RegExp(UNSPACED, 'u');
  const differing: string[] = [];
  for (let code = 0; code < 0x10000; code++) {
    const letter = String.fromCharCode(code);
    // Places that are not given away yet may lie between letters.
    if (/[\p{Cn}\p{Cs}]/u.test(letter)) continue;
    if (isUnspaced(code) !== (written.test(letter) && unspaced.test(letter)))
      differing.push(code.toString(16));
  }
  expect(differing).toEqual([]);
  expect(isUnspaced('𠮷'.charCodeAt(0))).toBe(true);
  expect(isUnspaced('👍'.charCodeAt(0))).toBe(false);
});
