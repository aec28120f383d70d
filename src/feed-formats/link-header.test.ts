import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseLinkHeader } from './link-header.ts';

const base = 'https://a.example/feed';

it.each([
  ['<https://hub.example/>; rel="hub"', [['https://hub.example/', 'hub']]],
  [
    '<https://hub.example/>; rel=hub, <https://a.example/feed>; rel="self"',
    [
      ['https://hub.example/', 'hub'],
      ['https://a.example/feed', 'self'],
    ],
  ],
  ['</hub>; title="a, <b>; rel=x"; REL = "Self Hub"', [['https://a.example/hub', 'self hub']]],
  ['<https://x.example/a,b>;rel=hub', [['https://x.example/a,b', 'hub']]],
  ['<javascript:1>; rel=hub, <ftp://x/>; rel=hub, <https://y.example/>', []],
  ['', []],
  ['<unclosed', []],
])('%s', (value, expected) => {
  expect(parseLinkHeader(value, base).map((link) => [link.url, link.relations.join(' ')])).toEqual(expected);
});

it('tells type and title, the first of each', () => {
  const value =
    '</f>; rel="alternate"; type="Application/RSS+xml"; title="All \\"news\\"; really", </g>; rel=feed; title=a; title=b';
  expect(parseLinkHeader(value, base)).toEqual([
    {
      url: 'https://a.example/f',
      relations: ['alternate'],
      type: 'application/rss+xml',
      title: 'All "news"; really',
    },
    { url: 'https://a.example/g', relations: ['feed'], type: null, title: 'a' },
  ]);
});

it('never throws and stays bounded', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('<', '>', ';', ',', '"', 'r', 'e', 'l', '=', ' ', '\\') }),
      (text) => {
        expect(parseLinkHeader(text, base).length).toBeLessThanOrEqual(50);
      },
    ),
  );
  expect(parseLinkHeader('<https://a.example/>;rel=x,'.repeat(10_000), base)).toHaveLength(50);
});
