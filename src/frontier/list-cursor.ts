import { AppError } from '../errors/index.ts';

/** Where a list of URLs goes on: a key, and for lists by time the microsecond of discovery before it. */
export type UrlPlace = { at: string | null; bucket: number; domainKey: bigint; hash: Buffer };

/** A place as text that nobody has to understand. */
export function writeUrlCursor({ at, bucket, domainKey, hash }: UrlPlace): string {
  return Buffer.from(JSON.stringify([at, bucket, domainKey.toString(), hash.toString('hex')])).toString(
    'base64url',
  );
}

const most = 2n ** 63n;

/** Reads it back; what no list of this order has answered is refused, not tried. */
export function parseUrlCursor(text: string, order: 'key' | 'time'): UrlPlace {
  const parts = partsOf(text);
  const [at, bucket, domainKey, hash] = parts;
  const isRight =
    parts.length === 4 &&
    (order === 'key' ? at === null : typeof at === 'string' && /^-?\d{1,17}$/.test(at)) &&
    typeof bucket === 'number' &&
    Number.isInteger(bucket) &&
    bucket >= 0 &&
    bucket <= 255 &&
    typeof domainKey === 'string' &&
    /^-?\d{1,19}$/.test(domainKey) &&
    BigInt(domainKey) < most &&
    BigInt(domainKey) >= -most &&
    typeof hash === 'string' &&
    /^[0-9a-f]{64}$/.test(hash);
  if (!isRight)
    throw new AppError('cursor_invalid', 'this is not a cursor that a list of this order has answered', {
      httpStatus: 400,
      advice: 'Begin again without a cursor.',
    });
  return {
    at: at as string | null,
    bucket,
    domainKey: BigInt(domainKey),
    hash: Buffer.from(hash, 'hex'),
  };
}

function partsOf(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parsed) ? parsed : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
