/** Why a blob could not be put or read: the store's trouble, never the blob's. */
export type BlobFailure = { outcome: 'failed'; detail: string };

/** Immutable bytes under their SHA-256. Puts may be repeated, by any number of processes at once. */
export type BlobStore = {
  /** Its kind, as it is written down beside each image. */
  kind: 'folder' | 's3';
  put(
    sha256: Buffer,
    body: Buffer,
    contentType: string,
  ): Promise<{ outcome: 'stored' | 'exists' } | BlobFailure>;
  /** The bytes, checked against their name: `damaged` when they are others. */
  get(
    sha256: Buffer,
  ): Promise<{ outcome: 'found'; body: Buffer } | { outcome: 'missing' | 'damaged' } | BlobFailure>;
  has(sha256: Buffer): Promise<{ outcome: 'found' | 'missing' } | BlobFailure>;
  /** What is not there is deleted too. */
  delete(sha256: Buffer): Promise<{ outcome: 'deleted' } | BlobFailure>;
  close(): Promise<void>;
};

/** Where a blob lies below the store's root: two levels of 256, so that no folder holds more than thousands. */
export function blobPath(sha256: Buffer): string {
  const hex = sha256.toString('hex');
  return `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`;
}
