import type { Readable } from 'node:stream';

/**
 * Exactly so many bytes of a stream in paused mode, or what there was when it ended; `keep` puts them back. The
 * listener stays until the bytes are there: one attached anew for each attempt is told at once about the bytes that
 * were too few before, and the loop never lets the event loop fetch more.
 */
export function readBytes(stream: Readable, count: number, keep = false): Promise<Buffer> {
  return new Promise((resolve) => {
    const finish = (bytes: Buffer): void => {
      stream.off('readable', attempt);
      stream.off('end', onEnd);
      stream.off('close', onEnd);
      if (keep && bytes.length > 0) stream.unshift(bytes);
      resolve(bytes);
    };
    const attempt = (): void => {
      const bytes = stream.read(count) as Buffer | null;
      if (bytes !== null) finish(bytes);
    };
    const onEnd = (): void => finish(Buffer.alloc(0));
    if (stream.destroyed || stream.readableEnded) {
      resolve(Buffer.alloc(0));
      return;
    }
    stream.on('readable', attempt);
    stream.on('end', onEnd);
    stream.on('close', onEnd);
    attempt();
  });
}
