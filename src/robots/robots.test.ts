import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crawlDelayOf,
  decideRobots,
  disallowsEverything,
  MAX_ROBOTS_BYTES,
  parseRobots,
  type Robots,
  sitemapsNamed,
} from './index.ts';
import { compilePattern, matchesPattern, pathTokens } from './match.ts';

const parse = (...lines: string[]) => parseRobots(Buffer.from(lines.join('\n')));
const allowed = (robots: Robots, path: string, token = 'Outrider') =>
  decideRobots(robots, token, `https://example.com${path}`).allowed;

describe('groups', () => {
  const robots = parse(
    'Allow: /orphan',
    'User-agent: *',
    'Disallow: /',
    'User-agent: Other',
    'Sitemap: https://example.com/s.xml',
    'User-agent: OUTRIDER/2.0 (+x)',
    'Disallow: /private',
    '',
    'Allow: /private/open',
    'User-agent: outrider',
    'Disallow: /second',
  );

  it.each([
    ['/', true],
    ['/private/x', false],
    ['/private/open', true],
    ['/second', false],
    ['/orphan', true],
  ])('takes all groups that name us: %s', (path, expected) => expect(allowed(robots, path)).toBe(expected));

  it('falls back to * for others, and a group without rules hides it', () => {
    expect(allowed(robots, '/orphan', 'Nobody')).toBe(false);
    expect(allowed(robots, '/private', 'other')).toBe(false);
    const empty = parse('User-agent: *', 'Disallow: /', 'User-agent: outrider', 'Disallow:');
    expect(allowed(empty, '/x')).toBe(true);
  });

  it('names the line and the rule', () => {
    expect(decideRobots(robots, 'Outrider', 'https://example.com/private/x')).toEqual({
      allowed: false,
      line: 7,
      rule: 'Disallow: /private',
    });
    expect(decideRobots(robots, 'Outrider', 'https://example.com/x')).toEqual({
      allowed: true,
      line: null,
      rule: null,
    });
    expect(robots.sitemaps).toEqual([{ url: 'https://example.com/s.xml', line: 5 }]);
  });

  it('compares product tokens whole, without case', () => {
    const file = parse('User-agent: out', 'Disallow: /a', 'User-agent: outrider-news', 'Disallow: /b');
    expect(allowed(file, '/a')).toBe(true);
    expect(allowed(file, '/b')).toBe(true);
  });
});

