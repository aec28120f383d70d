import type { StoredDocument } from '../../documents/index.ts';
import type { Delivery } from '../../outbox/index.ts';
import { createS3Client, type S3Client, type S3Failure, type S3Options } from '../../s3/index.ts';
import { goesOn, judge } from '../doubts.ts';
import { deliverEach } from '../each.ts';
import type { ItemEnd, Outage, Sink } from '../sink.ts';

export type ArchiveOptions = { name: string; store: S3Options; prefix: string };

const atOnce = 8;
// All the fields of an object may have 2 kB together.
const mostTypeChars = 200;

/** The page of each document version as it came, as an object of a bucket. */
export function createArchiveSink(options: ArchiveOptions): Sink {
  const prefix = options.prefix.replace(/^\/+|\/+$/g, '');
  let client: S3Client | null = null;

  async function put({ document, raw }: Delivery, signal: AbortSignal): Promise<ItemEnd | Outage> {
    // Pages that were not kept, or are past their retention, cannot be archived any more.
    if (raw === null) return { end: 'delivered' };
    client ??= createS3Client(options.store);
    const stored = await client.put(`${prefix === '' ? '' : `${prefix}/`}${archiveKey(document)}`, raw.body, {
      contentType: typeOf(raw.contentType),
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
    deliver: async (batch, signal) =>
      judge(batch, await deliverEach(batch, { atOnce, send: (one) => put(one, signal), goesOn })),
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

// What the store says of its key, its clock, its bucket or its place is said of every object.
const aboutAll = new Set([
  'AccountProblem',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'IllegalLocationConstraintException',
  'InvalidAccessKeyId',
  'InvalidBucketName',
  'InvalidToken',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);
const aboutTheObject = new Set(['EntityTooLarge', 'EntityTooSmall', 'KeyTooLongError', 'MetadataTooLarge']);

/**
 * A firewall in front or a rule of the bucket may refuse one page, and a wrong region or key all of them, both in the
 * same words: what others of the batch meet tells which it was.
 */
function endOf({ kind, status, code, detail }: S3Failure): ItemEnd | Outage {
  const said = [status, code, detail.startsWith('the store answered') ? '' : detail];
  const words = said.filter((one) => one !== null && one !== '').join(' ');
  const reason = `the store ${status === null ? 'did not answer:' : 'answered'} ${words}${adviceOn(kind, status, code)}`;
  if (status === 413 || aboutTheObject.has(code ?? '')) return { end: 'rejected', reason };
  const isAboutAll = status === null || status === 401 || (status >= 300 && status < 400);
  if (isAboutAll || aboutAll.has(code ?? '') || kind === 'no_bucket' || kind === 'busy' || kind === 'timeout')
    return { reason };
  return { end: 'retry', reason };
}

function adviceOn(kind: S3Failure['kind'], status: number | null, code: string | null): string {
  if (code === 'AuthorizationHeaderMalformed' || (status !== null && status >= 300 && status < 400))
    return ' (the bucket is in another region or behind another address: check s3.region and s3.endpoint)';
  return kind === 'denied' ? ' (check s3.access_key, s3.secret_key and what they may do)' : '';
}

/** A type as a header may carry it: it is the publisher's text, and what is no ASCII would break the signature. */
function typeOf(contentType: string | null): string {
  const plain = (contentType ?? '').replace(/[^\x20-\x7e]+/g, ' ').trim();
  return plain === '' ? 'text/html' : plain.slice(0, mostTypeChars).trim();
}
