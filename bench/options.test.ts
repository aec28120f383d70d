import { expect, it } from 'vitest';
import { run } from './frontier.ts';
import { readOptions, UsageError } from './options.ts';

const options = { rows: ['URLs', 100], only: ['names', ''], cold: ['at once', false] } as const;

it('reads what is given and knows the rest', () => {
  expect(readOptions([], options)).toEqual({ rows: 100, only: '', cold: false });
  expect(readOptions(['--rows', '7', '--cold'], options)).toEqual({ rows: 7, only: '', cold: true });
});

it.each(['5', '0', '9999', '11m', '-1', '10kk'])(
  'the frontier is not measured with %s rows',
  async (rows) => {
    await expect(run([`--rows=${rows}`, '--no-peers'])).rejects.toThrow(UsageError);
  },
);

it.each([
  [['--rosw', '7'], '--rosw'],
  [['--rows', 'many'], '--rows takes a number, not "many"'],
  [['--rows=-5'], '--rows takes no negative number, as "-5"'],
  [['--rows='], '--rows takes a number'],
  [['7'], '7'],
  [['--help'], '--rows          URLs (100)'],
])('%j is answered instead of run', (args, said) => {
  expect(() => readOptions(args, options)).toThrow(UsageError);
  expect(() => readOptions(args, options)).toThrow(said);
});
