import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { Segments } from '../files/index.ts';
import type { ResponseSink } from '../sink.ts';
import { exchangeRecords } from './exchange-records.ts';
import { lastMemberEnd } from './members.ts';
import { derivedId, digestOf, recordBytes, recordId, type WarcRecord, warcDate } from './record.ts';

/** Where WARC files are written, how large they become, and what each says of itself. */
export type WarcOptions = {
  name: string;
  dir: string;
  mostBytes: number;
  mostAgeMs: number;
  operator: string | null;
  description: string | null;
  userAgent: string;
  now: () => number;
};

const compress = promisify(gzip);
// Each takes a quarter of a megabyte while it works, and there are four threads.
const atOnce = 8;

/**
 * Every response with its request as WARC 1.1 (ISO 28500:2017), each record a gzip member of its own, so that an index
 * can point at it. Files are written as NDJSON is: each exchange stands in them once, whatever crashes.
 */
export function createWarcSink(options: WarcOptions): ResponseSink {
  const segments = new Segments({
    ...options,
    prefix: 'outrider',
    suffix: '.warc.gz',
    numbered: true,
    wholeUntil: lastMemberEnd,
    head: (file) => gzipSync(recordBytes(infoRecord(file, options))),
  });
  return {
    name: options.name,
    kind: 'warc',
    takes: 'responses',
    batch: { items: 500, bytes: 8 * 1024 * 1024 },
    open: async (position) => {
      await segments.open(position);
      return null;
    },
    deliver: async (batch) => {
      const { isWritten, position } = await segments.append(await membersOf(batch.flatMap(exchangeRecords)));
      return { ends: batch.map(() => ({ end: isWritten ? 'delivered' : 'waiting' })), position };
    },
    idle: () => segments.finishOld(),
    close: () => segments.close(),
  };
}

async function membersOf(records: readonly WarcRecord[]): Promise<Buffer[]> {
  const members: Buffer[] = [];
  for (let at = 0; at < records.length; at += atOnce) {
    const next = records.slice(at, at + atOnce).map((record) => compress(recordBytes(record)));
    members.push(...(await Promise.all(next)));
  }
  return members;
}

/** What each file begins with: who made it, with what, and under which rules. */
function infoRecord(file: string, options: WarcOptions): WarcRecord {
  const { operator, description, userAgent, now } = options;
  const facts: [string, string | null][] = [
    ['software', userAgent],
    ['format', 'WARC File Format 1.1'],
    ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
    ['http-header-user-agent', userAgent],
    ['operator', operator],
    ['description', description],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : `${name}: ${value.replace(/\s+/g, ' ').trim()}\r\n`,
  );
  const block = Buffer.from(lines.join(''));
  return {
    fields: [
      ['WARC-Type', 'warcinfo'],
      ['WARC-Record-ID', recordId(derivedId(file, 'warcinfo'))],
      ['WARC-Date', warcDate(new Date(now()))],
      ['WARC-Filename', file],
      ['WARC-Block-Digest', digestOf(block)],
      ['Content-Type', 'application/warc-fields'],
    ],
    block,
  };
}
