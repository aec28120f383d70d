import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** A record as it stands in a file. */
export type ReadRecord = { file: string; fields: Map<string, string>; block: Buffer };

/** The gzip members of a file, each unpacked by itself. */
export function membersOf(bytes: Buffer): Buffer[] {
  const members: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.readUInt16BE(at) !== 0x1f8b || bytes[at + 3] !== 0)
      throw new Error(`no plain gzip member at ${at}`);
    const unpacked = inflateRawSync(bytes.subarray(at + 10), { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    members.push(unpacked.buffer);
    at += 10 + unpacked.engine.bytesWritten + 8;
  }
  return members;
}

/** Reads one member as one record, by the letter: anything more or less in it is an error. */
export function parseRecord(member: Buffer, file = ''): ReadRecord {
  const end = member.indexOf('\r\n\r\n');
  const [version, ...lines] = member.subarray(0, end).toString('utf8').split('\r\n');
  if (version !== 'WARC/1.1') throw new Error(`${file}: a record begins with ${version}`);
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(': ');
    if (colon < 1 || fields.has(line.slice(0, colon))) throw new Error(`${file}: bad field ${line}`);
    fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const length = Number(fields.get('Content-Length'));
  const block = member.subarray(end + 4, end + 4 + length);
  if (member.subarray(end + 4 + length).toString('latin1') !== '\r\n\r\n')
    throw new Error(`${file}: a record does not end where it should`);
  const digest = `sha256:${createHash('sha256').update(block).digest('hex')}`;
  if (fields.get('WARC-Block-Digest') !== digest) throw new Error(`${file}: wrong block digest`);
  return { file, fields, block };
}

/** Every record of every WARC file in a folder, those still open included, in the order they were written. */
export function readFolder(dir: string): ReadRecord[] {
  return readdirSync(dir)
    .filter((name) => /\.warc\.gz(\.open)?$/.test(name))
    .sort()
    .flatMap((name) => membersOf(readFileSync(join(dir, name))).map((member) => parseRecord(member, name)));
}

/** Head and payload of an HTTP message. */
export function splitMessage(block: Buffer): { head: string; payload: Buffer } {
  const end = block.indexOf('\r\n\r\n');
  return { head: block.subarray(0, end + 4).toString('latin1'), payload: block.subarray(end + 4) };
}

/** The status of a recorded answer. */
export const statusOf = ({ block }: ReadRecord): number => Number(block.subarray(9, 12).toString('latin1'));
