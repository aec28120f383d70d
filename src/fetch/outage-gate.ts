import type { LoopVoice } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { HttpClient } from './client/index.ts';
import { type OutageWatch, type Reach, reachOf } from './outage.ts';

const recheckMs = 30_000;
const checkTimeoutMs = 10_000;
const mostCheckBytes = 100_000;

export type OutageGateOptions = {
  watch: OutageWatch;
  client: HttpClient;
  /** A page that always answers while the network works. */
  checkUrl: string | null;
  /** Ends waiting. */
  signal: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

/** Holds fetching back while our own network seems to be down, and lets it go on when somebody answers. */
export class OutageGate {
  readonly #options: OutageGateOptions;
  #isAway = false;

  constructor(options: OutageGateOptions) {
    this.#options = options;
  }

  /** Fetching pauses. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** How many domains may be leased; waits while there is an outage. `running` are those that are held already. */
  async allow(free: number, running: number, voice: LoopVoice): Promise<number> {
    const { watch, clock, signal } = this.#options;
    if (!watch.isSuspected) {
      this.#end();
      return free;
    }
    // Requests under way may still be answered.
    if (running > 0) {
      await clock.wait(200, signal);
      return 0;
    }
    if (!this.#isAway) {
      if ((await this.#ask()) === 'reached') return free;
      this.#begin();
    }
    voice.rest(recheckMs);
    await clock.wait(recheckMs, signal);
    const reach = await this.#ask();
    // Without a page that always answers one domain is tried: whoever answers ends it.
    if (watch.isSuspected) return reach === 'failed' ? 0 : Math.min(free, 1);
    this.#end();
    return free;
  }

  #begin(): void {
    const { log, metrics } = this.#options;
    this.#isAway = true;
    metrics.outage.set(1);
    log.warn({}, 'many different hosts cannot be reached: our own network may be down; fetching pauses');
  }

  #end(): void {
    const { log, metrics } = this.#options;
    if (!this.#isAway) return;
    this.#isAway = false;
    metrics.outage.set(0);
    log.info({}, 'somebody answers again: fetching goes on, and what failed meanwhile counts against nobody');
  }

  /**
   * Asks the page that always answers, by the same way out as every request; whatever it answers proves that the network
   * works. null: none is set, or it may not be asked, as a private address that nobody has allowed.
   */
  async #ask(): Promise<Reach | null> {
    const { client, checkUrl: url, signal, watch, log } = this.#options;
    if (url === null || signal.aborted) return null;
    const reach = reachOf(
      await client.request({ url, signal, timeoutMs: checkTimeoutMs, maxBodyBytes: mostCheckBytes }),
    );
    if (reach === null && !signal.aborted)
      log.warn({ url }, 'the page that tells whether the network works may not be asked');
    if (reach === 'reached') watch.trust();
    return reach;
  }
}
