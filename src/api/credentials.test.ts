import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCookies } from './credentials.ts';
import { nameOfHost } from './hosts.ts';

test.each([
  ['a=1', ['1']],
  ['b=2; a=1', ['1']],
  ['a=1; a=2', ['1', '2']],
  ['a = 1 ;b=2', ['1']],
  ['a=', []],
  ['a', []],
  ['=a', []],
  ['xa=1; a.b=2', []],
  ['a=b=c', ['b=c']],
  [';;; a=1;;', ['1']],
  ['A=1', []],
  ['', []],
])('cookies of %j', (header, values) => {
  expect(parseCookies(header, 'a')).toEqual(values);
});

test('cookies that were set are read, whatever stands around them', () => {
  const other = fc.string().filter((text) => !text.includes('session'));
  fc.assert(
    fc.property(other, fc.stringMatching(/^[\w.-]{1,50}$/), other, (before, value, after) => {
      expect(parseCookies(`${before};session=${value};${after}`, 'session')).toEqual([value]);
    }),
  );
});

test.each([
  ['localhost', 'localhost'],
  ['LocalHost:8060', 'localhost'],
  ['127.0.0.1:8060', '127.0.0.1'],
  ['[::1]:8060', '::1'],
  ['[::1', ''],
  ['::1', ''],
  ['localhost:8060:evil.example', 'localhost'],
  ['localhost.', 'localhost.'],
  ['localhost@evil.example', 'localhost@evil.example'],
  ['evil.example/localhost', 'evil.example/localhost'],
  ['', ''],
])('the host %j is called %j', (host, name) => {
  expect(nameOfHost(host)).toBe(name);
});
