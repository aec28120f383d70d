import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { createDecoder, decodeBytes } from './index.ts';

const russian = 'Сегодня в городе прошёл дождь, и вечером обещают грозу с сильным ветром.';
const japanese = 'これは日本語で書かれた文章です。カタカナもあります。';
const chinese = '这是一个用中文写的句子，我们在这里测试编码的识别。';
const korean = '이것은 한국어로 쓴 문장입니다. 인코딩을 시험합니다.';

function encode(text: string, charset: string): Uint8Array {
  return iconv.encode(text, charset);
}

describe('UTF-8', () => {
  it('is read as the platform reads it, whatever its characters and wherever the bytes lie', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'é', 'ÿ', 'Ā', '’', 'Я', '語', '😀', '\ufeff') });
    fc.assert(
      fc.property(texts, fc.nat(3), (text, shift) => {
        const bytes = Buffer.from(' '.repeat(shift) + text).subarray(shift);
        const { text: read, charset } = decodeBytes(bytes, { contentType: 'text/html; charset=utf-8' });
        if (charset === 'utf-8') expect(read).toBe(new TextDecoder().decode(bytes));
      }),
    );
  });
});

describe('decodeBytes', () => {
  const cases: [
    string,
    Uint8Array,
    { contentType?: string; kind?: 'html' | 'xml' },
    string,
    string,
    string,
  ][] = [
    ['UTF-8 mark', Buffer.from('\ufeffé'), {}, 'é', 'utf-8', 'bom'],
    [
      'UTF-16 mark against the header',
      encode('\ufeffé', 'utf-16le'),
      { contentType: 'a/b;charset=utf-8' },
      'é',
      'utf-16le',
      'bom',
    ],
    ['UTF-32 mark', encode('\ufeff<é', 'utf-32be'), {}, '<é', 'utf-32be', 'bom'],
    [
      'UTF-16 without a mark',
      encode('<?xml version="1.0"?>é', 'utf-16be'),
      {},
      '<?xml version="1.0"?>é',
      'utf-16be',
      'sniff',
    ],
    [
      'header',
      encode('é', 'koi8-r'),
      { contentType: 'text/html; charset="KOI8-R"' },
      '?',
      'koi8-r',
      'header',
    ],
    [
      'header over declaration',
      encode('<?xml version="1.0" encoding="koi8-r"?>Привет', 'windows-1251'),
      { contentType: 'text/xml; charset=windows-1251', kind: 'xml' },
      '<?xml version="1.0" encoding="koi8-r"?>Привет',
      'windows-1251',
      'header',
    ],
    [
      'XML declaration',
      encode("<?xml version='1.0' encoding='iso-8859-15'?>€", 'iso-8859-15'),
      { kind: 'xml' },
      "<?xml version='1.0' encoding='iso-8859-15'?>€",
      'iso-8859-15',
      'declaration',
    ],
    [
      'meta element',
      encode('<meta http-equiv=a content="text/html; charset=windows-1251">Привет', 'windows-1251'),
      { kind: 'html' },
      '<meta http-equiv=a content="text/html; charset=windows-1251">Привет',
      'windows-1251',
      'declaration',
    ],
    [
      'declared utf-8, is windows-1252',
      encode('<?xml version="1.0" encoding="utf-8"?>caf\u00e9 \u2019', 'win1252'),
      {},
      '<?xml version="1.0" encoding="utf-8"?>café ’',
      'windows-1252',
      'sniff',
    ],
    [
      'declared latin1, is utf-8',
      Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?>café'),
      {},
      '<?xml version="1.0" encoding="iso-8859-1"?>café',
      'utf-8',
      'sniff',
    ],
    [
      'latin1 means windows-1252',
      new Uint8Array([0x93, 0x80, 0x94]),
      { contentType: 'text/plain; charset=latin1' },
      '\u201c€\u201d',
      'windows-1252',
      'header',
    ],
    [
      'declared utf-16 in ASCII',
      Buffer.from('<?xml version="1.0" encoding="utf-16"?>é'),
      {},
      '<?xml version="1.0" encoding="utf-16"?>é',
      'utf-8',
      'declaration',
    ],
    [
      'unknown label',
      Buffer.from('é'),
      { contentType: 'text/plain; charset=nonsense' },
      'é',
      'utf-8',
      'sniff',
    ],
    [
      'UTF-7 refused',
      Buffer.from('+ADw-'),
      { contentType: 'text/html; charset=utf-7' },
      '+ADw-',
      'utf-8',
      'sniff',
    ],
    [
      'a damaged byte in UTF-8',
      Buffer.concat([Buffer.from('ééééé'), new Uint8Array([0xff])]),
      {},
      'ééééé\ufffd',
      'utf-8',
      'sniff',
    ],
    [
      'us-ascii is no claim',
      encode(chinese, 'gb18030'),
      { contentType: 'text/xml; charset=us-ascii' },
      chinese,
      'gb18030',
      'sniff',
    ],
    [
      'underscores',
      encode('é', 'win1252'),
      { contentType: 'text/xml; charset=windows_1252' },
      'é',
      'windows-1252',
      'header',
    ],
    [
      'DOS code page',
      encode('é', 'cp437'),
      { contentType: 'text/xml; charset=cp437' },
      'é',
      'cp437',
      'header',
    ],
    [
      'ISO-8859-16',
      encode('ș', 'iso-8859-16'),
      { contentType: 'text/xml; charset=iso-8859-16' },
      'ș',
      'iso-8859-16',
      'header',
    ],
  ];
  it.each(cases)('%s', (_, bytes, options, text, charset, evidence) => {
    expect(decodeBytes(bytes, options)).toEqual({ text, charset, evidence });
  });

  it.each([
    ['windows-1251', russian],
    ['koi8-r', russian],
    ['ibm866', russian],
    ['shift_jis', japanese],
    ['euc-jp', japanese],
    ['iso-2022-jp', japanese],
    ['gb18030', chinese],
    ['euc-kr', korean],
  ])('recognises undeclared %s', (charset, text) => {
    const bytes = charset === 'iso-2022-jp' ? jis(text) : encode(text, charset);
    expect(decodeBytes(bytes)).toEqual({ text, charset, evidence: 'sniff' });
  });

  it('follows the language of the page where letters do not tell', () => {
    const text = '<html lang="pl"><p>Zażółć gęślą jaźń</p>';
    expect(decodeBytes(encode(text, 'windows-1250')).text).toBe(text);
  });

  it('reads EBCDIC', () => {
    // "<?xml version='1.0' encoding='cp037'?>" as an IBM mainframe writes it.
    const hex = '4c6fa7949340a58599a2899695 7e7df14bf07d408595839684899587 7e7d8397f0f3f77d6f6e'.replaceAll(
      ' ',
      '',
    );
    const { text, charset } = decodeBytes(Buffer.from(hex, 'hex'));
    expect([text, charset]).toEqual(["<?xml version='1.0' encoding='cp037'?>", 'cp037']);
  });

  it('never throws', () => {
    const header = fc.option(fc.string({ unit: 'grapheme-ascii' }), { nil: undefined });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), header, (bytes, label) => {
        const contentType = label === undefined ? undefined : `text/xml; charset=${label}`;
        expect(typeof decodeBytes(bytes, { contentType }).text).toBe('string');
      }),
    );
  });
});

