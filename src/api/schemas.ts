import { type TProperties, type TSchema, Type } from 'typebox';
import { AppError } from '../errors/index.ts';

// PostgreSQL text holds neither a NUL nor half of a surrogate pair, so both are refused at the door.
const storable = '^[^\\u0000\\ud800-\\udfff]*$';

/** A text that can be stored, of bounded length. */
export const text = (most: number, options: { least?: number; description?: string } = {}) =>
  Type.String({
    minLength: options.least ?? 1,
    maxLength: most,
    pattern: storable,
    ...(options.description === undefined ? {} : { description: options.description }),
  });

/** The short name of a source; a name may have 500 characters, and a number comes behind it where two are alike. */
export const slug = Type.String({
  pattern: '^[a-z0-9_]{1,600}$',
  description: 'short name of a source',
});

/** A number that a serial column can hold. */
export const serial = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** A web address as people give it. */
export const address = text(2048, { description: 'web address' });

/** A date or time that a caller gives; parseDate reads it. */
export const givenDate = Type.String({
  minLength: 4,
  maxLength: 40,
  pattern: '^[0-9A-Za-z :.,+-]+$',
  description: 'date or time, as ISO 8601 writes it',
});

/** A time in an answer. */
export const date = Type.Unsafe<Date>({ type: 'string', description: 'time, ISO 8601 in UTC' });

/** A value or null. */
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A whole number from 0 on. */
export const count = Type.Integer({ minimum: 0 });

/** An answer whose fields are all there is. */
export const answer = <T extends TProperties>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

/** A page of a list: `cursor` leads to the next one and is null at the end. */
export const page = <T extends TSchema>(item: T) => answer(pageFields(item));

/** The fields of a page, for lists that tell more. */
export const pageFields = <T extends TSchema>(item: T) => ({
  items: Type.Array(item),
  cursor: orNull(Type.String()),
});

/** How many there are of something: exact up to 10,000. */
export const total = Type.Union([count, Type.Literal('10,000+')]);
const mostCounted = 10_000;

/** A count that was stopped at 10,001 as an answer tells it. */
export const shownTotal = (counted: number): number | '10,000+' =>
  counted > mostCounted ? '10,000+' : counted;

/** Reads a date that a caller gave; years that no column holds are none. */
export function parseDate(name: string, given: string): Date {
  const ms = Date.parse(given);
  const isDate = Number.isFinite(ms) && ms > -62_135_596_800_000 && ms < 253_402_300_800_000;
  if (isDate) return new Date(ms);
  throw new AppError('request_invalid', `"${name}" is no date: ${given}`, { httpStatus: 400 });
}

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

const cursorInvalid = (): AppError =>
  new AppError('cursor_invalid', 'this is not a cursor that this list has answered', {
    httpStatus: 400,
    advice: 'Begin again without a cursor.',
  });
