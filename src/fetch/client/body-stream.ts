import { pipeline } from 'node:stream';
import {
  createDecoder,
  type DecodeLimits,
  type Encoding,
  isGzip,
  outputLimit,
  overLimit,
} from './content-decoding.ts';
import type { WireStream } from './exchange.ts';
import { describeError } from './failure.ts';
import { readBytes } from './read-bytes.ts';
import { HttpBodyError } from './result.ts';

/**
 * Decoded chunks of a streamed response. Caps are checked as it grows: the output against bytes and ratio, and every
 * stage in between too, because a stage may swallow gigabytes of empty blocks without putting out a byte.
 */
export async function* readBodyStream(
  wire: WireStream,
  encodings: readonly Encoding[],
  options: DecodeLimits & { unwrapGzip: boolean },
): AsyncGenerator<Buffer, void, undefined> {
  let last = wire.readable;
  const addStage = (encoding: Encoding, first: Buffer): void => {
    const from = last;
    const stage = createDecoder(encoding, first);
    let passed = 0;
    // Errors reach the reader through the last stage; the callback only keeps them from being thrown here.
    pipeline(from, stage, () => undefined);
    if (from !== wire.readable)
      from.on('data', (chunk: Buffer) => {
        passed += chunk.length;
        if (passed > outputLimit(wire.bytes(), options))
          from.destroy(new HttpBodyError(overLimit(wire.bytes(), options)));
      });
    last = stage;
  };
  try {
    for (const encoding of encodings.toReversed())
      addStage(encoding, encoding === 'deflate' ? await readBytes(last, 2, true) : Buffer.alloc(0));
    if (options.unwrapGzip && isGzip(await readBytes(last, 2, true))) addStage('gzip', Buffer.alloc(0));
    let bytes = 0;
    for await (const chunk of last as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > outputLimit(wire.bytes(), options))
        throw new HttpBodyError(overLimit(wire.bytes(), options));
      yield chunk;
    }
  } catch (error) {
    if (error instanceof HttpBodyError) throw error;
    throw new HttpBodyError({ kind: 'bad_response', detail: `body: ${describeError(error)}` });
  } finally {
    wire.readable.destroy();
  }
}
