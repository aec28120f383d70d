import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeKey, signRequest } from './sign.ts';

// The figures that the specification of the signature publishes for its example keys.
const signer = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const at = new Date('2013-05-24T00:00:00Z');
const host = 'examplebucket.s3.amazonaws.com';
const get = { method: 'GET', host, body: null, query: [], headers: {} };

describe('signatures', () => {
  it.each([
    [
      'an object, part of it',
      { ...get, path: '/test.txt', headers: { range: 'bytes=0-9' } },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'a write',
      {
        ...get,
        method: 'PUT',
        path: `/${encodeKey('test$file.text')}`,
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        body: Buffer.from('Welcome to Amazon S3.'),
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'a query without a value',
      { ...get, path: '/', query: [['lifecycle', '']] as const },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'a listing',
      {
        ...get,
        path: '/',
        query: [
          ['prefix', 'J'],
          ['max-keys', '2'],
        ] as const,
      },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('%s', (_name, request, signature) => {
    const headers = signRequest(request, signer, at);
    expect(headers.authorization).toContain(`Signature=${signature}`);
    expect(headers['x-amz-content-sha256']).toBe(
      createHash('sha256')
        .update(request.body ?? '')
        .digest('hex'),
    );
  });

  it.each([
    ['a/b c+d', 'a/b%20c%2Bd'],
    ["(it's)!*", '%28it%27s%29%21%2A'],
    ['ä/../%41', '%C3%A4/../%2541'],
    ['\ud800x', '%EF%BF%BDx'],
  ])('the key %s is sent as %s', (key, path) => {
    expect(encodeKey(key)).toBe(path);
  });
});
