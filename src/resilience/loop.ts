import { messageOf } from '../errors/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';

/** How a loop is doing, as /health shows it. */
export type LoopHealth = {
  name: string;
  /** Pause between idle turns: what is late for one loop is early for another. */
  intervalMs: number;
  lastTurnAt: number | null;
  turns: number;
  errorsInRow: number;
  lastError: string | null;
};

/** What a turn says about the next one: wait the usual time, or go on at once because there is more. */
export type TurnResult = 'idle' | 'busy';

export type LoopOptions = {
  name: string;
  /** Pause after an idle turn. */
  intervalMs: number;
  turn: (signal: AbortSignal) => Promise<TurnResult>;
  signal: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Called with the health object once; it is updated in place. */
  register?: (health: LoopHealth) => void;
};

const maxBackoffMs = 30_000;

/** Runs turns until the signal aborts. A turn that throws is logged, counted and tried again with backoff: a loop never dies silently. */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { name, clock, log, metrics, signal } = options;
  const health: LoopHealth = {
    name,
    intervalMs: options.intervalMs,
    lastTurnAt: null,
    turns: 0,
    errorsInRow: 0,
    lastError: null,
  };
  options.register?.(health);
  while (!signal.aborted) {
    let pauseMs = options.intervalMs;
    try {
      const result = await options.turn(signal);
      health.errorsInRow = 0;
      health.lastError = null;
      if (result === 'busy') pauseMs = 0;
    } catch (error) {
      if (signal.aborted) break;
      health.errorsInRow += 1;
      health.lastError = messageOf(error);
      metrics.loopErrors.inc({ loop: name });
      pauseMs = Math.min(maxBackoffMs, 250 * 2 ** Math.min(health.errorsInRow, 10));
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
    if (pauseMs > 0) await clock.wait(pauseMs * (0.9 + Math.random() * 0.2), signal);
    else await clock.wait(0, signal);
  }
}
