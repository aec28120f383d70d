import { randomBytes } from 'node:crypto';

let last = 0;

/** A UUID that sorts by time (RFC 9562 section 5.7), and in one process by the order in which ids were made. */
export function timeId(nowMs: number): string {
  const random = randomBytes(10);
  // The twelve bits behind the milliseconds count on; so many in one millisecond borrow from the next.
  const now = Math.trunc(nowMs) * 4096;
  last = now > last ? now + (random.readUInt16BE(0) & 0x3ff) : last + 1;
  const ms = Math.floor(last / 4096);
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | (last - ms * 4096), 6);
  random.copy(bytes, 8, 2);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
