import { pipeline, Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';

/** Whether bytes begin as gzip does (RFC 1952 section 2.3.1). */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Unpacks gzip as it arrives; ends quietly where the input is cut, throws zlib's error where it is damaged. */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Sync flush gives what a truncated file has; the default would throw it away with an error.
  const unpacker = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 65_536 });
  // The error reaches us a second time through the iteration below, which is where it is handled.
  pipeline(Readable.from(chunks, { objectMode: true }), unpacker, (error) => error);
  yield* unpacker as AsyncIterable<Uint8Array>;
}
