import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { defaultDataDir } from '../db/index.ts';
import { configuredS3 } from '../s3/index.ts';
import { openFolderStore } from './folder.ts';
import { openS3Store } from './s3.ts';
import type { BlobStore } from './store.ts';

export { openFolderStore } from './folder.ts';
export { openS3Store } from './s3.ts';
export type { BlobFailure, BlobStore } from './store.ts';

/** The store that the settings name; nothing is asked of it yet. */
export function openBlobStore(config: Pick<Config, 'blobs' | 'data' | 's3'>): BlobStore {
  const { blobs } = config;
  if (blobs.kind === 'folder')
    return openFolderStore(blobs.dir ?? join(config.data.dir ?? defaultDataDir(), 'blobs'));
  return openS3Store({ ...configuredS3(config, 'blobs', blobs.bucket), prefix: blobs.prefix ?? '' });
}
