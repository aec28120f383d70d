import { createHash } from 'node:crypto';
import { createS3Client, type S3Failure, type S3Options } from '../s3/index.ts';
import { type BlobFailure, type BlobStore, blobPath } from './store.ts';

/** Objects of a bucket, below a prefix. */
export function openS3Store(options: S3Options & { prefix: string }): BlobStore {
  const client = createS3Client(options);
  const prefix = options.prefix.replace(/^\/+|\/+$/g, '');
  const keyOf = (sha256: Buffer): string => `${prefix === '' ? '' : `${prefix}/`}${blobPath(sha256)}`;
  return {
    kind: 's3',

    async put(sha256, body, contentType) {
      const result = await client.put(keyOf(sha256), body, { contentType, ifAbsent: true });
      return result.outcome === 'failed' ? failed(result) : result;
    },

    async get(sha256) {
      const result = await client.get(keyOf(sha256));
      if (result.outcome === 'failed') return failed(result);
      if (result.outcome === 'missing') return result;
      const { body } = result;
      return createHash('sha256').update(body).digest().equals(sha256)
        ? { outcome: 'found', body }
        : { outcome: 'damaged' };
    },

    async has(sha256) {
      const result = await client.head(keyOf(sha256));
      return result.outcome === 'failed' ? failed(result) : { outcome: result.outcome };
    },

    async delete(sha256) {
      const result = await client.delete(keyOf(sha256));
      return result.outcome === 'failed' ? failed(result) : result;
    },

    close: () => client.close(),
  };
}

const failed = ({ kind, code, detail, tries }: S3Failure): BlobFailure => ({
  outcome: 'failed',
  detail: `${code ?? kind}: ${detail}${tries === 1 ? '' : ` (${tries} tries)`}`,
});
