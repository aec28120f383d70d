import { expect, test } from 'vitest';
import { paint, takesColour } from './style.ts';

const stream = (isTTY: boolean): NodeJS.WriteStream => ({ isTTY }) as NodeJS.WriteStream;

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  // Set and empty is as good as not set (https://no-color.org).
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
])('a terminal: %s, with %j: %s', (isTTY, env, takes) => {
  expect(takesColour(stream(isTTY), env)).toBe(takes);
});

test('what is no terminal gets the text alone', () => {
  expect(paint('bold', 'text', stream(false) as typeof process.stdout)).toBe('text');
});
