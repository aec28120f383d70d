import { type TProperties, type TSchema, Type } from 'typebox';
import { AppError } from '../errors/index.ts';

// PostgreSQL text holds neither a NUL nor half of a surrogate pair, so both are refused at the door.
export const storable = '^[^\\u0000\\ud800-\\udfff]*$';

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

/** When something is due. */
export const dueDate = Type.Unsafe<Date>({
  type: 'string',
  description: 'time, ISO 8601 in UTC; a thousand years ahead while its source or channel is disabled',
});

/** A time of a page, as its readers see it. */
export const writtenDate = Type.String({
  description: 'time, ISO 8601, by the clock of the page where it names one and in UTC elsewhere',
});

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

/** Reads a date that a caller gave; years that no column holds are none. */
export function parseDate(name: string, given: string): Date {
  const ms = Date.parse(given);
  const isDate = Number.isFinite(ms) && ms > -62_135_596_800_000 && ms < 253_402_300_800_000;
  if (isDate) return new Date(ms);
  throw new AppError('request_invalid', `"${name}" is no date: ${given}`, { httpStatus: 400 });
}

/** How many items a page of a list has. */
export const limit = (most: number, usual: number) =>
  Type.Integer({ minimum: 1, maximum: most, default: usual });

/** Where a list goes on: what the page before answered as `cursor`. */
export const cursor = Type.String({ minLength: 1, maxLength: 1000 });

/** One of some words. */
export const oneOf = <T extends string>(words: readonly T[]) =>
  Type.Unsafe<T>({ type: 'string', enum: [...words] });

/** Unknown parameters and fields are an error, not silence. */
export const strict = { additionalProperties: false } as const;

/** How many there are: exactly, or at least so many. */
export const counted = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  exact: Type.Boolean({ description: 'false: there are at least so many' }),
});

/** Text that a person writes; PostgreSQL holds no NUL, and a line break would tear lists apart. */
export const words = (most: number) => Type.String({ minLength: 1, maxLength: most, pattern: oneLine });
export const oneLine = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$';

/** A schema of what is served. Told apart from its type: handlers return dates, which JSON has as text. */
export const answers = (schema: TSchema): { 200: TSchema } => ({ 200: schema });
