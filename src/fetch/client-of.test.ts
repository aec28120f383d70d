import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { clientOf } from './client-of.ts';

test('lines of the hosts file that cannot be read are told, a few of them', async () => {
  const told: object[] = [];
  const bad = Array.from({ length: 20 }, (_, n) => `not-an-address host-${n}.test`);
  const client = clientOf({
    config: loadConfig({ env: {} }).config,
    userAgent: 'OutriderTest/1',
    hosts: ['127.0.0.1:8080 good.test', '127.0.0.1:99999 staging.example', '# 10.0.0.300 x', ...bad].join(
      '\n',
    ),
    log: { warn: (fields: object) => void told.push(fields) },
  });
  expect(told).toHaveLength(10);
  expect(told.slice(0, 2)).toEqual([
    { line: 2, text: '127.0.0.1:99999 staging.example' },
    { line: 4, text: 'not-an-address host-0.test' },
  ]);
  await client.close();
});
