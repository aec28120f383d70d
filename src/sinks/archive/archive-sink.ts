import type { StoredDocument } from '../../documents/index.ts';
import type { Delivery } from '../../outbox/index.ts';
import { createS3Client, type S3Client, type S3Failure, type S3Options } from '../../s3/index.ts';
import { deliverEach } from '../each.ts';
import type { ItemEnd, Outage, Sink } from '../sink.ts';

export type ArchiveOptions = { name: string; store: S3Options; prefix: string };

const atOnce = 8;

/** The page of each document version as it came, as an object of a bucket. */
export function createArchiveSink(options: ArchiveOptions): Sink {
  const prefix = options.prefix.replace(/^\/+|\/+$/g, '');
  let client: S3Client | null = null;

  async function put({ document, raw }: Delivery, signal: AbortSignal): Promise<ItemEnd | Outage> {
    // Pages that were not kept, or are past their retention, cannot be archived any more.
    if (raw === null) return { end: 'delivered' };
    client ??= createS3Client(options.store);
    const stored = await client.put(`${prefix === '' ? '' : `${prefix}/`}${archiveKey(document)}`, raw.body, {
      contentType: raw.contentType ?? 'text/html',
      ...(raw.encoding === 'identity' ? {} : { contentEncoding: raw.encoding }),
      signal,
    });
    return stored.outcome === 'failed' ? endOf(stored) : { end: 'delivered' };
  }

  return {
    name: options.name,
    kind: 'archive',
    batch: { items: 100, bytes: 16 * 1024 * 1024, withRaw: true },
    open: async () => null,
    deliver: (batch, signal) => deliverEach(batch, { atOnce, send: (one) => put(one, signal) }),
    close: async () => {
      const open = client;
      client = null;
      await open?.close();
    },
  };
}

/** `source/yyyy/mm/dd/hash`; versions after the first have their number behind it, so that none is overwritten. */
export function archiveKey(
  document: Pick<StoredDocument, 'sourceSlug' | 'crawledAt' | 'hash' | 'version'>,
): string {
  const day = document.crawledAt.toISOString().slice(0, 10).replaceAll('-', '/');
  const version = document.version === 1 ? '' : `.${document.version}`;
  return `${document.sourceSlug ?? 'unknown'}/${day}/${document.hash.toString('hex')}${version}`;
}

// Only what the store says of one object is about that object; anything else would be said of all.
function endOf({ kind, status, code, detail }: S3Failure): ItemEnd | Outage {
  const reason = `the store answered ${[status, code, detail].filter((one) => one !== null && one !== '').join(' ')}`;
  return kind === 'refused' || kind === 'too_large' ? { end: 'rejected', reason } : { reason };
}
