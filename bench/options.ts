import { parseArgs } from 'node:util';

/** Options of a benchmark: what each is for, and its default; `false` for those without a value. */
export type Options = Readonly<Record<string, readonly [about: string, value: string | number | false]>>;

type Values<O extends Options> = {
  [Name in keyof O]: O[Name][1] extends false ? boolean : O[Name][1] extends number ? number : string;
};

/** A benchmark that cannot be run as it was asked for, or was only asked what it can do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the options of a benchmark; what it does not know, and `--help`, end it with what it takes. */
export function readOptions<O extends Options>(args: string[], options: O): Values<O> {
  const config: Record<string, { type: 'string' | 'boolean' }> = {};
  for (const [name, [, value]] of Object.entries(options))
    config[name] = { type: value === false ? 'boolean' : 'string' };
  let given: Record<string, string | boolean | undefined>;
  try {
    given = parseArgs({ args, options: { ...config, help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${describeOptions(options)}`);
  }
  if (given.help === true) throw new UsageError(describeOptions(options));
  const entries = Object.entries(options).map(([name, [, value]]) => {
    const own = given[name] ?? value;
    if (typeof value !== 'number') return [name, own];
    const number = Number(own);
    if (own === '' || !Number.isFinite(number))
      throw new UsageError(`--${name} takes a number, not "${own}"`);
    if (number < 0) throw new UsageError(`--${name} takes no negative number, as "${own}"`);
    return [name, number];
  });
  return Object.fromEntries(entries) as Values<O>;
}

function describeOptions(options: Options): string {
  const lines = Object.entries(options).map(([name, [about, value]]) => {
    const shown = value === false || value === '' ? '' : ` (${value})`;
    return `  --${name.padEnd(14)}${about}${shown}`;
  });
  return ['options:', ...lines, `  --${'json'.padEnd(14)}the result on one line`].join('\n');
}
