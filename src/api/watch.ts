import type { Clock } from '../telemetry/index.ts';

const lookEveryMs = 500;
const heartbeatMs = 15_000;

/** Tells waiting readers that there is news: one look at the database for all of them. */
export class Watch<News> {
  readonly #look: () => Promise<News>;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  #waiting: { isNews: (news: News) => boolean; wake: () => void }[] = [];
  #isLooking = false;

  constructor(options: { look: () => Promise<News>; clock: Clock; stop: AbortSignal }) {
    this.#look = options.look;
    this.#clock = options.clock;
    this.#stop = options.stop;
  }

  /** Resolves when a look finds news, after the heartbeat's time, or when either side ends. */
  async wait(isNews: (news: News) => boolean, gone: AbortSignal): Promise<void> {
    const timeUp = new AbortController();
    const waiter = { isNews, wake: () => timeUp.abort() };
    this.#waiting.push(waiter);
    gone.addEventListener('abort', waiter.wake);
    if (gone.aborted) waiter.wake();
    if (!this.#isLooking) void this.#watch();
    await this.#clock.wait(heartbeatMs, timeUp.signal);
    gone.removeEventListener('abort', waiter.wake);
    this.#waiting = this.#waiting.filter((one) => one !== waiter);
  }

  async #watch(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#waiting.length > 0 && !this.#stop.aborted) {
        const news = await this.#look();
        for (const { isNews, wake } of this.#waiting) if (isNews(news)) wake();
        await this.#clock.wait(lookEveryMs, this.#stop);
      }
    } catch {
      // The database is away: readers look for themselves after a heartbeat, and meet the error there.
    } finally {
      this.#isLooking = false;
    }
  }
}
