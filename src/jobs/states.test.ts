import { expect, test } from 'vitest';
import { actionMove, isLegalMove, type JobStatus, jobActions, jobStatuses, legalActions } from './states.ts';

const legal: readonly [JobStatus, JobStatus][] = [
  ['pending', 'scheduled'],
  ['pending', 'running'],
  ['pending', 'cancelled'],
  ['scheduled', 'running'],
  ['scheduled', 'pending'],
  ['scheduled', 'paused'],
  ['scheduled', 'cancelled'],
  ['paused', 'scheduled'],
  ['paused', 'pending'],
  ['paused', 'cancelled'],
  ['running', 'completed'],
  ['running', 'failed'],
  ['running', 'scheduled'],
  ['running', 'paused'],
  ['running', 'cancelled'],
  ['completed', 'scheduled'],
  ['completed', 'pending'],
  ['failed', 'pending'],
];

test('the table of moves is that of the spec, pair by pair', () => {
  const found = jobStatuses.flatMap((from) =>
    jobStatuses.filter((to) => isLegalMove(from, to)).map((to): [JobStatus, JobStatus] => [from, to]),
  );
  expect(found.sort()).toEqual([...legal].sort());
});

test('every action is a legal move from each status it is legal in', () => {
  for (const action of jobActions) {
    const { from, to } = actionMove(action);
    for (const status of from) expect(isLegalMove(status, to), `${action} from ${status}`).toBe(true);
  }
});

test.each([
  ['pending', ['cancel']],
  ['scheduled', ['pause', 'cancel', 'force_run']],
  ['running', ['cancel']],
  ['paused', ['resume', 'cancel', 'force_run']],
  ['completed', ['force_run']],
  ['failed', ['retry', 'force_run']],
  ['cancelled', []],
] as const)('of a %s job these may be done: %j', (status, expected) => {
  expect(legalActions(status)).toEqual(expected);
});
