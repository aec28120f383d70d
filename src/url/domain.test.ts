import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalDomain,
  channelHash,
  domainIdentity,
  identifyUrl,
  parseUrlId,
  probeHash,
  registrableDomain,
  resolveUrl,
  urlId,
} from './index.ts';

describe('canonicalDomain', () => {
  it.each([
    ['https://Example.COM/a', 'example.com'],
    ['example.com:443', 'example.com'],
    ['example.com:80', 'example.com'],
    ['example.com:8443', 'example.com:8443'],
    ['http://example.com:80/', 'example.com'],
    ['https://example.com:80/', 'example.com:80'],
    ['example.com.', 'example.com'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['https://www.münchen.de:443/x', 'xn--mnchen-3ya.de'],
    ['blog.example.com', 'blog.example.com'],
    ['www.example.com', 'example.com'],
    ['www.www.example.com', 'example.com'],
    ['WWW2.example.com', 'www2.example.com'],
    ['www.co.uk', 'www.co.uk'],
    ['www.com', 'www.com'],
    ['www.ck', 'www.ck'],
    ['http://127.0.0.1:80/', '127.0.0.1'],
    ['http://[2001:db8::1]:8080/', '[2001:db8::1]:8080'],
    ['2001:db8::1', '[2001:db8::1]'],
    ['localhost', 'localhost'],
    ['//example.com/x', 'example.com'],
    ['mailto:a@example.com', null],
    ['javascript:alert(1)', null],
    ['ftp://example.com/', null],
    ['a b', null],
    ['', null],
  ])('%s', (input, expected) => expect(canonicalDomain(input)).toBe(expected));

  it('never throws and is idempotent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.webUrl(),
          fc.domain().map((d) => `www.${d}.:8080`),
        ),
        (text) => {
          const domain = canonicalDomain(text);
          if (domain !== null) expect(canonicalDomain(domain)).toBe(domain);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('registrableDomain', () => {
  it.each([
    ['WwW.example.COM', 'example.com'],
    ['a.b.example.co.uk', 'example.co.uk'],
    ['co.uk', null],
    ['a.github.io', 'a.github.io'],
    ['.example.com', null],
    ['a..example.com', null],
    ['食狮.公司.cn', '食狮.公司.cn'],
    ['xn--85x722f.xn--55qx5d.cn', 'xn--85x722f.xn--55qx5d.cn'],
    ['a.b.unlisted', 'b.unlisted'],
    ['', null],
  ])('%s', (host, expected) => expect(registrableDomain(host)).toBe(expected));
});

describe('ids', () => {
  it('go there and back, negative domain keys too', () => {
    const signs = new Set<boolean>();
    for (const name of ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']) {
      const result = identifyUrl(`https://${name}/x`);
      if (result.outcome !== 'ok') throw new Error(result.reason);
      const { domainKey, bucket, hash } = result.identity;
      signs.add(domainKey < 0n);
      const id = urlId(domainKey, hash);
      expect(id).toMatch(/^[0-9a-f]{16}-[0-9a-f]{64}$/);
      expect(parseUrlId(id)).toEqual({ domainKey, bucket, hash });
      expect(domainIdentity(name)).toEqual({ domainKey, bucket });
    }
    expect(signs.size).toBe(2);
  });

  it('refuses what is no id', () => {
    for (const text of ['', 'x', '00-11', `${'0'.repeat(16)}-${'g'.repeat(64)}`])
      expect(parseUrlId(text)).toBe(null);
  });

  it('keeps channel, probe and page rows of one address apart', () => {
    const url = 'https://example.com/feed';
    const page = identifyUrl(url);
    const hashes = [channelHash(url), probeHash('1', url), probeHash('2', url)].map((hash) =>
      hash.toString('hex'),
    );
    if (page.outcome === 'ok') hashes.push(page.identity.hash.toString('hex'));
    expect(new Set(hashes).size).toBe(4);
  });
});

describe('resolveUrl', () => {
  it.each([
    ['b', 'https://example.com/a/', 'https://example.com/a/b'],
    ['a:b  #c', undefined, 'a:b %20#c'],
    ['http://x.xn--pokxncvks/XN--', undefined, 'http://x.xn--pokxncvks/XN--'],
    ['http://u^:p@h/a^b?^#^', undefined, 'http://u%5E:p@h/a%5Eb?^#^'],
    ['no scheme', undefined, null],
  ])('%s', (input, base, expected) => expect(resolveUrl(input, base)).toBe(expected));
});
