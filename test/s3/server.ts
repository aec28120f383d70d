import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkSignature, escapeBytes, type Keys, unescapeBytes } from './signature.ts';

/** How a request may be made to fail. `hang_up` closes the connection, `stall` never answers. */
export type S3Fault =
  | { status: number; code: string; retryAfter?: number }
  | 'hang_up'
  | 'stall'
  /** The object is kept, the answer is lost, or never sent. */
  | 'lose_answer'
  | 'stall_after';

export type S3Seen = { method: string; key: string; status: number | null };

type Reply = { status: number; headers: Record<string, string>; body?: Buffer };
type Stored = { body: Buffer; contentType: string; at: Date };

/** A small S3 store on loopback: signatures, buckets, conditional writes, listings, and faults on demand. */
export type TestS3 = Keys & {
  endpoint: string;
  bucket: string;
  objects: ReadonlyMap<string, Stored>;
  requests: readonly S3Seen[];
  /** Decides for each request whether and how it fails; null: none does. */
  setFault(fault: ((request: { method: string; key: string; nth: number }) => S3Fault | null) | null): void;
  /** How far this server's clock is ahead of the machine's. */
  setSkewMs(ms: number): void;
  /** Whether it knows If-None-Match on PUT; older stores answer 501. */
  setConditional(known: boolean): void;
  close(): Promise<void>;
};

const keys: Keys = { accessKeyId: 'TESTKEY0123456789', secretAccessKey: 'test/secret+key', region: 'test-1' };

/** Starts a store with one empty bucket. */
export async function startS3(options: { bucket?: string; port?: number } = {}): Promise<TestS3> {
  const bucket = options.bucket ?? 'pictures';
  const objects = new Map<string, Stored>();
  const requests: S3Seen[] = [];
  let decideFault: Parameters<TestS3['setFault']>[0] = null;
  let skewMs = 0;
  let isConditional = true;

  /** What a request is answered; null: its connection is closed, undefined: it waits for ever. */
  const answer = (
    request: IncomingMessage,
    body: Buffer,
    seen: S3Seen,
    name: string,
  ): Reply | null | undefined => {
    const { method, key } = seen;
    const target = request.url ?? '';
    const fault = decideFault?.({ method, key, nth: requests.length }) ?? null;
    if (fault === 'stall') return undefined;
    if (fault === 'hang_up') return null;
    if (fault !== null && typeof fault === 'object') {
      const wait = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      return failure(fault.status, fault.code, 'as the test asked for', wait);
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([header, value]) => [header, String(value)]),
    );
    const verdict = checkSignature({ method, target, headers, body }, keys, Date.now() + skewMs);
    if (!verdict.ok) return failure(verdict.status, verdict.code, verdict.message);
    if (name !== bucket) return failure(404, 'NoSuchBucket', 'the bucket does not exist');
    if (key === '') {
      const query = new URLSearchParams(target.split('?')[1] ?? '');
      if (method !== 'GET' || query.get('list-type') !== '2')
        return failure(501, 'NotImplemented', 'no such call');
      const text = listing(objects, bucket, query);
      return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(text) };
    }
    if (Buffer.byteLength(key) > 1024) return failure(400, 'KeyTooLongError', 'the key is too long');
    const known = objects.get(key);
    switch (method) {
      case 'PUT':
        if (headers['if-none-match'] !== undefined && !isConditional)
          return failure(501, 'NotImplemented', 'a header means something this store does not do');
        if (headers['if-none-match'] === '*' && known !== undefined)
          return failure(412, 'PreconditionFailed', 'the object is there');
        objects.set(key, {
          body,
          contentType: headers['content-type'] ?? 'binary/octet-stream',
          at: new Date(),
        });
        if (fault === 'stall_after') return undefined;
        return fault === 'lose_answer' ? null : { status: 200, headers: { etag: etagOf(body) } };
      case 'GET':
      case 'HEAD':
        return known === undefined
          ? failure(404, 'NoSuchKey', 'the key does not exist')
          : {
              status: 200,
              headers: {
                'content-type': known.contentType,
                'content-length': String(known.body.length),
                etag: etagOf(known.body),
              },
              body: known.body,
            };
      case 'DELETE':
        objects.delete(key);
        return { status: 204, headers: {} };
      default:
        return failure(405, 'MethodNotAllowed', 'no such call');
    }
  };

  const handle = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const path = unescapeBytes((request.url ?? '').split('?', 1)[0]!).toString();
    const [, name = '', key = ''] = /^\/([^/]*)(?:\/(.*))?$/s.exec(path) ?? [];
    const seen: S3Seen = { method: request.method ?? '', key, status: null };
    requests.push(seen);
    const reply = answer(request, body, seen, name);
    if (reply === null) request.socket.destroy();
    if (reply == null) return;
    seen.status = reply.status;
    const date = new Date(Date.now() + skewMs).toUTCString();
    response.writeHead(reply.status, { date, 'x-amz-request-id': String(requests.length), ...reply.headers });
    response.end(seen.method === 'HEAD' ? undefined : reply.body);
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => handle(request, response, Buffer.concat(parts)));
    request.on('error', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    ...keys,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    objects,
    requests,
    setFault: (fault) => {
      decideFault = fault;
    },
    setSkewMs: (ms) => {
      skewMs = ms;
    },
    setConditional: (known) => {
      isConditional = known;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const failure = (status: number, code: string, message: string, headers = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/xml', ...headers },
  body: Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  ),
});

const etagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function listing(objects: ReadonlyMap<string, Stored>, bucket: string, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const most = Math.min(1000, Number(query.get('max-keys') ?? 1000));
  const after = Buffer.from(query.get('continuation-token') ?? '', 'base64url').toString();
  const isEncoded = query.get('encoding-type') === 'url';
  const matching = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && key > after)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const page = matching.slice(0, most);
  const isCut = matching.length > page.length;
  // The store writes a space as a plus sign here, unlike in paths.
  const write = (key: string): string =>
    isEncoded ? escapeBytes(Buffer.from(key), true).replaceAll('%20', '+') : escapeXml(key);
  const contents = page.map((key) => {
    const { body, at } = objects.get(key)!;
    return `<Contents><Key>${write(key)}</Key><LastModified>${at.toISOString()}</LastModified><ETag>${escapeXml(etagOf(body))}</ETag><Size>${body.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  });
  const next = isCut
    ? `<NextContinuationToken>${Buffer.from(page.at(-1)!).toString('base64url')}</NextContinuationToken>`
    : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys>${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${isCut}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`;
}
