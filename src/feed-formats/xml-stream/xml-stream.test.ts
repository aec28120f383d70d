import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntities, parseAttributes, XmlScanner } from './index.ts';

function scan(...pieces: string[]): string {
  const events: string[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') events.push(text);
    text = '';
  };
  const scanner = new XmlScanner({
    onOpen: (name, attributes, isEmpty) => {
      flush();
      events.push(`<${name}${attributes}${isEmpty ? '/' : ''}>`);
    },
    onClose: (name) => {
      flush();
      events.push(`</${name}>`);
    },
    onText: (piece) => {
      text += piece;
    },
  });
  for (const piece of pieces) scanner.push(piece);
  const isCut = scanner.end();
  flush();
  return events.join('|') + (isCut ? '' : '|whole');
}

describe('XmlScanner', () => {
  it.each([
    ['<a>x</a>', '<a>|x|</a>'],
    ['<a b="1>2" c=\'"\'/>', '<a b="1>2" c=\'"\'/>'],
    ['<a>1 &amp; 2 &#60; &#x3e; &nope; & &</a>', '<a>|1 & 2 < > &nope; & &|</a>'],
    ['<a><![CDATA[<b>&amp;]]></a>', '<a>|<b>&amp;|</a>'],
    ['<!-- <a> -- --><b/>', '<b/>'],
    ['<?xml version="1.0"?><b/>', '<b/>'],
    ['<!DOCTYPE a [<!ENTITY x "y"> <!ENTITY z SYSTEM "f">]><b>&x;</b>', '<b>|&x;|</b>'],
    ['<a b="unclosed><c>x</c>', '<a b="unclosed>|<c>|x|</c>'],
    ['<a <b>x', '<a >|<b>|x'],
    ['</a <b>', '</a>|<b>'],
    ['1 < 2 <3', '1 < 2 <3'],
    ['<a>x</a', '<a>|x|whole'],
    ['<a>x', '<a>|x'],
  ])('%s', (text, expected) => expect(scan(text)).toBe(expected));

  it('reads the same however the input is cut', () => {
    const part = fc.constantFrom(
      '<a>',
      '</a>',
      '<b c="d>e"/>',
      '&amp;',
      '&',
      ';',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
    );
    const more = fc.constantFrom(
      '<!DOCTYPE x [',
      ']>',
      '<?p',
      '?>',
      '"',
      "'",
      'text',
      '<',
      '>',
      '/',
      '=',
      '!',
      '#38;',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(part, more), { maxLength: 20 }),
        fc.array(fc.nat(60), { maxLength: 6 }),
        (parts, cuts) => {
          const text = parts.join('');
          const places = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort(
            (a, b) => a - b,
          );
          const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
          expect(scan(...pieces)).toBe(scan(text));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('gives up on a tag that never ends', () => {
    expect(scan(`<a ${'x'.repeat(70_000)}`, '<b>')).toContain('|<b>');
  });
});

describe('parseAttributes', () => {
  it('reads quoted, bare and broken values', () => {
    const attributes = parseAttributes(` a="1 &amp; 2" b='"' c=3 d e = "5" a="6" f="open`);
    expect([...attributes]).toEqual([
      ['a', '1 & 2'],
      ['b', '"'],
      ['c', '3'],
      ['e', '5'],
      ['f', 'open'],
    ]);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseAttributes(text)));
  });
});

describe('decodeEntities', () => {
  it.each([
    ['&lt;&gt;&quot;&apos;&amp;', '<>"\'&'],
    ['&#0;&#xD800;&#1114112;', '\ufffd\ufffd\ufffd'],
    ['&constructor;&__proto__;', '&constructor;&__proto__;'],
    ['&amp;lt;', '&lt;'],
    ['&&&&&amp;', '&&&&&'],
  ])('%s', (text, expected) => expect(decodeEntities(text)).toBe(expected));
});
