import { parseDate } from '../../src/dates/index.ts';
import { attempt, loadJson, type Part } from './part.ts';

type DateCase = { input: string; expected: string | null; kind: string };

/** Dates: right, refused, or wrong. Wrong is the worst: a refused date is asked for again, a wrong one is believed. */
export const dates: Part = {
  name: 'dates',
  async run(corpusDir, options) {
    const cases = loadJson<DateCase[]>(corpusDir, 'formats', 'feeds', 'dates.json');
    if (cases === null) return null;
    options.progress(`dates: ${cases.length} cases`);
    const score = { cases: cases.length, right: 0, wrong: 0 };
    for (const one of cases) {
      const result = await attempt(() => parseDate(one.input));
      const got = 'value' in result ? secondsOf(result.value) : result.threw;
      const expected = one.expected === null ? null : secondsOf(new Date(one.expected));
      if (got === expected) score.right += 1;
      else {
        if (got !== null) score.wrong += 1;
        options.fail({
          part: 'dates',
          case: `${one.kind}: ${one.input}`,
          expected: one.expected,
          got: shown(got),
        });
      }
    }
    return { dates: score };
  },
};

function secondsOf(date: Date | null): number | null {
  return date === null ? null : Math.floor(date.getTime() / 1000);
}

function shown(got: number | string | null): string | null {
  return typeof got === 'number' ? new Date(got * 1000).toISOString() : got;
}
