// Below this a piece is joined with the next (an unfinished tag is looked at again with each piece), above the other
// it is split (a piece is what runs between two looks at the clock; 16 kB take about half a millisecond).
const MIN_PIECE = 8_192;
const MAX_PIECE = 16_384;

/** The same bytes in pieces of a size that is neither slow to scan nor long to hold the event loop. */
export async function* evenPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    waiting.push(chunk);
    size += chunk.length;
    if (size < MIN_PIECE) continue;
    yield* split(waiting.length === 1 ? chunk : Buffer.concat(waiting, size));
    waiting = [];
    size = 0;
  }
  if (size > 0) yield* split(Buffer.concat(waiting, size));
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += MAX_PIECE) yield bytes.subarray(at, at + MAX_PIECE);
}

/** Looks at the first piece without losing it; null when there is none. */
export async function peek(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ first: Uint8Array; all: AsyncGenerator<Uint8Array> } | null> {
  const iterator = evenPieces(chunks);
  const head = await iterator.next();
  if (head.done === true) return null;
  const first = head.value;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* iterator;
  }
  return { first, all: all() };
}
