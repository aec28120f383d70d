import { expect, test } from 'vitest';
import { EXIT } from '../errors/index.ts';
import { addRestart, type RestartHistory, reasonOf, restartsLately } from './restarts.ts';

test.each([
  [EXIT.stalled, null, 'stall'],
  [EXIT.memory, null, 'memory'],
  [EXIT.database, null, 'database'],
  [EXIT.crashed, null, 'crash'],
  [EXIT.failed, null, 'failed'],
  [EXIT.ok, null, 'failed'],
  [null, 'SIGKILL', 'killed'],
  [null, null, 'failed'],
])('code %s, signal %s: %s', (code, signal, reason) => {
  expect(reasonOf(code, signal)).toBe(reason);
});

test('all are counted, the last twenty are remembered, and those of the last hour are told', () => {
  let history: RestartHistory = { counts: {}, last: [] };
  for (let minute = 0; minute < 100; minute += 5)
    history = addRestart(history, { at: minute * 60_000, reason: minute === 95 ? 'memory' : 'stall' });
  history = addRestart(history, { at: 96 * 60_000, reason: 'crash' });
  expect(history.counts).toEqual({ stall: 19, memory: 1, crash: 1 });
  expect(history.last).toHaveLength(20);
  expect(restartsLately(history, 100 * 60_000)).toEqual({
    lastHour: 12,
    text: 'It was restarted 12 times in the last hour, last because it met an error that nobody foresaw.',
  });
  expect(restartsLately(history, 1000 * 60_000)).toEqual({
    lastHour: 0,
    text: 'It was not restarted in the last hour.',
  });
});

test.each([[null], [7], ['x'], [{}], [{ last: 7 }], [{ last: [null, 7, 'x', {}, { at: 'now' }] }]])(
  'nothing is taken for granted of %j',
  (stored) => {
    expect(restartsLately(stored, 1000).lastHour).toBe(0);
  },
);

test('what another version says is told as far as it is known', () => {
  expect(restartsLately({ last: [{ at: 900 }] }, 1000).text).toBe('It was restarted once in the last hour.');
  const why = 'it was bored '.repeat(100);
  expect(restartsLately({ last: [{ at: 900, why }] }, 1000).text.length).toBeLessThan(200);
});
