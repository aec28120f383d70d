import { packedRaw } from '../article.ts';
import type { Ingested, IngestSettings, PageResponse } from '../response.ts';

/**
 * What the thread does: read it as ever, only ask Readability about a page that was read already, try selectors on
 * it, or write its article as HTML.
 */
export type Task = 'whole' | 'second_opinion' | 'selectors' | 'preview';

/** What crosses to the thread. */
export type ReadRequest = { response: PageResponse; settings: IngestSettings; task: Task };

/** What comes back: an interim reading stands when the rest takes too long. */
export type ReadAnswer =
  | { answer: 'ready' }
  | { answer: 'interim'; ingested: Ingested }
  | { answer: 'done'; ingested: Ingested }
  | { answer: 'threw'; error: unknown };

/**
 * Packs a response for the thread. Compressed bytes stay here, because the document only carries them through; the
 * body moves instead of being copied, unless something here still needs it.
 */
export function packRequest(
  response: PageResponse,
  settings: IngestSettings,
  task: Task,
): { message: ReadRequest; transfer: ArrayBuffer[] } {
  const rawStays = task !== 'whole' || packedRaw(response) !== null;
  const { buffer } = response.body;
  return {
    message: {
      response: { ...response, wireBody: null, contentEncoding: null },
      settings: rawStays ? { ...settings, keepHtml: 'none' } : settings,
      task,
    },
    // The bytes of an image are stored afterwards.
    transfer:
      task === 'whole' && response.row.kind !== 'image' && isMovable(response.body)
        ? [buffer as ArrayBuffer]
        : [],
  };
}

// Small buffers share Node's pool, which cannot be moved; a big one owns all of its memory, or nearly.
const isMovable = (body: Buffer): boolean =>
  body.buffer instanceof ArrayBuffer && body.length > body.buffer.byteLength / 2 && body.length > 65_536;

/** On the thread: cloning makes plain byte arrays of buffers. */
export function unpackRequest({ response, settings, task }: ReadRequest): ReadRequest {
  return {
    response: { ...response, body: asBuffer(response.body), finalHash: asBuffer(response.finalHash) },
    settings,
    task,
  };
}

/** Back here: the document with its bytes and hashes as buffers again. */
export function unpackIngested(
  ingested: Ingested,
  response: PageResponse,
  keepHtml: IngestSettings['keepHtml'],
): Ingested {
  if (ingested.outcome === 'image') return { ...ingested, sha256: asBuffer(ingested.sha256) };
  if (ingested.outcome !== 'document') return ingested;
  const { document } = ingested;
  const { raw } = document;
  const cloned = raw === null ? null : { ...raw, body: asBuffer(raw.body) };
  return {
    ...ingested,
    document: {
      ...document,
      hash: response.finalHash,
      contentHash: asBuffer(document.contentHash),
      raw: keepHtml === 'none' ? null : (packedRaw(response) ?? cloned),
    },
  };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