describe('patterns', () => {
  const rows: [string, string, boolean][] = [
    ['/fish', '/fish/salmon', true],
    ['/fish', '/Fish', false],
    ['/fish', '/catfish', false],
    ['/fish*.php', '/fishheads/catfish.php?x', true],
    ['/*.php$', '/a.php', true],
    ['/*.php$', '/a.php?x', false],
    ['/a$b', '/a$b', true],
    ['/a%24', '/a$', true],
    ['/a$', '/ab', false],
    ['/a%2Ab', '/aXb', false],
    ['/a%2Ab', '/a*b', true],
    ['/%7Euser', '/~user', true],
    ['/~user', '/%7euser', true],
    ['/a%2fb', '/a/b', false],
    ['/a/b', '/a%2Fb', false],
    ['/é', '/%C3%A9', true],
    ['/a b', '/a%20b', true],
    ['/q?u=https://x', '/q?u=https%3A%2F%2Fx', true],
    ['/q?u=https%3a%2f%2fx', '/q?u=https://x', true],
    ['/*u=https://x', '/q?u=https%3A%2F%2Fx', true],
    ['/*?a=1', '/x?a=1', true],
    ['/q%3Fa', '/q?a', false],
    ['/q?a=1&b', '/q?a=1%26b', false],
    ['*', '/anything', true],
    ['private', '/private', false],
    ['/**', '/', true],
    ['/*$', '/x', true],
  ];
  it.each(rows)('%s on %s: %s', (pattern, path, expected) => {
    expect(allowed(parse('User-agent: *', `Disallow: ${pattern}`), path)).toBe(!expected);
  });

  it('prefers the longest rule, Allow in a tie', () => {
    expect(allowed(parse('User-agent: *', 'Disallow: /a/b', 'Allow: /a'), '/a/b')).toBe(false);
    expect(allowed(parse('User-agent: *', 'Disallow: /a', 'Allow: /a/b'), '/a/b')).toBe(true);
    expect(allowed(parse('User-agent: *', 'Disallow: /a', 'Allow: /a'), '/a')).toBe(true);
    expect(allowed(parse('User-agent: *', 'Allow: /a', 'Disallow: /a'), '/a')).toBe(true);
  });

  it('reads index.html as its folder in Allow rules only', () => {
    const robots = parse('User-agent: *', 'Allow: /a/index.html', 'Disallow: /');
    expect([allowed(robots, '/a/'), allowed(robots, '/a/x'), allowed(robots, '/a/index.html')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('takes the stricter reading of characters that are not escaped', () => {
    expect(allowed(parse('User-agent: *', 'Disallow: /é'), '/é')).toBe(false);
    expect(allowed(parse('User-agent: *', 'Disallow: /', 'Allow: /é'), '/é')).toBe(false);
  });

  it('always lets robots.txt itself through', () => {
    const robots = parse('User-agent: *', 'Disallow: /');
    expect(allowed(robots, '/robots.txt')).toBe(true);
    expect(allowed(robots, '/robots.txt.bak')).toBe(false);
  });

  it('cuts lines where Google does', () => {
    const long = `/x/${'a'.repeat(16_649)}`;
    const robots = parse('User-agent: *', `Disallow: ${long}/qux`);
    expect([allowed(robots, '/fux'), allowed(robots, `${long}/fux`)]).toEqual([true, false]);
  });

  it('finds the path of any address', () => {
    const robots = parse('User-agent: *', 'Disallow: /x', 'Disallow: /?q');
    for (const url of [
      'http://h/x',
      'https://h/x#f',
      '//h/x',
      '/x',
      'http://h?q',
      'h/x',
      'h/x?u=http://a/b',
      'h/x;p',
    ])
      expect(decideRobots(robots, 'a', url).allowed).toBe(false);
    for (const url of ['', 'http://h', 'http://h#/x', 'http://x/'])
      expect(decideRobots(robots, 'a', url).allowed).toBe(true);
  });
});

describe('lines', () => {
  it.each([
    ['missing colon', 'user-agent *\ndisallow /x'],
    ['typo', 'useragent: *\ndisalow: /x'],
    ['upper case', 'USER-AGENT: *\nDISALLOW: /x'],
    ['carriage returns', 'User-agent: *\rDisallow: /x'],
    ['comment', 'User-agent: * # all\nDisallow: /x # this'],
    ['mark', '\ufeffUser-agent: *\nDisallow: /x'],
    ['blanks', '  User-agent :  *  \n\t Disallow\t:\t/x\t'],
    ['warning before', '<br />\n<b>Warning</b>: x\nUser-agent: *\nDisallow: /x'],
  ])('%s', (_name, text) => expect(allowed(parseRobots(Buffer.from(text)), '/x')).toBe(false));

  it('reads UTF-16 with its mark', () => {
    const text = Buffer.from('\ufeffUser-agent: *\nDisallow: /x', 'utf16le');
    expect(allowed(parseRobots(text), '/x')).toBe(false);
    expect(allowed(parseRobots(Buffer.from(text).swap16()), '/x')).toBe(false);
  });

  it('finds no rules in pages and binaries', () => {
    const page = parseRobots(Buffer.from('\n<!DOCTYPE html><html>\nUser-agent: *\nDisallow: /\n'));
    expect([page.body, page.groups]).toEqual(['html', []]);
    expect(parseRobots(Buffer.from('1f8b0800000000000003000102030405', 'hex')).body).toBe('binary');
  });

  it('reads 500 KiB and leaves out the line that is cut', () => {
    const filler = `#${'x'.repeat(98)}\n`.repeat(5119);
    const head = `User-agent: *\nDisallow: /\n${filler}`;
    const robots = parseRobots(
      Buffer.from(`${head}Allow: /${'a'.repeat(MAX_ROBOTS_BYTES - head.length)}bcd\n`),
    );
    expect(robots.truncated).toBe(true);
    expect(robots.groups[0]!.rules).toHaveLength(1);
  });
});

describe('crawl delay', () => {
  const robots = parse(
    'User-agent: slow',
    'Crawl-delay: 10',
    'User-agent: *',
    'Crawl-delay: 2.5',
    'Disallow: /x',
    'User-agent: outrider',
    'Crawl-delay: 600',
    'User-agent: odd',
    'Crawl-delay: soon',
  );
  it('belongs to the agents named before it', () => {
    expect(crawlDelayOf(robots, 'slow')).toEqual({
      seconds: 10,
      askedSeconds: 10,
      line: 2,
      capped: false,
    });
    expect(crawlDelayOf(robots, 'nobody')).toMatchObject({ seconds: 2.5, line: 4 });
    expect(crawlDelayOf(robots, 'Outrider')).toEqual({
      seconds: 60,
      askedSeconds: 600,
      line: 7,
      capped: true,
    });
    expect(crawlDelayOf(robots, 'odd')).toBe(null);
  });
});

describe('disallowsEverything', () => {
  it.each([
    ['Disallow: /', true],
    ['Disallow: *', true],
    ['Disallow: /*', true],
    ['Disallow: /\nAllow: /a', false],
    ['Disallow: /a', false],
    ['Disallow:', false],
  ])('%s', (rules, expected) => {
    expect(disallowsEverything(parse('User-agent: *', rules), 'Outrider')).toBe(expected);
  });
});

/** The plain definition, by dynamic programming over all prefixes: slow and obviously right. */
function slowMatch(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith('$');
  const text = anchored ? pattern.slice(0, -1) : `${pattern}*`;
  let reach = [true, ...Array<boolean>(path.length).fill(false)];
  for (const character of text) {
    const next = Array<boolean>(path.length + 1).fill(false);
    for (let at = 0; at <= path.length; at += 1) {
      if (character === '*') next[at] = reach.slice(0, at + 1).some(Boolean);
      else next[at] = at > 0 && reach[at - 1] === true && path[at - 1] === character;
    }
    reach = next;
  }
  return reach[path.length] === true;
}

describe('properties', () => {
  it('matches as the definition does', () => {
    const word = (alphabet: string, maxLength: number) =>
      fc.array(fc.constantFrom(...alphabet), { maxLength }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(word('ab/?**', 9), fc.boolean(), word('ab/?', 14), (body, anchored, rest) => {
        const pattern = `/${body}${anchored ? '$' : ''}`;
        const path = `/${rest}`;
        const ours = matchesPattern(compilePattern(pattern), pathTokens(path, false));
        expect(ours).toBe(slowMatch(pattern, path));
      }),
      { numRuns: 5000 },
    );
  });

  it('never throws, and survives JSON', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'User-agent: *',
        'Disallow: /a*b$',
        'Allow: /',
        'Crawl-delay: 3',
        'Sitemap: x',
        '\0',
        '%',
        '\r',
      ),
      fc.string({ unit: 'binary' }),
    );
    const body = fc.oneof(
      fc.array(line).map((lines) => Buffer.from(lines.join('\n'))),
      fc.uint8Array({ maxLength: 200 }),
    );
    fc.assert(
      fc.property(body, fc.string({ unit: 'binary' }), fc.string(), (bytes, url, token) => {
        const robots = parseRobots(bytes);
        const copy = JSON.parse(JSON.stringify(robots)) as Robots;
        expect(copy).toEqual(robots);
        expect(JSON.stringify(robots)).not.toContain('\\u0000');
        expect(decideRobots(copy, token, url)).toEqual(decideRobots(robots, token, url));
        crawlDelayOf(robots, token);
        disallowsEverything(robots, token);
      }),
      { numRuns: 2000 },
    );
  });

  it('answers on hostile rules', () => {
    const stars = `/${'*a'.repeat(8000)}b`;
    const path = `/${'a'.repeat(2000)}`;
    expect(allowed(parse('User-agent: *', `Disallow: ${stars}`), path)).toBe(true);
    expect(allowed(parse('User-agent: *', `Disallow: /*${'a'.repeat(1000)}b`), path)).toBe(true);
  });
});

describe('sitemaps', () => {
  it('are whole addresses, each once, and http only', () => {
    const robots = parse(
      'Sitemap: https://Example.com/a.xml#top',
      'Sitemap: /b.xml',
      'Sitemap: c.xml',
      'Sitemap: https://example.com/a.xml',
      'Sitemap: //maps.example/d.xml',
      'Sitemap: ftp://example.com/e.xml',
      'Sitemap: http://',
    );
    expect(sitemapsNamed(robots, 'https://example.com')).toEqual([
      'https://example.com/a.xml',
      'https://example.com/b.xml',
      'https://example.com/c.xml',
      'https://maps.example/d.xml',
    ]);
  });
});
