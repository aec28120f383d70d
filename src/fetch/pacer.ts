import type { Clock } from '../telemetry/index.ts';

/** Keeps the gap between the requests of one leased domain: no start before the last headers (or failure) + delay. */
export class Pacer {
  readonly #clock: Clock;
  #delayMs: number;
  #lastAnswerAt: number | null = null;

  constructor(clock: Clock, delayMs: number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  get delayMs(): number {
    return this.#delayMs;
  }

  /** Monotonic time of the last answer; null before the first request. */
  get lastAnswerAt(): number | null {
    return this.#lastAnswerAt;
  }

  /** A longer delay learnt on the way (robots.txt, a 429) holds from the next request on. */
  setDelay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Notes an answer: its headers, or its failure. */
  answered(at: number): void {
    this.#lastAnswerAt = Math.max(at, this.#lastAnswerAt ?? at);
  }

  /** When the next request may start. */
  nextStartAt(): number {
    return this.#lastAnswerAt === null ? this.#clock.monotonic() : this.#lastAnswerAt + this.#delayMs;
  }

  /** Waits for the turn; timers may fire a moment early, so it checks again. */
  async turn(signal: AbortSignal): Promise<number> {
    const asked = this.#clock.monotonic();
    for (;;) {
      const left = this.nextStartAt() - this.#clock.monotonic();
      if (left <= 0 || signal.aborted) return this.#clock.monotonic() - asked;
      await this.#clock.wait(Math.ceil(left), signal);
    }
  }
}
