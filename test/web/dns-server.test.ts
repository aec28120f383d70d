import { getServers, setServers } from 'node:dns';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createNameResolver } from '../../src/fetch/client/name-resolver.ts';
import { type DnsServer, startDnsServer } from './dns-server.ts';

const usual = getServers();
let server: DnsServer;

beforeEach(async () => {
  server = await startDnsServer((name, before) => {
    if (name === 'there.test') return { addresses: ['192.0.2.1', '192.0.2.2'] };
    if (name === 'moving.test') return { addresses: [before === 0 ? '192.0.2.1' : '10.0.0.1'] };
    if (name === 'broken.test') return { code: 'SERVFAIL' };
    if (name === 'silent.test') return undefined;
    return name === 'bare.test' ? { addresses: [] } : { code: 'NXDOMAIN' };
  });
  setServers([server.address]);
});
afterEach(async () => {
  setServers(usual);
  await server.close();
});

test('the client asks the servers that were chosen for the process', async () => {
  const names = createNameResolver({ timeoutMs: 200 });
  expect(await names.resolve('there.test')).toEqual({
    outcome: 'resolved',
    addresses: ['192.0.2.1', '192.0.2.2'],
  });
  const failures: [string, RegExp][] = [
    ['missing.test', /^ENOTFOUND/],
    ['bare.test', /^ENODATA/],
    ['broken.test', /^ESERVFAIL/],
    ['silent.test', /^ETIMEOUT/],
  ];
  for (const [name, detail] of failures)
    expect(await names.resolve(name)).toEqual({ outcome: 'failed', detail: expect.stringMatching(detail) });
  expect(server.asked).toContain('there.test');
  names.close();
});

test('an answer holds for a while and is asked for again when it led nowhere', async () => {
  const names = createNameResolver();
  const first = { outcome: 'resolved', addresses: ['192.0.2.1'] };
  expect(await names.resolve('moving.test')).toEqual(first);
  expect(await names.resolve('moving.test')).toEqual(first);
  names.forget('moving.test');
  expect(await names.resolve('moving.test')).toEqual({ outcome: 'resolved', addresses: ['10.0.0.1'] });
  names.close();
});
