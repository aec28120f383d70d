import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSeedLine, readLines } from './seed-lines.ts';

it.each([
  ['example.com', 'example.com', null, 'https://example.com/'],
  ['  WWW.Example.COM \r', 'example.com', null, 'https://www.example.com/'],
  ['17,example.org', 'example.org', 17, 'https://example.org/'],
  ['1, news.example.org', 'news.example.org', 1, 'https://news.example.org/'],
  ['http://example.net/start?a=1#x', 'example.net', null, 'http://example.net/start?a=1'],
  ['3,https://example.net/en/', 'example.net', 3, 'https://example.net/en/'],
  ['https://example.net/a,b', 'example.net', null, 'https://example.net/a,b'],
  ['\ufeffexample.com', 'example.com', null, 'https://example.com/'],
  ['bücher.example', 'xn--bcher-kva.example', null, 'https://xn--bcher-kva.example/'],
  ['127.0.0.1:8080', '127.0.0.1:8080', null, 'https://127.0.0.1:8080/'],
  ['{"domain": "example.org", "rank": 4}', 'example.org', 4, 'https://example.org/'],
  ['{"url": "https://example.org/in", "more": 1}', 'example.org', null, 'https://example.org/in'],
])('%j is a seed', (line, domain, rank, entryUrl) => {
  const parsed = parseSeedLine(line);
  expect(parsed).toMatchObject({ outcome: 'seed', seed: { domain, rank, entryUrl } });
});

it.each(['', '   ', '# a comment', '\r'])('%j is skipped', (line) => {
  expect(parseSeedLine(line)).toEqual({ outcome: 'skip' });
});

it.each([
  ['rank,domain', /"rank" is not a rank/],
  ['0,example.com', /"0" is not a rank/],
  ['-1,example.com', /not a rank/],
  ['99999999999,example.com', /not a rank/],
  ['hello', /not a domain/],
  ['*.example.com', /names many domains/],
  ['4,*.example.com', /names many domains/],
  ['two words.example', /not a domain/],
  ['example.com/path', /not a domain/],
  ['me@example.com', /not a domain/],
  ['ftp://example.com/', /not a domain/],
  ['5,', /not a domain/],
  [`${'a'.repeat(3000)}.example`, /too long/],
  ['{"domain": ', /no JSON/],
  ['{"rank": 1}', /neither a domain nor a url/],
  ['{"domain": "example.com", "rank": 0}', /its rank/],
])('%j is bad', (line, reason) => {
  const parsed = parseSeedLine(line);
  expect(parsed.outcome).toBe('bad');
  expect(parsed.outcome === 'bad' && parsed.reason).toMatch(reason);
});

it('never throws, and a seed is what it says', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (line) => {
      const parsed = parseSeedLine(line);
      if (parsed.outcome === 'seed') expect(parseSeedLine(parsed.seed.entryUrl).outcome).toBe('seed');
    }),
  );
});

it('lines are the same however the text is cut, and long ones are bounded', async () => {
  const collect = async (chunks: string[]): Promise<string[]> => {
    const lines: string[] = [];
    for await (const { number, text } of readLines(chunks)) lines.push(`${number} ${text}`);
    return lines;
  };
  expect(await collect(['a\nb', 'c\n\nd', '', '\n', 'e'])).toEqual(['1 a', '2 bc', '3 ', '4 d', '5 e']);
  const long = await collect(Array.from({ length: 50 }, () => 'x'.repeat(1000)).concat('\nend\n'));
  expect(long[0]!.length).toBeLessThan(2200);
  expect(long[1]).toBe('2 end');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.stringMatching(/^[ab\n]{0,12}$/), { maxLength: 8 }), async (chunks) => {
      expect(await collect(chunks)).toEqual(await collect([chunks.join('')]));
    }),
  );
});
