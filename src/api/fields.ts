import { Type } from 'typebox';

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
