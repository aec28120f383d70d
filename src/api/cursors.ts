import { hasTextPlace, type SourcePlace, type SourceSort } from '../channels/index.ts';
import type { DocumentPlace } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { parseUrlId, urlId } from '../url/index.ts';
import { storable } from './schemas.ts';

/** A place in a list as an opaque text. */
export const writeCursor = (place: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** Reads the whole numbers of a cursor back; anything else than what a list has answered is refused. */
export function parseCursor(given: string, numbers: readonly { least: bigint; most: bigint }[]): bigint[] {
  const parsed = parseList(given);
  if (parsed.length !== numbers.length) throw cursorInvalid();
  return numbers.map(({ least, most }, index) => {
    const one: unknown = parsed[index];
    if ((typeof one !== 'string' && typeof one !== 'number') || !/^\d{1,19}$/.test(String(one)))
      throw cursorInvalid();
    const value = BigInt(one);
    if (value < least || value > most) throw cursorInvalid();
    return value;
  });
}

function parseList(given: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(given, 'base64url').toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw cursorInvalid();
  }
  // The decoder skips what is no base64: a cursor has one spelling.
  if (!Array.isArray(parsed) || writeCursor(parsed) !== given) throw cursorInvalid();
  return parsed;
}

/** What a cursor's numbers may be: of a serial column, or of a wide one. */
export const serialRange = { least: 0n, most: 2_147_483_647n };
export const wideRange = { least: 0n, most: 9_223_372_036_854_775_806n };
// Microseconds up to the year 9999: what lies beyond is no time that a timestamp takes.
export const timeRange = { least: 0n, most: 253_402_300_799_999_999n };

/** A place in a list of sources as a cursor: it is of one order, and in another one it would be anywhere. */
export const writeSourcePlace = ({ at, id }: SourcePlace, sort: SourceSort): string =>
  sort === 'added' ? writeCursor([id]) : writeCursor([sort, at, id]);

/** Reads it back. */
export function parseSourcePlace(given: string, sort: SourceSort): SourcePlace {
  if (sort === 'added') {
    const id = Number(parseCursor(given, [serialRange])[0]);
    return { at: String(id), id };
  }
  const [name, at, id, ...more] = parseList(given);
  const isPlace =
    typeof at === 'string' &&
    (hasTextPlace(sort) ? new RegExp(storable).test(at) : /^-?\d{1,18}$/.test(at)) &&
    Number.isInteger(id) &&
    Number(id) >= 0 &&
    Number(id) <= Number(serialRange.most);
  if (name !== sort || !isPlace || more.length > 0) throw cursorInvalid();
  return { at, id: Number(id) };
}

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
