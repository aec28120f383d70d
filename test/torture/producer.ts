import { seeded } from '../e2e/seeded.ts';
import type { Stage } from './stage.ts';

const everyMs = 500;

/**
 * Gives the system something to do while it suffers: publishers publish, by the web's clock and beyond its schedule, and
 * people submit addresses by the API.
 */
export class Producer {
  /** Addresses that the API has said it took. */
  readonly accepted = new Set<string>();
  refusals = 0;
  readonly #stage: Stage;
  readonly #between: (least: number, most: number) => number;
  #stop = false;
  #done: Promise<void> = Promise.resolve();

  constructor(stage: Stage, seed: number) {
    this.#stage = stage;
    this.#between = seeded(seed ^ 0x5eed);
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop = true;
    await this.#done;
  }

  async #run(): Promise<void> {
    const { web } = this.#stage;
    let lastMs = performance.now();
    while (!this.#stop) {
      const nowMs = performance.now();
      web.clock.advance(nowMs - lastMs);
      lastMs = nowMs;
      const { domain } = web.publishers[this.#between(0, web.publishers.length - 1)]!;
      const fresh = web.publish(domain, this.#between(2, 12));
      // Some are found by their feed alone, most are handed in as well.
      if (this.#between(1, 10) <= 7) await this.#submit(fresh);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  /** An answer may be lost with the API: then nobody was promised anything, and it is tried no further. */
  async #submit(urls: readonly string[]): Promise<void> {
    const { url, token } = this.#stage.api;
    try {
      const response = await fetch(`${url}/api/v1/frontier/submit/bulk`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ urls }),
        signal: AbortSignal.timeout(10_000),
      });
      if (!response.ok) throw new Error(`the API answered ${response.status}`);
      const { items } = (await response.json()) as { items: { url: string; answer: string }[] };
      for (const item of items) if (!item.answer.startsWith('rejected')) this.accepted.add(item.url);
    } catch {
      this.refusals += 1;
    }
  }
}
