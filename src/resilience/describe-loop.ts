import type { LoopHealth } from './loop.ts';

/** How a loop does, in a word and in a sentence. */
export type LoopState = { state: 'ok' | 'failing' | 'broken' | 'still'; text: string };

// A turn may take a while; what has not come round for so long beyond its pause is stuck.
const stallMs = 300_000;
const manyErrors = 10;

/** A loop's health as a process wrote it down; one of an older version may know less of itself. */
export type StoredLoop = Omit<LoopHealth, 'intervalMs' | 'lastSignAt' | 'backlog' | 'signs' | 'patienceMs'> &
  Partial<Pick<LoopHealth, 'intervalMs' | 'lastSignAt' | 'backlog' | 'patienceMs'>>;

/** Says how a loop does; `whose` stands behind its name, `now` is of the clock that stamped its turns. */
export function describeLoop(loop: StoredLoop, now: number | null, whose = ''): LoopState {
  const name = `The ${loop.name} loop${whose}`;
  const since = (moment: number | null): number => (now === null || moment === null ? 0 : now - moment);
  const turnedMs = since(loop.lastTurnAt);
  const silentMs = since(loop.lastSignAt ?? loop.lastTurnAt);
  if (silentMs > stallMs + 2 * Math.max(loop.intervalMs ?? 3_600_000, loop.patienceMs ?? 0))
    return { state: 'still', text: `${name} has not turned for ${Math.round(silentMs / 60_000)} min.` };
  if (loop.errorsInRow > 0) {
    const times = loop.errorsInRow === 1 ? 'once' : `${loop.errorsInRow} times in a row`;
    return {
      state: loop.errorsInRow >= manyErrors ? 'broken' : 'failing',
      text: `${name} failed ${times}: ${(loop.lastError ?? 'unknown').slice(0, 300)}`,
    };
  }
  const ago = turnedMs < 1500 ? 'a moment' : `${Math.round(turnedMs / 1000)} s`;
  const turned = loop.lastTurnAt === null ? 'takes its first turn' : `turned ${ago} ago`;
  return { state: 'ok', text: `${name} ${turned}${waits(loop.backlog ?? null)}.` };
}

const waits = (backlog: number | null): string =>
  backlog === null || backlog === 0 ? '' : `; ${backlog.toLocaleString('en-US')} wait`;

/** All loops of a process in a sentence. */
export function describeLoops(states: readonly LoopState[]): LoopState {
  const troubled = states.filter((one) => one.state !== 'ok');
  if (troubled.length > 0) {
    const text = troubled.map((one) => one.text).join(' ');
    return { state: troubled.find((one) => one.state !== 'failing')?.state ?? 'failing', text };
  }
  const count = states.length;
  return {
    state: 'ok',
    text: count === 0 ? 'No loop runs.' : count === 1 ? 'The one loop turns.' : `All ${count} loops turn.`,
  };
}
