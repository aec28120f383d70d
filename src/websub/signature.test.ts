import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { isSigned } from './signature.ts';

const body = Buffer.from('<feed/>');
const sign = (name: string, secret = 'secret') => createHmac(name, secret).update(body).digest('hex');

it.each(['sha1', 'sha256', 'sha384', 'sha512'])('takes %s', (name) => {
  expect(isSigned(`${name}=${sign(name)}`, body, 'secret')).toBe(true);
  expect(isSigned(` ${name.toUpperCase()}=${sign(name).toUpperCase()} `, body, 'secret')).toBe(true);
});

it.each([
  undefined,
  '',
  'sha256=',
  `sha256=${sign('sha256', 'other')}`,
  `sha256=${sign('sha256').slice(2)}`,
  `sha256=${sign('sha1')}`,
  `sha512=${sign('sha256')}`,
  `md5=${createHmac('md5', 'secret').update(body).digest('hex')}`,
  `sha256=${sign('sha256')}, sha1=${sign('sha1')}`,
  sign('sha256'),
])('refuses %s', (header) => {
  expect(isSigned(header, body, 'secret')).toBe(false);
});

it('refuses another body', () => {
  expect(isSigned(`sha256=${sign('sha256')}`, Buffer.from('<feed />'), 'secret')).toBe(false);
});
