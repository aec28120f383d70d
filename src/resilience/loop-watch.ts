import type { LoopHealth } from './loop.ts';

/**
 * Finds loops that give no sign of life. Time is counted in the watcher's own ticks: after a suspended night, or when
 * the whole process was stopped for a while, no loop has stalled.
 */
export class LoopWatch {
  readonly #tickMs: number;
  readonly #stallMs: number;
  readonly #seen = new WeakMap<LoopHealth, { signs: number; silentMs: number }>();

  constructor(options: { tickMs: number; stallMs: number }) {
    this.#tickMs = options.tickMs;
    this.#stallMs = options.stallMs;
  }

  /** One tick; answers the loops that have been silent for longer than they may. */
  tick(loops: readonly LoopHealth[]): LoopHealth[] {
    return loops.filter((loop) => {
      const seen = this.#seen.get(loop);
      // A loop that was registered and has not begun is not one that turns.
      if (seen === undefined || seen.signs !== loop.signs || loop.signs === 0) {
        this.#seen.set(loop, { signs: loop.signs, silentMs: 0 });
        return false;
      }
      seen.silentMs += this.#tickMs;
      return seen.silentMs >= this.#stallMs + loop.patienceMs;
    });
  }
}