describe('createDecoder', () => {
  it.each(['utf-8', 'utf-16le', 'windows-1251', 'shift_jis', 'utf-32le', 'windows-1252', 'koi8-t'])(
    'gives the same text in any chunks: %s',
    (charset) => {
      const bytes = encode('<urlset>Привет こんにちは café</urlset>', charset);
      const options = { contentType: `text/xml; charset=${charset}` };
      const whole = decodeBytes(bytes, options);
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 7 }), (size) => {
          const stream = createDecoder(bytes, options);
          let text = '';
          for (let at = 0; at < bytes.length; at += size) text += stream.write(bytes.subarray(at, at + size));
          expect({ text: text + stream.end(), charset: stream.charset }).toEqual({
            text: whole.text,
            charset: whole.charset,
          });
        }),
      );
    },
  );

  it('judges a first chunk that ends inside a character', () => {
    const first = Buffer.from('<a>é').subarray(0, 4);
    expect(createDecoder(first).charset).toBe('utf-8');
  });
});

// ISO-2022-JP: EUC-JP without the high bits, between escape sequences.
function jis(text: string): Uint8Array {
  const parts: number[] = [0x1b, 0x24, 0x42];
  for (const byte of encode(text, 'euc-jp')) parts.push(byte & 0x7f);
  return new Uint8Array([...parts, 0x1b, 0x28, 0x42]);
}
