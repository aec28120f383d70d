import { expect, test } from 'vitest';
import type { AccessRecord } from '../../web/index.ts';
import { frozen, Ledger } from '../ledger.ts';
import type { Stage } from '../stage.ts';
import { checkPoliteness } from './leases.ts';

const record = (life: string, startedAtMs: number, change: Partial<AccessRecord> = {}): AccessRecord => ({
  seq: startedAtMs,
  host: 'one.test',
  path: `/${startedAtMs}`,
  method: 'GET',
  userAgent: `Outrider/torture (${life})`,
  conditional: false,
  startedAtMs,
  headersSentAtMs: startedAtMs + 10,
  endedAtMs: startedAtMs + 20,
  status: 200,
  bytes: 1,
  aborted: false,
  ...change,
});
// Hangs without an answer until its process hangs up.
const hanging = record('fetch-2.1', 1000, {
  headersSentAtMs: -1,
  endedAtMs: 13_000,
  status: 0,
  aborted: true,
});
const freeze = { life: 'fetch-2.1', fromMs: 2000, toMs: 13_000, why: frozen };

function check(log: readonly AccessRecord[], losses: readonly (typeof freeze)[]): string[] {
  const ledger = new Ledger(10_000);
  ledger.losses.push(...losses);
  const stage = { web: { publishers: [] }, ledger } as unknown as Stage;
  return checkPoliteness({ stage, log });
}

const takenOver = [record('fetch-1.1', 7500), record('fetch-1.1', 8000)];

test('whoever takes over from a frozen process need not wait for what it waits for', () => {
  expect(check([hanging, ...takenOver], [freeze])).toEqual([]);
});

test.each([
  ['nobody was frozen', [hanging, ...takenOver], []],
  ['another was frozen', [hanging, ...takenOver], [{ ...freeze, life: 'fetch-3.1' }]],
  ['it had been frozen before', [hanging, ...takenOver], [{ ...freeze, fromMs: 100, toMs: 900 }]],
  ['it froze a moment ago', [hanging, record('fetch-1.1', 2100)], [freeze]],
  [
    'it was answered',
    [record('fetch-2.1', 1000, { headersSentAtMs: 7400, endedAtMs: 13_000 }), ...takenOver],
    [freeze],
  ],
])('but does when %s', (_when, log, losses) => {
  expect(check(log, losses)).not.toEqual([]);
});
