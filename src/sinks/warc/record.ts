import { createHash } from 'node:crypto';

/** One record before it is written: named fields in their order, and the block. */
export type WarcRecord = { fields: [name: string, value: string][]; block: Buffer };

// ISO 28500:2017 allows fractions of a second, and readers of 1.0 cut them off.
/** WARC-Date of a moment, in milliseconds: the precision in which requests are dated. */
export const warcDate = (at: Date): string => at.toISOString();

/** A record's name for ever. */
export const recordId = (uuid: string): string => `<urn:uuid:${uuid}>`;

/** SHA-256 in hex: what warcio and jwarc check, and what no publisher can make two pages for, as for SHA-1. */
export const digestOf = (...parts: readonly Buffer[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return labelled(hash.digest());
};

/** A digest as WARC fields name it. */
export const labelled = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;

/** Another id that follows from one, so that a record written again has the id it had. */
export function derivedId(uuid: string, purpose: string): string {
  const bytes = createHash('sha256').update(`${uuid} ${purpose}`).digest().subarray(0, 16);
  // Version 8 (RFC 9562 section 5.8): made by a rule of our own.
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

// A field ends with its line, and nothing in a value may begin another one.
const oneLine = (value: string): string => value.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();

/** The record as it stands in a file, before it is compressed. */
export function recordBytes({ fields, block }: WarcRecord): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${oneLine(value)}\r\n`).join('');
  const head = `WARC/1.1\r\n${lines}Content-Length: ${block.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), block, Buffer.from('\r\n\r\n')]);
}
