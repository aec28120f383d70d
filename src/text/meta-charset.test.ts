import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeBytes } from './index.ts';
import { metaCharset } from './meta-charset.ts';

describe('the encoding a page declares', () => {
  const greek = 'Το συμβούλιο της πόλης ψήφισε την Τρίτη το βράδυ';
  it.each([
    ['charset', '<meta charset=windows-1253>'],
    [
      'content before the name of the header',
      '<META content="text/html;charset=windows-1253" HTTP-EQUIV=Content-Type>',
    ],
    ['behind one in a comment', '<!-- <meta charset="iso-8859-1"> --><meta charset="windows-1253">'],
    ['behind an empty comment', '<!--><meta charset="windows-1253">'],
    [
      'behind one in a script',
      `<script>a='<meta charset="iso-8859-1">'</script><meta charset='windows-1253'>`,
    ],
    ['behind an open script', '<script><meta charset="windows-1253">'],
    [
      'behind a description that speaks of one',
      '<meta name="description" content="Set charset=iso-8859-1, or <meta charset=utf-7>"><meta charset="windows-1253">',
    ],
    ['behind one nobody knows', '<meta charset="none"><meta charset="windows-1253">'],
  ])('%s', (_, head) => {
    const bytes = iconv.encode(`<html><head>${head}<title>${greek}</title>`, 'windows-1253');
    const { text, charset, evidence } = decodeBytes(bytes, { kind: 'html' });
    expect({ charset, evidence }).toEqual({ charset: 'windows-1253', evidence: 'declaration' });
    expect(text).toContain(greek);
  });

  it('ends on any beginning of a page', () => {
    for (const piece of ['<meta ', '<meta a', '<script', '<!--', '<meta a="', '<meta charset=', '<meta =a '])
      expect(metaCharset(piece.repeat(8192 / piece.length), () => false)).toBeNull();
  });
});

it('knows the code pages of Windows by number', () => {
  const bytes = iconv.encode('<p>항구 마을 의회는 화요일 저녁에 부두를 다시 짓기로 결정했다', 'cp949');
  expect(decodeBytes(bytes, { contentType: 'text/html; charset=cp949' })).toMatchObject({
    charset: 'euc-kr',
  });
});
