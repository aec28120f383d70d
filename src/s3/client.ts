import { parseListing, type S3Object } from './answers.ts';
import { encodeKey } from './sign.ts';
import { type S3Failure, type S3Options, S3Transport } from './transport.ts';

export type PutOptions = {
  contentType?: string;
  contentEncoding?: string;
  /** Leaves what is there already (If-None-Match: *). */
  ifAbsent?: boolean;
  signal?: AbortSignal;
};

/** Five calls of an S3-compatible store; each answers an outcome and never throws. */
export type S3Client = {
  put(key: string, body: Buffer, options?: PutOptions): Promise<{ outcome: 'stored' | 'exists' } | S3Failure>;
  /** `maxBytes` is 100 MB unless said. */
  get(
    key: string,
    options?: { maxBytes?: number; signal?: AbortSignal },
  ): Promise<
    { outcome: 'found'; body: Buffer; contentType: string | null } | { outcome: 'missing' } | S3Failure
  >;
  head(
    key: string,
    options?: { signal?: AbortSignal },
  ): Promise<{ outcome: 'found'; bytes: number } | { outcome: 'missing' } | S3Failure>;
  /** A key that is not there is deleted too. */
  delete(key: string, options?: { signal?: AbortSignal }): Promise<{ outcome: 'deleted' } | S3Failure>;
  /** One page of keys in order; `next` asks for the page behind it. */
  list(
    prefix: string,
    options?: { next?: string | null; most?: number; signal?: AbortSignal },
  ): Promise<{ outcome: 'listed'; objects: S3Object[]; next: string | null } | S3Failure>;
  close(): Promise<void>;
};

const maxObjectBytes = 100_000_000;
const maxListingBytes = 10_000_000;

/** A client of one bucket. Nothing is asked until the first call. */
export function createS3Client(options: S3Options): S3Client {
  const transport = new S3Transport(options);
  const pathOf = (key: string): string => `/${encodeKey(key)}`;
  // Stores that do not know conditional writes say so once.
  let isConditional = true;

  const client: S3Client = {
    async put(key, body, { contentType, contentEncoding, ifAbsent = false, signal } = {}) {
      const condition = ifAbsent && isConditional;
      const answer = await transport.send(
        {
          method: 'PUT',
          path: pathOf(key),
          headers: {
            'content-type': contentType ?? 'application/octet-stream',
            ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
            ...(condition ? { 'if-none-match': '*' } : {}),
          },
          body,
          expected: condition ? [412, 501] : [],
        },
        signal,
      );
      if ('outcome' in answer) return answer;
      if (answer.status === 412) return { outcome: 'exists' };
      if (answer.status === 501) {
        isConditional = false;
        return client.put(key, body, {
          ...(contentType === undefined ? {} : { contentType }),
          ...(contentEncoding === undefined ? {} : { contentEncoding }),
          ...(signal === undefined ? {} : { signal }),
        });
      }
      return { outcome: 'stored' };
    },

    async get(key, { maxBytes = maxObjectBytes, signal } = {}) {
      const answer = await transport.send(
        { method: 'GET', path: pathOf(key), maxBytes, expected: [404] },
        signal,
      );
      if ('outcome' in answer) return answer;
      if (answer.status === 404) return missing(answer.code);
      return { outcome: 'found', body: answer.body, contentType: answer.headers['content-type'] ?? null };
    },

    async head(key, { signal } = {}) {
      const answer = await transport.send({ method: 'HEAD', path: pathOf(key), expected: [404] }, signal);
      if ('outcome' in answer) return answer;
      if (answer.status === 404) return { outcome: 'missing' };
      return { outcome: 'found', bytes: Number(answer.headers['content-length'] ?? 0) };
    },

    async delete(key, { signal } = {}) {
      const answer = await transport.send({ method: 'DELETE', path: pathOf(key), expected: [404] }, signal);
      if ('outcome' in answer) return answer;
      const gone = answer.status === 404 ? missing(answer.code) : null;
      return gone?.outcome === 'failed' ? gone : { outcome: 'deleted' };
    },

    async list(prefix, { next = null, most = 1000, signal } = {}) {
      const query: [string, string][] = [
        ['list-type', '2'],
        ['encoding-type', 'url'],
        ['max-keys', String(most)],
        ['prefix', prefix],
      ];
      if (next !== null) query.push(['continuation-token', next]);
      const answer = await transport.send(
        { method: 'GET', path: '/', query, maxBytes: maxListingBytes },
        signal,
      );
      if ('outcome' in answer) return answer;
      const listing = parseListing(answer.body.toString());
      return listing === null
        ? refused(answer.status, 'the answer is no listing')
        : { outcome: 'listed', ...listing };
    },

    close: () => transport.close(),
  };
  return client;
}

// A missing bucket is also a 404, and an operator must hear of it: every object would seem to be missing.
function missing(code: string | null): { outcome: 'missing' } | S3Failure {
  return code === 'NoSuchBucket'
    ? { ...refused(404, 'the bucket does not exist'), kind: 'no_bucket', code }
    : { outcome: 'missing' };
}

const refused = (status: number, detail: string): S3Failure => ({
  outcome: 'failed',
  kind: 'refused',
  retry: false,
  status,
  code: null,
  detail,
  tries: 1,
});
