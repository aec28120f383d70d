import { randomBytes } from 'node:crypto';

const mostInOneMs = 0xfff;
// Apart: as one number they would pass 2^53 in the year 2039, and the count would stand still.
let lastMs = 0;
let count = 0;

/** A UUID that sorts by time (RFC 9562 section 5.7), and in one process by the order in which ids were made. */
export function timeId(nowMs: number): string {
  const random = randomBytes(10);
  const now = Math.trunc(nowMs);
  if (now > lastMs) {
    lastMs = now;
    // Begins anywhere in the lower quarter, so that several processes seldom meet.
    count = random.readUInt16BE(0) & 0x3ff;
  } else if (count < mostInOneMs) count += 1;
  else {
    // So many in one millisecond borrow from the next.
    lastMs += 1;
    count = 0;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | count, 6);
  random.copy(bytes, 8, 2);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
