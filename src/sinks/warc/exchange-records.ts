import type { ResponseDelivery } from '../../outbox/index.ts';
import { derivedId, digestOf, labelled, recordId, type WarcRecord, warcDate } from './record.ts';

const profiles = 'http://netpreserve.org/warc/1.1/revisit/';

/** The records of one exchange: what was answered, then what was asked. */
export function exchangeRecords(response: ResponseDelivery): WarcRecord[] {
  return [response.revisit === null ? answerRecord(response) : revisitRecord(response), askRecord(response)];
}

function answerRecord(response: ResponseDelivery): WarcRecord {
  const { payloadDigest, responseHead } = response;
  const body = response.body ?? Buffer.alloc(0);
  const block = Buffer.concat([archivedHead(responseHead), body]);
  return {
    fields: [
      ...commonFields('response', recordId(response.id), response),
      ...truncatedFields(response.truncated),
      ['WARC-Payload-Digest', payloadDigest === null ? digestOf(body) : labelled(payloadDigest)],
      ['WARC-Block-Digest', digestOf(block)],
      ['Content-Type', 'application/http; msgtype=response'],
    ],
    block,
  };
}

/** A response whose payload another record has. The block is the head alone (WARC 1.1 section 6.7). */
function revisitRecord(response: ResponseDelivery): WarcRecord {
  const { revisit, refersTo, refersToAt, payloadDigest, url } = response;
  const block = archivedHead(response.responseHead);
  return {
    fields: [
      ...commonFields('revisit', recordId(response.id), response),
      ['WARC-Profile', profiles + revisit],
      ...(refersTo === null || refersToAt === null
        ? []
        : ([
            ['WARC-Refers-To', recordId(refersTo)],
            ['WARC-Refers-To-Target-URI', url],
            ['WARC-Refers-To-Date', warcDate(refersToAt)],
          ] as [string, string][])),
      // Left out by us, where the server itself sent a body again.
      ...truncatedFields(revisit === 'identical-payload-digest' ? 'length' : response.truncated),
      ...(payloadDigest === null
        ? []
        : ([['WARC-Payload-Digest', labelled(payloadDigest)]] as [string, string][])),
      ['WARC-Block-Digest', digestOf(block)],
      ['Content-Type', 'application/http; msgtype=response'],
    ],
    block,
  };
}

function askRecord(response: ResponseDelivery): WarcRecord {
  const block = response.requestHead;
  return {
    fields: [
      ...commonFields('request', recordId(derivedId(response.id, 'request')), response),
      ['WARC-Concurrent-To', recordId(response.id)],
      ['WARC-Block-Digest', digestOf(block)],
      ['Content-Type', 'application/http; msgtype=request'],
    ],
    block,
  };
}

function commonFields(type: string, id: string, { at, url, address }: ResponseDelivery): [string, string][] {
  return [
    ['WARC-Type', type],
    ['WARC-Record-ID', id],
    ['WARC-Date', warcDate(at)],
    ['WARC-Target-URI', url],
    ...(address === null ? [] : ([['WARC-IP-Address', plainAddress(address)]] as [string, string][])),
  ];
}

const truncatedFields = (reason: string | null): [string, string][] =>
  reason === null ? [] : [['WARC-Truncated', reason]];

// A socket for both families names IPv4 peers so.
const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');

const transferEncoding = /^transfer-encoding(?=[ \t]*:)/i;

/**
 * The response's head as it came, but for one name: the body was taken out of its chunks on the way, and a reader that
 * believed the header would look for them. Common Crawl's crawlers call it so too.
 */
export function archivedHead(head: Buffer): Buffer {
  const lines = head.toString('latin1').split('\r\n');
  const isRenamed = lines.some((line) => transferEncoding.test(line));
  if (!isRenamed) return head;
  return Buffer.from(
    lines.map((line) => line.replace(transferEncoding, (name) => `X-Crawler-${name}`)).join('\r\n'),
    'latin1',
  );
}
