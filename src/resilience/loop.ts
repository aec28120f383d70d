import { messageOf } from '../errors/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';

/** How a loop is doing, as /health shows it. */
export type LoopHealth = {
  name: string;
  /** Pause between idle turns: what is late for one loop is early for another. */
  intervalMs: number;
  lastTurnAt: number | null;
  /** When it last gave a sign of life: began or ended a turn, or got on within one. */
  lastSignAt: number | null;
  turns: number;
  errorsInRow: number;
  lastError: string | null;
  /** What waits for it, as far as it knows; null: it does not. */
  backlog: number | null;
  /** Signs of life so far; the watch looks whether they grow. */
  signs: number;
  /** How long it may be without a sign now, beside what is set: it pauses, or its turns are long by nature. */
  patienceMs: number;
};

/** What a turn says about the next one: wait the usual time, or go on at once because there is more. */
export type TurnResult = 'idle' | 'busy';

/** What a turn may say of itself while it goes on. */
export type LoopVoice = {
  /** A long turn gets on: it has not stalled. */
  progress(): void;
  /** It waits on purpose for so long, though it is within a turn. */
  rest(ms: number): void;
  /** So much waits. */
  backlog(count: number): void;
};

export type LoopOptions = {
  name: string;
  /** Pause after an idle turn. */
  intervalMs: number;
  turn: (signal: AbortSignal, voice: LoopVoice) => Promise<TurnResult>;
  /** What a turn may take without a sign of life beyond what is set: for one statement that reads a whole table. */
  patienceMs?: number;
  signal: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Called with the health object once; it is updated in place. */
  register?: (health: LoopHealth) => void;
};

const maxBackoffMs = 30_000;

/** A loop that has not begun yet. */
export const newLoop = (name: string, intervalMs: number): LoopHealth => ({
  name,
  intervalMs,
  lastTurnAt: null,
  lastSignAt: null,
  turns: 0,
  errorsInRow: 0,
  lastError: null,
  backlog: null,
  signs: 0,
  patienceMs: 0,
});

/** Runs turns until the signal aborts. A turn that throws is logged, counted and tried again with backoff: a loop never dies silently. */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { name, clock, log, metrics, signal } = options;
  const health = newLoop(name, options.intervalMs);
  options.register?.(health);
  while (!signal.aborted) {
    try {
      await takeTurns(options, health);
    } catch (error) {
      // Not a turn failed but what is around it, which nobody foresaw.
      const retryInMs = fail(health, error);
      metrics.loopRestarts.inc({ loop: name });
      log.error({ loop: name, error, retryInMs }, `the ${name} loop ended and will be begun again`);
      await clock.wait(retryInMs, signal);
    }
  }
}

async function takeTurns(options: LoopOptions, health: LoopHealth): Promise<void> {
  const { name, clock, log, metrics, signal } = options;
  const sign = (patienceMs: number): void => {
    health.signs += 1;
    health.lastSignAt = clock.now();
    health.patienceMs = patienceMs;
  };
  const patienceMs = options.patienceMs ?? 0;
  const voice: LoopVoice = {
    progress: () => sign(patienceMs),
    rest: (ms) => sign(patienceMs + ms),
    backlog: (count) => {
      health.backlog = count;
    },
  };
  while (!signal.aborted) {
    let pauseMs = options.intervalMs;
    sign(patienceMs);
    try {
      const result = await options.turn(signal, voice);
      health.errorsInRow = 0;
      health.lastError = null;
      if (result === 'busy') pauseMs = 0;
    } catch (error) {
      if (signal.aborted) break;
      pauseMs = fail(health, error);
      metrics.loopErrors.inc({ loop: name });
      const level = health.errorsInRow === 1 ? 'warn' : health.errorsInRow === 10 ? 'error' : 'debug';
      log[level](
        { loop: name, error, errorsInRow: health.errorsInRow, retryInMs: pauseMs },
        `the ${name} loop failed and will try again`,
      );
    }
    health.turns += 1;
    health.lastTurnAt = clock.now();
    metrics.loopTurns.inc({ loop: name });
    // A fifth of jitter keeps many processes from probing in step.
    const waitMs = pauseMs * (0.9 + Math.random() * 0.2);
    sign(waitMs);
    await clock.wait(waitMs, signal);
  }
}

/** Notes a failure; answers the pause before the next try. */
function fail(health: LoopHealth, error: unknown): number {
  health.errorsInRow += 1;
  health.lastError = messageOf(error);
  return Math.min(maxBackoffMs, 250 * 2 ** Math.min(health.errorsInRow, 10));
}
