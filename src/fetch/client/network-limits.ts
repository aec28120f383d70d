/** One thing a request must have room in before it starts; `max` 0 means no cap, `gapMs` 0 no pause. */
export type Gate = { key: string; max: number; gapMs: number };

/** Lets go of the gates; calling it twice does nothing. */
export type Release = () => void;

/** Counting gates that requests pass together. */
export type NetworkLimiter = {
  /** The release once every gate has room, or null when the signal fires first. */
  acquire(gates: readonly Gate[], signal?: AbortSignal): Promise<Release | null> | Release;
  /** How many requests hold gates and how many wait. */
  stats(): { active: number; waiting: number };
  /** Sends everybody who waits away with null. */
  close(): void;
};

type Blocked = { key: string; waitMs: number };
type Waiter = { gates: readonly Gate[]; queue: Waiter[] | null; start: (release: Release | null) => void };
type GateState = {
  active: number;
  lastStartMs: number;
  waiters: Waiter[];
  timer: ReturnType<typeof setTimeout> | null;
};

const SWEEP_AT = 4096;
const FORGET_AFTER_MS = 60_000;

class Limiter implements NetworkLimiter {
  private readonly states = new Map<string, GateState>();
  private readonly now: () => number;
  private active = 0;
  private waiting = 0;
  private sweepAt = SWEEP_AT;

  constructor(now: () => number) {
    this.now = now;
  }

  acquire(gates: readonly Gate[], signal?: AbortSignal): Promise<Release | null> | Release {
    if (signal?.aborted === true) return Promise.resolve(null);
    const blocked = this.findBlocked(gates) ?? this.findQueue(gates);
    return blocked === null ? this.take(gates) : this.wait(gates, blocked, signal);
  }

  stats(): { active: number; waiting: number } {
    return { active: this.active, waiting: this.waiting };
  }

  close(): void {
    for (const state of this.states.values()) {
      if (state.timer !== null) clearTimeout(state.timer);
      state.timer = null;
      for (const waiter of state.waiters.splice(0)) waiter.start(null);
    }
  }

  private stateOf(key: string): GateState {
    let state = this.states.get(key);
    if (state === undefined) {
      if (this.states.size >= this.sweepAt) this.sweep();
      state = { active: 0, lastStartMs: Number.NEGATIVE_INFINITY, waiters: [], timer: null };
      this.states.set(key, state);
    }
    return state;
  }

  // Keys come from the web (a platform has millions of sub-domains): idle ones go, at an amortised constant cost.
  private sweep(): void {
    const before = this.now() - FORGET_AFTER_MS;
    for (const [key, state] of this.states)
      if (state.active === 0 && state.waiters.length === 0 && state.lastStartMs < before)
        this.states.delete(key);
    this.sweepAt = Math.max(SWEEP_AT, this.states.size * 2);
  }

  /** The first gate without room, and how long its gap still runs (0: only a release helps). */
  private findBlocked(gates: readonly Gate[]): Blocked | null {
    const at = this.now();
    for (const { key, max, gapMs } of gates) {
      const state = this.stateOf(key);
      if (max > 0 && state.active >= max) return { key, waitMs: 0 };
      const waitMs = gapMs > 0 ? state.lastStartMs + gapMs - at : 0;
      if (waitMs > 0) return { key, waitMs };
    }
    return null;
  }

  /** A gate with room whose timer has not woken its queue yet: overtaking could starve those who came first. */
  private findQueue(gates: readonly Gate[]): Blocked | null {
    for (const { key } of gates) if (this.stateOf(key).waiters.length > 0) return { key, waitMs: 0 };
    return null;
  }

  private take(gates: readonly Gate[]): Release {
    const at = this.now();
    this.active += 1;
    for (const { key } of gates) {
      const state = this.stateOf(key);
      state.active += 1;
      state.lastStartMs = at;
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.active -= 1;
      for (const { key } of gates) this.stateOf(key).active -= 1;
      for (const { key } of gates) this.pump(key);
    };
  }

  private standInLine(waiter: Waiter, blocked: Blocked): void {
    const state = this.stateOf(blocked.key);
    state.waiters.push(waiter);
    waiter.queue = state.waiters;
    this.arm(state, blocked);
  }

  /** A gap is timed once per gate, not once per waiter. */
  private arm(state: GateState, { key, waitMs }: Blocked): void {
    if (waitMs <= 0 || state.timer !== null) return;
    state.timer = setTimeout(() => {
      state.timer = null;
      this.pump(key);
    }, Math.ceil(waitMs));
  }

  /**
   * Starts whoever may start, in order. A waiter stands in the queue of the first gate that refuses it and moves on
   * when another refuses it later: nobody holds one gate while waiting for the next, so there is no deadlock.
   */
  private pump(key: string): void {
    const state = this.stateOf(key);
    for (;;) {
      const waiter = state.waiters[0];
      if (waiter === undefined) return;
      const blocked = this.findBlocked(waiter.gates);
      if (blocked?.key === key) {
        this.arm(state, blocked);
        return;
      }
      state.waiters.shift();
      waiter.queue = null;
      if (blocked === null) waiter.start(this.take(waiter.gates));
      else this.standInLine(waiter, blocked);
    }
  }

  private wait(gates: readonly Gate[], blocked: Blocked, signal?: AbortSignal): Promise<Release | null> {
    return new Promise((resolve) => {
      const finish = (release: Release | null): void => {
        this.waiting -= 1;
        signal?.removeEventListener('abort', leave);
        resolve(release);
      };
      const waiter: Waiter = { gates, queue: null, start: finish };
      const leave = (): void => {
        // A waiter that stayed behind would make newcomers queue after nobody.
        const place = waiter.queue?.indexOf(waiter) ?? -1;
        if (place >= 0) waiter.queue?.splice(place, 1);
        finish(null);
      };
      this.waiting += 1;
      signal?.addEventListener('abort', leave, { once: true });
      this.standInLine(waiter, blocked);
    });
  }
}

/** Builds a limiter on a monotonic clock. */
export function createNetworkLimiter(now: () => number = () => performance.now()): NetworkLimiter {
  return new Limiter(now);
}
