import { type TSchema, Type } from 'typebox';

/** A time in an answer. */
export const time = Type.String({ format: 'date-time' });

/** Something that may be missing. */
export const maybe = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A page of a list; `cursor` asks for the next, null: this was the last. */
export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), cursor: maybe(Type.String()) });

/** How many there are: exactly, or at least so many. */
export const counted = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  exact: Type.Boolean({ description: 'false: there are at least so many' }),
});

/** Text that a person writes; PostgreSQL holds no NUL, and a line break would tear lists apart. */
export const words = (most: number) =>
  Type.String({ minLength: 1, maxLength: most, pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$' });

/** A schema of what is served. Told apart from its type: handlers return dates, which JSON has as text. */
export const answers = (schema: TSchema): { 200: TSchema } => ({ 200: schema });
