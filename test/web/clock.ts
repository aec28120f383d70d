/** The web's own time: publishing follows it, politeness (the access log) never does. */
export interface WebClock {
  readonly startMs: number;
  readonly speed: number;
  /** Milliseconds since 1970 in the web's time. */
  now(): number;
  /** Moves the web's time forward; it never goes back, or published articles would vanish. */
  advance(ms: number): void;
}

/** A clock that starts at a moment and runs `speed` times as fast as real time (0: only `advance` moves it). */
export function startClock(options: { startMs: number; speed: number }): WebClock {
  const { startMs, speed } = options;
  const origin = performance.now();
  let skipped = 0;
  return {
    startMs,
    speed,
    now: () => Math.floor(startMs + (performance.now() - origin) * speed + skipped),
    advance: (ms) => {
      if (!(ms >= 0)) throw new RangeError(`the web's clock cannot go back by ${ms} ms`);
      skipped += ms;
    },
  };
}
