import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChainCookies } from './cookies.ts';

const here = 'https://news.harbour.example/stories/lamp';

function jarOf(header: string, from = here): ChainCookies {
  const jar = new ChainCookies();
  jar.take(from, header);
  return jar;
}

describe('cookies of a chain', () => {
  it.each([
    ['a=1', here, 'a=1'],
    ['a=1', 'https://news.harbour.example/stories', 'a=1'],
    ['a=1', 'https://news.harbour.example/stories-of-old', null],
    ['a=1', 'https://news.harbour.example/', null],
    ['a=1; Path=/', 'https://news.harbour.example/', 'a=1'],
    ['a=1; path=stories', here, 'a=1'],
    // Only who set it gets it, and hosts below where that is said.
    ['a=1; Path=/', 'https://other.example/', null],
    ['a=1; Path=/', 'https://de.news.harbour.example/', null],
    ['a=1; Path=/; Domain=.harbour.example', 'https://harbour.example/', 'a=1'],
    ['a=1; Path=/; Domain=harbour.example', 'https://de.news.harbour.example/', 'a=1'],
    ['a=1; Path=/; Domain=harbour.example', 'https://myharbour.example/', null],
    ['a=1; Path=/; Domain=other.example', here, null],
    ['a=1; Path=/; Domain=example', 'https://other.example/', null],
    ['a=1; Path=/; Secure', 'http://news.harbour.example/', null],
    ['a=1; Path=/; Secure', here, 'a=1'],
    // One in each line; commas are theirs, in dates and in values.
    ['a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/\nb=2; Path=/', here, 'a=1; b=2'],
    ['a=1; Path=/\nb=2; Path=/stories', here, 'b=2; a=1'],
    ['seen=id=5,ts=99, n=1; Path=/', here, 'seen=id=5,ts=99, n=1'],
    ['a=1=2; HttpOnly; SameSite=Lax', here, 'a=1=2'],
    ['a=', here, 'a='],
    ['a=1; Max-Age=0', here, null],
    ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', here, null],
    // The age counts before the date, in whatever order.
    ['a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', here, 'a=1'],
    ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60', here, 'a=1'],
    ['a=1; Max-Age=-1; Expires=Wed, 21 Oct 2099 07:28:00 GMT', here, null],
    ['a=1; Max-Age=', here, 'a=1'],
    ['=1', here, null],
    ['a', here, null],
    ['', here, null],
    [`a=${'x'.repeat(5_000)}`, here, null],
    ['a=\u00e9', here, null],
  ])('%s for %s', (header, to, sent) => expect(jarOf(header).headerFor(to)).toBe(sent));

  it('are new once, and again with another value or when one is taken back', () => {
    const jar = new ChainCookies();
    expect(jar.take(here, undefined)).toBe(false);
    expect(jar.take(here, 'a=1')).toBe(true);
    expect(jar.take(here, 'a=1')).toBe(false);
    expect(jar.take(here, 'a=2')).toBe(true);
    expect(jar.headerFor(here)).toBe('a=2');
    expect(jar.take(here, 'a=gone; Max-Age=0')).toBe(true);
    expect(jar.take(here, 'a=gone; Max-Age=0')).toBe(false);
    expect(jar.headerFor(here)).toBeNull();
  });

  it('are few, and none where together they are too long', () => {
    const many = Array.from({ length: 100 }, (_, n) => `c${n}=1`).join('\n');
    expect(jarOf(many).headerFor(here)?.split('; ')).toHaveLength(20);
    const long = Array.from({ length: 4 }, (_, n) => `c${n}=${'x'.repeat(2_000)}`).join('\n');
    expect(jarOf(long).headerFor(here)).toBeNull();
  });

  it('never write another line into a request, whatever is set', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (header) => {
        expect(jarOf(`a=1; Path=/\n${header}`).headerFor(here) ?? '').toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });
});
