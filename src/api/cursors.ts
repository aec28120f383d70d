import type { DocumentPlace } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { parseUrlId, urlId } from '../url/index.ts';

/** A place in a list as an opaque text. */
export const writeCursor = (place: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** Reads the whole numbers of a cursor back; anything else than what a list has answered is refused. */
export function parseCursor(given: string, numbers: readonly { least: bigint; most: bigint }[]): bigint[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(given, 'base64url').toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw cursorInvalid();
  }
  if (!Array.isArray(parsed) || parsed.length !== numbers.length) throw cursorInvalid();
  // The decoder skips what is no base64: a cursor has one spelling.
  if (writeCursor(parsed) !== given) throw cursorInvalid();
  return numbers.map(({ least, most }, index) => {
    const one: unknown = parsed[index];
    if ((typeof one !== 'string' && typeof one !== 'number') || !/^\d{1,19}$/.test(String(one)))
      throw cursorInvalid();
    const value = BigInt(one);
    if (value < least || value > most) throw cursorInvalid();
    return value;
  });
}

/** What a cursor's numbers may be: of a serial column, or of a wide one. */
export const serialRange = { least: 0n, most: 2_147_483_647n };
export const wideRange = { least: 0n, most: 9_223_372_036_854_775_806n };
// Microseconds up to the year 9999: what lies beyond is no time that a timestamp takes.
export const timeRange = { least: 0n, most: 253_402_300_799_999_999n };

/** A place in a list of documents as a cursor. */
export const writeDocumentPlace = ({ crawledUs, domainKey, hash }: DocumentPlace): string =>
  `${crawledUs}.${urlId(domainKey, hash)}`;

/** Reads it back. */
export function parseDocumentPlace(given: string): DocumentPlace {
  // 17 digits of microseconds reach into the year 5138: beyond lies no time that anything was crawled at.
  const [, us = '', id = ''] = /^(\d{1,17})\.([0-9a-f]{16}-[0-9a-f]{64})$/.exec(given) ?? [];
  const key = parseUrlId(id);
  if (key === null) throw cursorInvalid();
  return { crawledUs: BigInt(us), domainKey: key.domainKey, hash: key.hash };
}

/** A cursor that no list has answered. */
export const cursorInvalid = (): AppError =>
  new AppError('cursor_invalid', 'this is not a cursor that this list has answered', {
    httpStatus: 400,
    advice: 'Begin again without a cursor.',
  });
