import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, openBlobStore, openFolderStore, openS3Store } from '../../src/blobs/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { startS3, type TestS3 } from '../s3/server.ts';

const sha256 = (body: Buffer): Buffer => createHash('sha256').update(body).digest();
const body = Buffer.from('the bytes of an image');
const hash = sha256(body);

let server: TestS3;
let folder: string;
beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outrider-blobs-'));
});
afterEach(async () => {
  server.setFault(null);
  await rm(folder, { recursive: true, force: true });
});

const kinds: [string, () => BlobStore][] = [
  ['a folder', () => openFolderStore(folder)],
  ['a bucket', () => openS3Store({ ...server, prefix: '/pictures of/test/' })],
];

describe.each(kinds)('%s', (_name, open) => {
  it('keeps blobs under their hash', async () => {
    const store = open();
    expect(await store.has(hash)).toEqual({ outcome: 'missing' });
    expect(await store.get(hash)).toEqual({ outcome: 'missing' });
    expect(await store.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
    expect(await store.put(hash, body, 'image/png')).toEqual({ outcome: 'exists' });
    expect(await store.has(hash)).toEqual({ outcome: 'found' });
    expect(await store.get(hash)).toEqual({ outcome: 'found', body });
    expect(await store.delete(hash)).toEqual({ outcome: 'deleted' });
    expect(await store.delete(hash)).toEqual({ outcome: 'deleted' });
    expect(await store.get(hash)).toEqual({ outcome: 'missing' });
    await store.close();
  });

  it('notices bytes that are not the ones of their name', async () => {
    const store = open();
    await store.put(sha256(Buffer.from('others')), body, 'image/png');
    expect(await store.get(sha256(Buffer.from('others')))).toEqual({ outcome: 'damaged' });
    await store.close();
  });
});

describe('a folder', () => {
  it('is shared by processes that put the same blobs at once, and holds no half ones', async () => {
    const script = fileURLToPath(new URL('../../dist/test/blobs/put-process.js', import.meta.url));
    const run = promisify(execFile);
    await Promise.all([1, 2, 3].map(() => run(process.execPath, [script, folder, '40'])));
    const store = openFolderStore(folder);
    for (let i = 0; i < 40; i += 1) {
      const expected = Buffer.alloc(20_000, `blob ${i} `);
      expect(await store.get(sha256(expected))).toEqual({ outcome: 'found', body: expected });
    }
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it('clears what a crash left, and not what somebody is writing', async () => {
    await mkdir(join(folder, 'tmp'));
    await writeFile(join(folder, 'tmp/old'), 'half');
    await utimes(join(folder, 'tmp/old'), new Date(0), new Date(0));
    await writeFile(join(folder, 'tmp/young'), 'half');
    await openFolderStore(folder).put(hash, body, 'image/png');
    expect(await readdir(join(folder, 'tmp'))).toEqual(['young']);
  });

  it('replaces a file that is too short', async () => {
    const store = openFolderStore(folder);
    await store.put(hash, body.subarray(0, 5), 'image/png');
    expect(await store.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
    expect(await store.get(hash)).toEqual({ outcome: 'found', body });
  });

  it('replaces a file that is damaged, and as long as it should be', async () => {
    const store = openFolderStore(folder);
    await store.put(hash, Buffer.alloc(body.length), 'image/png');
    expect(await store.get(hash)).toEqual({ outcome: 'damaged' });
    expect(await store.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
    expect(await store.get(hash)).toEqual({ outcome: 'found', body });
  });

  it('that cannot be written says so, and goes on when it can', async () => {
    const path = join(folder, 'file');
    await writeFile(path, 'no folder');
    const store = openFolderStore(path);
    expect(await store.put(hash, body, 'image/png')).toMatchObject({ outcome: 'failed' });
    expect(await store.get(hash)).toEqual({ outcome: 'missing' });
    await rm(path);
    expect(await store.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
  });
});

describe('a bucket', () => {
  it('that refuses is named with the word of the store', async () => {
    const store = openS3Store({ ...server, secretAccessKey: 'wrong', prefix: '' });
    const refusal = { outcome: 'failed', detail: expect.stringContaining('SignatureDoesNotMatch') };
    for (const result of [
      await store.put(hash, body, 'image/png'),
      await store.get(hash),
      await store.delete(hash),
    ])
      expect(result).toEqual(refusal);
    await store.close();
  });
});

describe('settings', () => {
  it('name the store, and what is missing', async () => {
    const dir = openBlobStore(loadConfig({ env: { OUTRIDER_BLOBS_DIR: folder } }).config);
    expect(dir.kind).toBe('folder');
    expect(await dir.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
    const env = {
      OUTRIDER_BLOBS_KIND: 's3',
      OUTRIDER_S3_ENDPOINT: server.endpoint,
      OUTRIDER_BLOBS_BUCKET: server.bucket,
      OUTRIDER_S3_REGION: server.region,
      OUTRIDER_S3_ACCESS_KEY: server.accessKeyId,
    };
    expect(() => openBlobStore(loadConfig({ env }).config)).toThrow('s3.secret_key is not set');
    const whole = { ...env, OUTRIDER_S3_SECRET_KEY: server.secretAccessKey };
    const bucket = openBlobStore(loadConfig({ env: whole }).config);
    expect(await bucket.put(hash, body, 'image/png')).toEqual({ outcome: 'stored' });
    expect(await bucket.get(hash)).toEqual({ outcome: 'found', body });
    await bucket.close();
  });
});
