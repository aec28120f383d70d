import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { describeError } from './failure.ts';
import type { Failure } from './result.ts';

/** An encoding we can undo. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** What `Content-Encoding` asks for, outermost last as it was applied, or why we cannot. */
export type EncodingPlan =
  | { outcome: 'plan'; encodings: readonly Encoding[] }
  | { outcome: 'failed'; failure: Failure };

/** Caps of one decoding. */
export type DecodeLimits = { maxBodyBytes: number; maxRatio: number | null };

/** Whether bytes begin like a gzip file. */
export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

type Options = { maxOutputLength: number; chunkSize?: number };
type OneShot = (input: Buffer, options: Required<Options> & { info: true }) => unknown;
type Codec = {
  sync(input: Buffer, options: Options): Buffer;
  async(input: Buffer, options: Options): Promise<Buffer>;
  stream(firstBytes: Buffer): Transform;
};
// Zstandard came with Node 22.15 / 23.8; the types of Node 20 do not know it.
type ZstdFunctions = {
  zstdDecompressSync?: (input: Buffer, options: Options) => Buffer;
  zstdDecompress?: (
    input: Buffer,
    options: Options,
    callback: (error: Error | null, out: Buffer) => void,
  ) => void;
  createZstdDecompress?: () => Transform;
};

/** Ratio caps begin here: below, any page may be as repetitive as it likes. */
export const RATIO_FREE_BYTES = 1024 * 1024;
/** RFC 9110 allows any number; two is what misconfigured caches produce, more is an attack. */
export const MAX_ENCODINGS = 2;
// Measured on Node 20 with a 95 kB page (33 kB of gzip), CPU per call: 0.22 ms synchronous with the size hint below,
// 0.33 ms without it, 0.67 ms asynchronous. These sizes bound how long one call holds the main thread: 256 kB of
// zipped text took 2 ms at best and 17 ms at worst on a busy machine; 4 MB out of brotli took 10 to 55 ms, hence half.
const SYNC_WIRE_BYTES = 256 * 1024;
const SYNC_OUTPUT_BYTES = 2 * 1024 * 1024;

const zstd = zlib as unknown as ZstdFunctions;
const gunzip = promisify<Buffer, Options, Buffer>(zlib.gunzip);
const inflate = promisify<Buffer, Options, Buffer>(zlib.inflate);
const inflateRaw = promisify<Buffer, Options, Buffer>(zlib.inflateRaw);
const brotli = promisify<Buffer, Options, Buffer>(zlib.brotliDecompress);

/** RFC 9110 says zlib format, servers also send raw deflate: the two-byte header of RFC 1950 tells them apart. */
function hasZlibHeader(input: Buffer): boolean {
  return ((input[0] ?? 0) & 0x0f) === 8 && (((input[0] ?? 0) << 8) | (input[1] ?? 0)) % 31 === 0;
}

/** gzip ends with its size (RFC 1952 section 2.3.1): one output buffer of that size spares copying; only a hint. */
function gzipChunkSize(input: Buffer, maxOutputLength: number): number {
  const claimed = input.length >= 18 ? input.readUInt32LE(input.length - 4) + 64 : 0;
  return Math.min(Math.max(claimed, 16 * 1024), 1024 * 1024, Math.max(maxOutputLength, 64));
}

/**
 * Calls one of Node's functions for a whole body. They leave the unpacked bytes at the stream object made for the call,
 * whose native half keeps it through every small collection: 100 kB a page that only full ones were rid of.
 */
function unpack(oneShot: unknown, input: Buffer, { maxOutputLength, chunkSize = 16_384 }: Options): Buffer {
  const { buffer, engine } = (oneShot as OneShot)(input, {
    maxOutputLength,
    chunkSize,
    info: true,
  }) as {
    buffer: Buffer;
    engine: { _outBuffer?: Buffer | null };
  };
  engine._outBuffer = null;
  return buffer;
}

const codecs: Record<Exclude<Encoding, 'zstd'>, Codec> = {
  gzip: {
    sync: (input, { maxOutputLength }) =>
      unpack(zlib.gunzipSync, input, { maxOutputLength, chunkSize: gzipChunkSize(input, maxOutputLength) }),
    async: (input, options) => gunzip(input, options),
    stream: () => zlib.createGunzip(),
  },
  deflate: {
    sync: (input, options) =>
      unpack(hasZlibHeader(input) ? zlib.inflateSync : zlib.inflateRawSync, input, options),
    async: (input, options) => (hasZlibHeader(input) ? inflate(input, options) : inflateRaw(input, options)),
    stream: (first) => (hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw()),
  },
  br: {
    // One output buffer that holds most pages: 168 us for one of 83 kB, 203 in pieces of 16 kB.
    sync: (input, { maxOutputLength }) =>
      unpack(zlib.brotliDecompressSync, input, { maxOutputLength, chunkSize: 128 * 1024 }),
    async: (input, options) => brotli(input, options),
    stream: () => zlib.createBrotliDecompress(),
  },
};

function findZstd(): Codec | null {
  const { zstdDecompressSync, zstdDecompress, createZstdDecompress } = zstd;
  if (!zstdDecompressSync || !zstdDecompress || !createZstdDecompress) return null;
  return {
    sync: (input, options) => unpack(zstdDecompressSync, input, options),
    async: promisify(zstdDecompress),
    stream: () => createZstdDecompress(),
  };
}
const zstdCodec = findZstd();

