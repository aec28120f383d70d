import type { StoredDocument } from '../../documents/index.ts';
import type { Delivery, RawPage } from '../../outbox/index.ts';
import { createS3Client, type S3Client, type S3Failure, type S3Options } from '../../s3/index.ts';
import { goesOn, judge } from '../doubts.ts';
import { deliverEach } from '../each.ts';
import type { BatchEnd, ItemEnd, Outage, Sink } from '../sink.ts';

export type ArchiveOptions = { name: string; store: S3Options; prefix: string };

type Page = Delivery & { raw: RawPage };

const atOnce = 8;
// All tries of one page: less than a delivery may take, so that a page that is never answered is known as that.
const putTimeoutMs = 30_000;
// All the fields of an object may have 2 kB together.
const mostTypeChars = 200;

/** The page of each document version as it came, as an object of a bucket. */
export function createArchiveSink(options: ArchiveOptions): Sink {
  const prefix = options.prefix.replace(/^\/+|\/+$/g, '');
  const below = prefix === '' ? '' : `${prefix}/`;
  let client: S3Client | null = null;
  const clientOf = (): S3Client => {
    client ??= createS3Client({ timeoutMs: putTimeoutMs, ...options.store });
    return client;
  };

  async function put({ document, raw }: Page, signal: AbortSignal): Promise<ItemEnd | Outage> {
    const stored = await clientOf().put(`${below}${archiveKey(document)}`, raw.body, {
      contentType: typeOf(raw.contentType),
      ...(raw.encoding === 'identity' ? {} : { contentEncoding: raw.encoding }),
      signal,
    });
    return stored.outcome === 'failed' ? endOf(stored) : { end: 'delivered' };
  }

  /** Any answer will do but that it is out of order: a key may have the right to write and no other. */
  async function isThere(signal: AbortSignal): Promise<boolean> {
    const found = await clientOf().head(`${below}is-there`, { signal });
    return found.outcome !== 'failed' || (found.status !== null && found.status < 500);
  }

  async function deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchEnd> {
    const pages = batch.filter((one): one is Page => one.raw !== null);
    const sent = await deliverEach(pages, { atOnce, send: (one) => put(one, signal), goesOn });
    const { ends, ...rest } = await judge(pages, sent, () => isThere(signal));
    const left = ends.values();
    // Pages that were not kept, or are past their retention, cannot be archived any more; they say nothing of the store.
    return {
      ends: batch.map(({ raw }) => (raw === null ? { end: 'delivered' } : left.next().value!)),
      ...rest,
    };
  }

  return {
    name: options.name,
    kind: 'archive',
    batch: { items: 100, bytes: 16 * 1024 * 1024, withRaw: true },
    open: async () => null,
    deliver,
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
 * A firewall in front or a rule of the bucket may refuse one page or hang up over it, and a wrong region or key all of
 * them, both in the same words: what others of the batch meet tells which it was.
 */
function endOf({ kind, status, code, detail }: S3Failure): ItemEnd | Outage {
  const said = [status, code, detail.startsWith('the store answered') ? '' : detail];
  const words = said.filter((one) => one !== null && one !== '').join(' ');
  const reason = `the store ${status === null ? 'did not answer:' : 'answered'} ${words}${adviceOn(kind, status, code)}`;
  if (status === 413 || aboutTheObject.has(code ?? '')) return { end: 'rejected', reason };
  if (isAboutAll(kind, status, code)) return { reason };
  return { end: 'retry', reason };
}

function isAboutAll(kind: S3Failure['kind'], status: number | null, code: string | null): boolean {
  // What hangs up or falls silent may do so over one page; what cannot be reached does not.
  if (status === null) return kind === 'network';
  if (status === 401 || (status >= 300 && status < 400) || kind === 'no_bucket') return true;
  // A store that is busy says so with a code; what stands in front of it has none.
  return (code ?? '') === '' ? status === 429 : aboutAll.has(code!) || kind === 'busy' || kind === 'timeout';
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
