import { AppError, EXIT } from '../errors/index.ts';

/** Reads a whole number from a flag; anything else is the caller's mistake and said so. */
export function wholeNumber(flag: string, text: string, bounds: { least: number; most: number }): number {
  const number = Number(text);
  if (!/^-?\d+$/.test(text.trim()) || number < bounds.least || number > bounds.most)
    throw new AppError(
      'usage',
      `${flag} takes a whole number ${bounds.least}–${bounds.most}, not "${text}"`,
      { exitCode: EXIT.usage },
    );
  return number;
}

/** A number with what is counted: "1 source", "2 sources". */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