/** What we tell servers we can undo. */
export const ACCEPT_ENCODING = zstdCodec === null ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd';

// Real codings we cannot undo: handing their bytes on as text would poison extraction and hashes.
const UNSUPPORTED = new Set([
  'compress',
  'x-compress',
  'zstd',
  'dcb',
  'dcz',
  'exi',
  'aes128gcm',
  'pack200-gzip',
]);

const PLAIN: EncodingPlan = { outcome: 'plan', encodings: [] };
const USUAL = new Map<string, EncodingPlan>(
  (['gzip', 'br', 'deflate'] as const).map((name) => [name, { outcome: 'plan', encodings: [name] }]),
);

/** Reads `Content-Encoding`. Words that are no coding ("utf-8", "none") are ignored, as browsers do. */
export function parseContentEncoding(value: string | undefined): EncodingPlan {
  if (value === undefined) return PLAIN;
  const usual = USUAL.get(value);
  if (usual !== undefined) return usual;
  const encodings: Encoding[] = [];
  for (const token of value.toLowerCase().split(',')) {
    const name = token.trim().replace(/^x-gzip$/, 'gzip');
    if (name === 'gzip' || name === 'deflate' || name === 'br' || (name === 'zstd' && zstdCodec !== null))
      encodings.push(name);
    else if (UNSUPPORTED.has(name))
      return {
        outcome: 'failed',
        failure: { kind: 'bad_response', detail: `content encoding ${name} is not supported` },
      };
    if (encodings.length > MAX_ENCODINGS)
      return {
        outcome: 'failed',
        failure: { kind: 'bad_response', detail: `more than ${MAX_ENCODINGS} stacked content encodings` },
      };
  }
  return { outcome: 'plan', encodings };
}

/** How many decoded bytes so many received ones may become. */
export function outputLimit(wireBytes: number, { maxBodyBytes, maxRatio }: DecodeLimits): number {
  if (maxRatio === null) return maxBodyBytes;
  return Math.min(maxBodyBytes, Math.max(RATIO_FREE_BYTES, wireBytes * maxRatio));
}

/** The failure of a body that outgrew its limit: the byte cap or the ratio cap, whichever was lower. */
export function overLimit(wireBytes: number, limits: DecodeLimits): Failure {
  const limit = outputLimit(wireBytes, limits);
  if (limit >= limits.maxBodyBytes)
    return { kind: 'body_too_large', detail: `more than ${limits.maxBodyBytes} bytes when decoded` };
  return {
    kind: 'decompress_bomb',
    detail: `${wireBytes} bytes unpack to more than ${limit} (${limits.maxRatio}:1)`,
  };
}

function codecOf(encoding: Encoding): Codec {
  const codec = encoding === 'zstd' ? zstdCodec : codecs[encoding];
  if (codec === null) throw new Error('zstd is not in this Node');
  return codec;
}

function isOverflow(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
}

async function undo(encoding: Encoding, input: Buffer, limit: number): Promise<Buffer> {
  const codec = codecOf(encoding);
  if (input.length <= SYNC_WIRE_BYTES) {
    try {
      return codec.sync(input, { maxOutputLength: Math.min(limit, SYNC_OUTPUT_BYTES) });
    } catch (error) {
      if (!isOverflow(error) || limit <= SYNC_OUTPUT_BYTES) throw error;
    }
  }
  return await codec.async(input, { maxOutputLength: limit });
}

/**
 * Undoes the encodings of a whole body, every stage under the same caps. A compressed stream that ends early is a
 * `bad_response`: half a page would be stored as a page and hashed as a new version at the next visit.
 */
export async function decodeBody(
  wire: Buffer,
  encodings: readonly Encoding[],
  limits: DecodeLimits & { unwrapGzip: boolean },
): Promise<Buffer | Failure> {
  // "Content-Encoding: gzip" with nothing after it is common on errors and means an empty body.
  if (wire.length === 0) return wire;
  const limit = outputLimit(wire.length, limits);
  let body = wire;
  try {
    for (const encoding of encodings.toReversed()) body = await undo(encoding, body, limit);
    if (limits.unwrapGzip && isGzip(body)) body = await undo('gzip', body, limit);
    return body;
  } catch (error) {
    if (isOverflow(error)) return overLimit(wire.length, limits);
    return { kind: 'bad_response', detail: `body cannot be decoded: ${describeError(error)}` };
  }
}

/** A stream that undoes one encoding; deflate needs the first bytes to know its variant. */
export function createDecoder(encoding: Encoding, firstBytes: Buffer): Transform {
  return codecOf(encoding).stream(firstBytes);
}

const mostPageBytes = 64 * 1024 * 1024;

/** A page that was kept as it came, unpacked; null where that cannot be done here or it has more than `maxBytes`. */
export async function unpackPage(
  body: Buffer,
  contentEncoding: string,
  maxBytes = mostPageBytes,
): Promise<Buffer | null> {
  const plan = parseContentEncoding(contentEncoding);
  if (plan.outcome === 'failed') return null;
  const unpacked = await decodeBody(body, plan.encodings, {
    maxBodyBytes: maxBytes,
    maxRatio: null,
    unwrapGzip: false,
  });
  return Buffer.isBuffer(unpacked) ? unpacked : null;
}
