import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createS3Client, type S3Client, type S3Options } from '../../src/s3/index.ts';
import { startS3, type TestS3 } from './server.ts';

let server: TestS3;
const clients: S3Client[] = [];
/** A client whose waits take no time. */
function open(change: Partial<S3Options> = {}): S3Client {
  let waitedMs = 0;
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now() + waitedMs,
    wait: async (ms: number) => {
      waitedMs += ms;
    },
  };
  const client = createS3Client({ ...server, clock, ...change });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  server = await startS3();
});
afterEach(async () => {
  server.setFault(null);
  server.setSkewMs(0);
  server.setConditional(true);
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => server.close());

const oddKeys = [
  'plain.jpg',
  'a/b/c',
  'with space and + and %41',
  "quotes' (and) !*;:@&=$,",
  'ümlaut/日本/😀',
  'dots/../up/./here',
  'double//slash/',
  '?query#fragment',
  '<xml>&amp;"',
];

describe('objects', () => {
  it.each(oddKeys)('are put, found, read and deleted: %s', async (key) => {
    const client = open();
    const body = Buffer.from(`content of ${key}`);
    expect(await client.head(key)).toEqual({ outcome: 'missing' });
    expect(await client.get(key)).toEqual({ outcome: 'missing' });
    expect(await client.put(key, body, { contentType: 'image/jpeg' })).toEqual({ outcome: 'stored' });
    expect(server.objects.get(key)?.body.equals(body)).toBe(true);
    expect(await client.head(key)).toEqual({ outcome: 'found', bytes: body.length });
    expect(await client.get(key)).toEqual({ outcome: 'found', body, contentType: 'image/jpeg' });
    expect(await client.delete(key)).toEqual({ outcome: 'deleted' });
    expect(await client.delete(key)).toEqual({ outcome: 'deleted' });
    expect(server.objects.has(key)).toBe(false);
  });

  it('are listed page by page, odd keys and all', async () => {
    const client = open();
    for (const key of oddKeys) await client.put(`list/${key}`, Buffer.from('x'));
    const keys: string[] = [];
    let next: string | null = null;
    let pages = 0;
    do {
      const page = await client.list('list/', { most: 4, next });
      if (page.outcome !== 'listed') throw new Error(page.detail);
      keys.push(...page.objects.map((object) => object.key));
      next = page.next;
      pages += 1;
    } while (next !== null);
    expect(pages).toBe(3);
    expect(keys.sort()).toEqual(oddKeys.map((key) => `list/${key}`).sort());
    expect(await client.list('nothing/')).toEqual({ outcome: 'listed', objects: [], next: null });
  });

  it('that are there already stay when asked so, also where the store knows no conditions', async () => {
    const client = open();
    const first = Buffer.from('first');
    expect(await client.put('once', first, { ifAbsent: true })).toEqual({ outcome: 'stored' });
    expect(await client.put('once', Buffer.from('second'), { ifAbsent: true })).toEqual({
      outcome: 'exists',
    });
    expect(server.objects.get('once')?.body.equals(first)).toBe(true);
    server.setConditional(false);
    expect(await client.put('other', first, { ifAbsent: true })).toEqual({ outcome: 'stored' });
  });

  it('larger than asked for are refused', async () => {
    const client = open();
    await client.put('large', Buffer.alloc(100_001));
    expect(await client.get('large', { maxBytes: 100_000 })).toMatchObject({
      kind: 'too_large',
      retry: false,
    });
  });
});

describe('trouble', () => {
  it.each([
    ['SlowDown', { status: 503, code: 'SlowDown', retryAfter: 1 }],
    ['a server error', { status: 500, code: 'InternalError' }],
    ['too many requests', { status: 429, code: 'TooManyRequests' }],
    ['a conflict', { status: 409, code: 'ConditionalRequestConflict' }],
    ['a connection that breaks', 'hang_up' as const],
  ])('passes: %s', async (_name, fault) => {
    const start = server.requests.length;
    server.setFault(({ nth }) => (nth <= start + 2 ? fault : null));
    expect(await open().put('patient', Buffer.from('x'))).toEqual({ outcome: 'stored' });
    expect(server.requests.length - start).toBe(3);
  });

  it.each([
    ['busy', { status: 503, code: 'SlowDown' }, 'busy', 4, true],
    ['broken', { status: 502, code: 'BadGateway' }, 'server_error', 4, true],
    ['unreachable', 'hang_up' as const, 'broken', 4, true],
    ['forbidden', { status: 403, code: 'AccessDenied' }, 'denied', 1, false],
    ['against us', { status: 400, code: 'InvalidRequest' }, 'refused', 1, false],
  ])('that stays is named: %s', async (_name, fault, kind, tries, retry) => {
    server.setFault(() => fault);
    for (const call of ['put', 'get', 'head', 'delete', 'list'] as const) {
      const client = open();
      const result = call === 'put' ? await client.put('x', Buffer.from('x')) : await client[call]('x');
      expect(result, call).toMatchObject({ outcome: 'failed', kind, tries, retry });
    }
  });

  it('is not waited for beyond the deadline', async () => {
    server.setFault(() => 'stall');
    const result = await open({ tryTimeoutMs: 50, timeoutMs: 10_000, maxTries: 2 }).get('x');
    expect(result).toMatchObject({ outcome: 'failed', kind: 'timeout', tries: 2 });
    server.setFault(() => ({ status: 503, code: 'SlowDown', retryAfter: 3600 }));
    expect(await open({ timeoutMs: 5_000 }).get('x')).toMatchObject({ kind: 'busy', tries: 1 });
  });

  it('a lost answer is no lost object', async () => {
    const start = server.requests.length;
    server.setFault(({ nth }) => (nth === start + 1 ? 'lose_answer' : null));
    const result = await open().put('lost-answer', Buffer.from('x'), { ifAbsent: true });
    expect(result).toEqual({ outcome: 'exists' });
  });

  it('clocks that differ are made up for', async () => {
    server.setSkewMs(3_600_000);
    expect(await open().put('skewed', Buffer.from('x'))).toEqual({ outcome: 'stored' });
    expect(server.requests.slice(-2).map((request) => request.status)).toEqual([403, 200]);
  });

  it.each<[string, Partial<S3Options>, object]>([
    ['secret', { secretAccessKey: 'wrong' }, { kind: 'denied', code: 'SignatureDoesNotMatch' }],
    ['key', { accessKeyId: 'WRONG' }, { kind: 'denied', code: 'InvalidAccessKeyId' }],
    ['region', { region: 'elsewhere' }, { kind: 'refused', code: 'AuthorizationHeaderMalformed' }],
    ['bucket', { bucket: 'elsewhere' }, { kind: 'no_bucket', code: 'NoSuchBucket' }],
  ])('a wrong %s is named', async (_name, change, expected) => {
    const client = open(change);
    expect(await client.put('x', Buffer.from('x'))).toMatchObject(expected);
    expect(await client.get('x')).toMatchObject(expected);
    expect(await client.list('')).toMatchObject(expected);
  });

  it('an endpoint nobody listens on is named', async () => {
    const gone = await startS3();
    await gone.close();
    expect(await open({ endpoint: gone.endpoint, maxTries: 1 }).get('x')).toMatchObject({ kind: 'network' });
  });
});
