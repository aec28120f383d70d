import { expect, it } from 'vitest';
import { tableOf } from './table.ts';

it('shows a figure a line, those of a part beneath its name', () => {
  const figures = {
    machine: { load: [0.5, 1.25], node: 'v20' },
    pages: 1234567,
    share: 0.125,
    left: null,
    runs: [{ seconds: 1 }, { seconds: 2 }],
  };
  expect(tableOf(figures)).toBe(
    [
      'machine',
      '  load       0.5  1.25',
      '  node       v20',
      'pages        1,234,567',
      'share        0.125',
      'left         –',
      'runs',
      '  0',
      '    seconds  1',
      '  1',
      '    seconds  2',
    ].join('\n'),
  );
});
