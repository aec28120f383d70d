import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifyUrl, originOf, type RulesOf } from './index.ts';

function keyOf(input: string, options = {}): string {
  const result = identifyUrl(input, options);
  return result.outcome === 'ok' ? result.identity.key : result.reason;
}

describe('key', () => {
  it.each([
    ['HTTP://Example.com/Path', 'https://example.com/Path'],
    ['https://EXAMPLE.COM/path', 'https://example.com/path'],
    ['https://example.com:443/path', 'https://example.com/path'],
    ['http://example.com:80/path', 'https://example.com/path'],
    ['https://example.com:80/path', 'https://example.com:80/path'],
    ['http://example.com:443/path', 'https://example.com/path'],
    ['https://example.com:8080/path', 'https://example.com:8080/path'],
    ['https://example.com/path/', 'https://example.com/path'],
    ['https://example.com/path//', 'https://example.com/path'],
    ['https://example.com//', 'https://example.com/'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/?', 'https://example.com/'],
    ['https://example.com./x', 'https://example.com/x'],
    ['https://example.com/path#section', 'https://example.com/path'],
    ['https://example.com/path?z=1&a=2', 'https://example.com/path?a=2&z=1'],
    ['https://example.com/path?b=2&a=1&b=1', 'https://example.com/path?a=1&b=2&b=1'],
    ['https://example.com/path?utm_source=twitter&id=1', 'https://example.com/path?id=1'],
    ['https://example.com/path?UTM_Anything=x', 'https://example.com/path'],
    ['https://example.com/path?fbclid=abc123&id=1', 'https://example.com/path?id=1'],
    ['https://example.com/p?_ga=1&_gl=2&mc_cid=3&GCLID=4&id=7', 'https://example.com/p?id=7'],
    ['https://example.com/p?utm%5Fsource=v', 'https://example.com/p'],
    ['https://example.com/p?preference=1&reference=2', 'https://example.com/p?preference=1&reference=2'],
    ['https://example.com/x?a=&b', 'https://example.com/x?a=&b'],
    ['https://example.com/a/b/../c', 'https://example.com/a/c'],
    ['https://example.com/a/./b', 'https://example.com/a/b'],
    ['https://example.com/a/%2e%2E/b', 'https://example.com/b'],
    ['https://example.com/a//b', 'https://example.com/a//b'],
    ['https://example.com/%7euser/%c3%a9', 'https://example.com/~user/%C3%A9'],
    ['https://example.com/é', 'https://example.com/%C3%A9'],
    ['https://example.com/a%2fb', 'https://example.com/a%2Fb'],
    ['https://example.com/100%', 'https://example.com/100%'],
    ['https://example.com/%4%31', 'https://example.com/%4%31'],
    ['https://example.com/a^b', 'https://example.com/a%5Eb'],
    ['https://user:pass@example.com/a', 'https://example.com/a'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['http://[2001:DB8::1]:8080/', 'https://[2001:db8::1]:8080/'],
    ['http://0x7f.1/', 'https://127.0.0.1/'],
    ['http://1.2.3.4../', 'https://1.2.3.4/'],
    ['  https://example.com/x\n', 'https://example.com/x'],
    ['', 'empty'],
    [' \n', 'empty'],
    ['example.com/a', 'no_scheme'],
    ['/a', 'no_scheme'],
    ['javascript:alert(1)', 'unsupported_scheme'],
    ['mailto:a@example.com', 'unsupported_scheme'],
    ['data:text/html,x', 'unsupported_scheme'],
    ['file:///etc/passwd', 'unsupported_scheme'],
    ['ftp://example.com/', 'unsupported_scheme'],
    ['https://', 'invalid'],
    ['https://./', 'invalid'],
    ['http://a.0x1../', 'invalid'],
    [`https://example.com/${'a'.repeat(2048)}`, 'too_long'],
    [`https://example.com/${'é'.repeat(1000)}`, 'too_long'],
    // Its key has one character more than the address: both must fit, or the key would not be its own key.
    [`http://example.com/${'a'.repeat(2048 - 19)}`, 'too_long'],
  ])('%s', (input, expected) => expect(keyOf(input)).toBe(expected));

  it('resolves against the base and names a bad one', () => {
    expect(keyOf('../c?x=1#f', { base: 'http://example.com/a/b/' })).toBe('https://example.com/a/c?x=1');
    expect(keyOf('//other.example/x', { base: 'https://example.com/' })).toBe('https://other.example/x');
    expect(keyOf('x', { base: 'not a url' })).toBe('invalid_base');
  });

  it('follows the rules of the host', () => {
    const own = { keepTrailingSlash: true, keepParameters: ['ref'], stripParameters: ['Session'] };
    const rules: RulesOf = (domain) => (domain === 'example.com' ? own : undefined);
    const address = 'https://www.example.com/a/?ref=2&session=1&utm_source=x';
    expect(keyOf(address, { rules })).toBe('https://www.example.com/a/?ref=2');
    // Of a sub-domain nothing was said.
    expect(keyOf('https://blog.example.com/a/?ref=2&session=1', { rules })).toBe(
      'https://blog.example.com/a?session=1',
    );
    expect(keyOf(keyOf(address, { rules }), { rules })).toBe(keyOf(address, { rules }));
  });

  it('hashes alike what is alike', () => {
    const hash = (input: string) => {
      const result = identifyUrl(input);
      return result.outcome === 'ok' ? result.identity.hash.toString('hex') : result.reason;
    };
    expect(hash('HTTP://Example.com/path?b=2&a=1')).toBe(hash('https://example.com/path?a=1&b=2'));
    expect(hash('https://example.com/path')).toMatch(/^[0-9a-f]{64}$/);
    expect(hash('https://example.com/path')).not.toBe(hash('https://example.com/Path'));
  });
});

describe('fetch URL', () => {
  it.each([
    ['http://Example.com/a/?b=1&a=2&utm_source=x#top', 'http://example.com/a/?b=1&a=2&utm_source=x'],
    ['http://u:p@example.com/', 'http://example.com/'],
    ['http://example.com/a^b?c^d', 'http://example.com/a%5Eb?c^d'],
    ['https://example.com/#', 'https://example.com/'],
  ])('%s', (input, expected) => {
    const result = identifyUrl(input);
    expect(result.outcome === 'ok' && result.identity.fetchUrl).toBe(expected);
  });

  it('has an origin that keeps www. and the port', () => {
    expect(originOf('http://www.example.com:8080/a')).toBe('http://www.example.com:8080');
    expect(originOf('https://www.example.com:443/a')).toBe('https://www.example.com');
    expect(originOf('nonsense')).toBe('');
  });
});

describe('identity', () => {
  it('carries domain, registrable domain, key and bucket', () => {
    const result = identifyUrl('http://www.blog.example.co.uk:8080/x');
    if (result.outcome !== 'ok') throw new Error(result.reason);
    const { identity } = result;
    expect(identity.domain).toBe('blog.example.co.uk:8080');
    expect(identity.registrableDomain).toBe('example.co.uk');
    expect(identity.bucket).toBe(Number(BigInt.asUintN(8, identity.domainKey)));
  });

  it('gives addresses no registrable domain', () => {
    for (const input of ['http://127.0.0.1/', 'http://[::1]/']) {
      const result = identifyUrl(input);
      expect(result.outcome === 'ok' && result.identity.registrableDomain).toBe(null);
    }
  });
});

const urlish = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'http://',
        'https://',
        'a.example',
        'www.',
        ':443',
        ':80',
        '/',
        '//',
        '..',
        '.',
        '%',
        '%2',
        '%31',
      ),
      fc.constantFrom(
        '?',
        '&',
        '=',
        '#',
        '@',
        'utm_source',
        'ref',
        '%2e',
        '^',
        '\\',
        '[',
        ']',
        'xn--',
        '+',
        ';',
        ' ',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('properties', () => {
  it('normalising is idempotent and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          urlish,
          urlish.map((text) => `http://h.example/${text}`),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          const once = identifyUrl(text);
          if (once.outcome !== 'ok') return;
          const twice = identifyUrl(once.identity.key);
          expect(twice.outcome === 'ok' && twice.identity.key).toBe(once.identity.key);
          expect(twice.outcome === 'ok' && twice.identity.domain).toBe(once.identity.domain);
          const fetched = identifyUrl(once.identity.fetchUrl);
          expect(fetched.outcome === 'ok' && fetched.identity.key).toBe(once.identity.key);
          expect(fetched.outcome === 'ok' && fetched.identity.fetchUrl).toBe(once.identity.fetchUrl);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
