import type { StoredLoop } from './describe-loop.ts';

const mostLoops = 50;
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
// What a date can hold.
const mostMs = 8.64e15;
const isMoment = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= mostMs;

/** Reads loops that another process wrote down, maybe one of another version: nothing in them is taken for granted. */
export function readLoops(stored: unknown): StoredLoop[] {
  if (!Array.isArray(stored)) return [];
  return stored.slice(0, mostLoops).flatMap((one: unknown) => {
    const { name, intervalMs, lastTurnAt, lastSignAt, turns, errorsInRow, lastError, backlog, patienceMs } =
      (one ?? {}) as {
        [field in keyof StoredLoop]: unknown;
      };
    if (typeof name !== 'string') return [];
    return [
      {
        name: name.slice(0, 100),
        ...(isCount(intervalMs) ? { intervalMs } : {}),
        ...(isMoment(lastSignAt) ? { lastSignAt } : {}),
        ...(isCount(backlog) ? { backlog } : {}),
        ...(isMoment(patienceMs) ? { patienceMs } : {}),
        lastTurnAt: isMoment(lastTurnAt) ? lastTurnAt : null,
        turns: isCount(turns) ? turns : 0,
        errorsInRow: isCount(errorsInRow) ? errorsInRow : 0,
        lastError: typeof lastError === 'string' ? lastError : null,
      },
    ];
  });
}

/** The present of the clock that stamped a process's turns: its heartbeat turned with it, whatever that clock says. */
export const presentOf = (loops: readonly StoredLoop[]): number | null =>
  loops.find((one) => one.name === 'heartbeat')?.lastTurnAt ?? null;
