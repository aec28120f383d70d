import { describeLoop, describeLoops, type LoopState } from './describe-loop.ts';
import type { LoopHealth } from './loop.ts';
import { describeMemory, isMemoryShort, type Memory, measureMemory } from './memory.ts';
import { type LateRestarts, type RestartHistory, restartsLately } from './restarts.ts';

/** What a process knows of itself beyond its loops. */
export type Vitals = {
  readonly memoryLimitBytes: number;
  /** Who would notice that it stalls; null: nobody, as in a command that ends by itself. */
  readonly watchdog: { stallSeconds: number; blockedSeconds: number } | null;
  /** What its supervisor told of those before it; null: it has none, or has not heard yet. */
  restarts: RestartHistory | null;
};

/** Vitals of a process that nobody watches, unless more is known. */
export const createVitals = (known: Partial<Vitals> = {}): Vitals => ({
  memoryLimitBytes: Number.MAX_SAFE_INTEGER,
  watchdog: null,
  restarts: null,
  ...known,
});

/** How a process does, in words and numbers. */
export type VitalsReport = {
  state: LoopState['state'] | 'away' | 'short';
  text: string;
  network: { isAway: boolean; text: string };
  memory: Memory & { isShort: boolean; text: string };
  watchdog: { isWatching: boolean; text: string };
  restarts: LateRestarts;
  loops: (Omit<LoopHealth, 'signs' | 'patienceMs'> & LoopState)[];
};

/** Everything a process can say of itself; `now` is of the clock that stamps its turns. */
export function describeVitals(
  vitals: Vitals,
  { loops, isAway, now }: { loops: readonly LoopHealth[]; isAway: boolean; now: number },
): VitalsReport {
  const told = loops.map(({ signs: _signs, patienceMs, ...loop }) => ({
    ...loop,
    ...describeLoop({ ...loop, patienceMs }, now),
  }));
  const all = describeLoops(told);
  const memory = measureMemory(vitals.memoryLimitBytes);
  const isShort = isMemoryShort(memory);
  const network = isAway
    ? 'Many different hosts cannot be reached: the network seems to be down. Fetching pauses, and nobody is blamed.'
    : 'No outage of the network is seen.';
  const memoryText =
    vitals.memoryLimitBytes === Number.MAX_SAFE_INTEGER ? 'No limit is known.' : describeMemory(memory);
  const troubles = [
    ...(all.state === 'ok' ? [] : [all.text]),
    ...(isAway ? [network] : []),
    ...(isShort ? [`Memory runs short. ${memoryText}`] : []),
  ];
  return {
    state: all.state !== 'ok' ? all.state : isAway ? 'away' : isShort ? 'short' : 'ok',
    text: troubles.length === 0 ? all.text : troubles.join(' '),
    network: { isAway, text: network },
    memory: { ...memory, isShort, text: memoryText },
    watchdog: watchdogOf(vitals),
    restarts: restartsLately(vitals.restarts, now),
    loops: told,
  };
}

function watchdogOf({ watchdog }: Vitals): VitalsReport['watchdog'] {
  if (watchdog === null) return { isWatching: false, text: 'Nobody watches for stalls here.' };
  const { stallSeconds, blockedSeconds } = watchdog;
  return {
    isWatching: true,
    text: `A loop without a sign of life for ${stallSeconds} s, or ${blockedSeconds} s in which nothing turns, end this process.`,
  };
}
