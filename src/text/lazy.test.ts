import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBytes, openText, type TextSource } from './index.ts';

const html = { kind: 'html' } as const;
const open = (bytes: Uint8Array, contentType?: string) => openText(bytes, { ...html, contentType });
const whole = (source: TextSource | string) =>
  typeof source === 'string' ? source : source.read(0, source.raw.length);

describe('openText', () => {
  it('decodes UTF-8 where it is read', () => {
    const source = open(Buffer.from('<p>It’s</p><p>plain</p><p>Käse “gut”</p>'), 'text/html; charset=utf-8');
    if (typeof source === 'string') throw new Error('decoded as a whole');
    const piece = (from: string, to: string) =>
      source.read(source.raw.indexOf(from) + from.length, source.raw.indexOf(to));
    expect(piece('<p>', '</p>')).toBe('It’s');
    const last = source.raw.lastIndexOf('<p>') + 3;
    expect(source.read(last, source.raw.lastIndexOf('</p>'))).toBe('Käse “gut”');
    // Backwards, after the reader has gone on.
    expect(piece('<p>', '</p>')).toBe('It’s');
    expect(source.read(last - 12, last - 7)).toBe('plain');
  });

  it('reads windows-1252 punctuation', () => {
    const bytes = Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0x61, 0x94, 0xe9]);
    expect(whole(open(bytes, 'text/html; charset=windows-1252'))).toBe('<p>“a”é');
  });

  it('hands over what was encoded twice as a whole, for it to be mended', () => {
    const twice = Buffer.from(Buffer.from('’').toString('latin1'));
    expect(open(twice, 'text/html; charset=utf-8')).toBeTypeOf('string');
  });

  it('says the same as decoding the whole, whatever the bytes', () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('<p>', '</p>', '\ufeff', 'a', 'é').map((text) => Buffer.from(text)),
    );
    const charset = fc.constantFrom('utf-8', 'windows-1252', 'iso-8859-2', 'utf-16le', 'shift_jis');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.option(charset), (parts, name) => {
        const bytes = Buffer.concat(parts);
        const contentType = name === null ? undefined : `text/html; charset=${name}`;
        expect(whole(open(bytes, contentType))).toBe(decodeBytes(bytes, { ...html, contentType }).text);
      }),
    );
  });

  it('says the same piece by piece, cut at ASCII', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), (texts) => {
        const text = texts.join('<');
        const source = open(Buffer.from(text), 'text/html; charset=utf-8');
        if (typeof source === 'string') return;
        let read = '';
        let at = 0;
        for (let cut = source.raw.indexOf('<'); cut >= 0; cut = source.raw.indexOf('<', at)) {
          read += `${source.read(at, cut)}<`;
          at = cut + 1;
        }
        expect(read + source.read(at, source.raw.length)).toBe(text.replace(/^\ufeff/, ''));
      }),
    );
  });
});
