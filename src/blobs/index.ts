import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { defaultDataDir } from '../db/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { openFolderStore } from './folder.ts';
import { openS3Store } from './s3.ts';
import type { BlobStore } from './store.ts';

export { openFolderStore } from './folder.ts';
export { openS3Store } from './s3.ts';
export type { BlobFailure, BlobStore } from './store.ts';

/** The store that the settings name; nothing is asked of it yet. */
export function openBlobStore(config: Pick<Config, 'blobs' | 'data'>): BlobStore {
  const { blobs } = config;
  if (blobs.kind === 'folder')
    return openFolderStore(blobs.dir ?? join(config.data.dir ?? defaultDataDir(), 'blobs'));
  const { s3Endpoint: endpoint, s3Bucket: bucket, s3AccessKey: key, s3SecretKey: secret } = blobs;
  const missing = Object.entries({ endpoint, bucket, access_key: key, secret_key: secret })
    .filter(([, value]) => value === null)
    .map(([name]) => `blobs.s3_${name}`);
  if (endpoint === null || bucket === null || key === null || secret === null)
    throw new AppError('config_invalid', `blobs.kind is s3, but ${missing.join(', ')} is not set`, {
      exitCode: EXIT.usage,
      advice: 'Set what is missing, or blobs.kind to folder.',
    });
  return openS3Store({
    endpoint,
    bucket,
    region: blobs.s3Region,
    prefix: blobs.s3Prefix ?? '',
    accessKeyId: key,
    secretAccessKey: secret,
    pathStyle: blobs.s3Style === 'path',
  });
}
