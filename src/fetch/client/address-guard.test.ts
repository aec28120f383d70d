import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAddressGuard, isSameAddress, networkOf } from './address-guard.ts';

const guard = createAddressGuard();

describe('addresses', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'not an address',
    '',
    '1.2.3',
  ])('%s is refused', (address) => {
    expect(guard.check(address, 80)).toMatchObject({ allowed: false, kind: 'refused_address' });
  });

  test.each(['8.8.8.8', '1.1.1.1', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => {
      expect(guard.check(address, 443)).toEqual({ allowed: true });
    },
  );

  test('IPv4 inside any IPv6 wrapping is never public', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const prefix = fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::');
    fc.assert(
      fc.property(prefix, octet, octet, octet, octet, (head, a, b, c, d) => {
        expect(guard.check(`${head}${a}.${b}.${c}.${d}`, 80).allowed).toBe(false);
      }),
    );
  });

  test('any text gets a verdict', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer(), (text, port) => {
        expect(typeof guard.check(text, port).allowed).toBe('boolean');
      }),
    );
  });
});

describe('ports', () => {
  test.each([80, 443, 8080, 8443])('%i is allowed', (port) => {
    expect(guard.check('8.8.8.8', port)).toEqual({ allowed: true });
    expect(guard.portCanPass(port)).toBe(true);
  });

  test.each([0, 22, 25, 81, 6379, 65_535])('%i is not', (port) => {
    expect(guard.check('8.8.8.8', port)).toMatchObject({ allowed: false, kind: 'refused_port' });
    expect(guard.portCanPass(port)).toBe(false);
  });

  test('other ports can be chosen', () => {
    const other = createAddressGuard([], [8000]);
    expect(other.check('8.8.8.8', 8000).allowed).toBe(true);
    expect(other.check('8.8.8.8', 80).allowed).toBe(false);
  });
});

describe('exceptions', () => {
  const listed = createAddressGuard(['127.0.0.0/8:38017', '[::1]/128:8080', '10.1.2.3:9000', '[fd00::]/8:*']);

  test.each([
    ['127.0.0.1', 38_017, true],
    ['127.9.9.9', 38_017, true],
    ['127.0.0.1', 80, false],
    ['128.0.0.1', 38_017, false],
    ['10.1.2.3', 9000, true],
    ['10.1.2.4', 9000, false],
    ['::1', 8080, true],
    ['::1', 8081, false],
    ['::2', 8080, false],
    ['fd12::1', 1, true],
    ['fe80::1', 1, false],
    ['::ffff:127.0.0.1', 38_017, false],
  ])('%s port %i: %s', (address, port, allowed) => {
    expect(listed.check(address, port).allowed).toBe(allowed);
  });

  test('a listed port spares nobody the address check', () => {
    expect(listed.portCanPass(38_017)).toBe(true);
    expect(listed.check('8.8.8.8', 38_017)).toMatchObject({ kind: 'refused_port' });
  });

  test.each([
    'true',
    '127.0.0.1',
    '127.0.0.0/8',
    '127.0.0.0/33:80',
    '127.0.0.0/8:0',
    '127.0.0.0/8:70000',
    '[::1]/129:80',
    '::1/128:80',
    'localhost:80',
    '999.0.0.1:80',
    '',
  ])('"%s" is refused with its text', (entry) => {
    expect(() => createAddressGuard([entry])).toThrow(/CIDR:PORT/);
  });
});

test.each([
  ['192.0.2.77', '192.0.2'],
  ['2001:db8:1:2::5', '2001:db8:1'],
  ['::1', '0:0:0'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['127.0.0.1', '::ffff:127.0.0.1', true],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['127.0.0.1', '127.0.0.2', false],
  ['x', '127.0.0.1', false],
])('%s and %s are the same: %s', (left, right, same) => {
  expect(isSameAddress(left, right)).toBe(same);
});
