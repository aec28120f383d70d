import { setMaxListeners } from 'node:events';
import {
  createSubscriptions,
  endUnwantedSubscriptions,
  saveHubAnswer,
  takeDueSubscriptions,
} from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { HttpClient } from '../fetch/index.ts';
import type { Log, Metrics } from '../telemetry/index.ts';
import { askHub, createHubClient } from './hub-client.ts';

export type SubscriberOptions = {
  database: Database;
  config: Config;
  userAgent: string;
  /** Contents of the hosts file. */
  hosts: string | null;
  log: Log;
  metrics: Metrics;
};

const madeAtOnce = 200;
const askedAtOnce = 20;

/** Keeps subscriptions at hubs as channels want them: asks, asks again, renews, unsubscribes. Several may run. */
export class Subscriber {
  readonly #options: SubscriberOptions;
  readonly #callback: string;
  readonly #client: HttpClient;
  readonly #stop = new AbortController();

  constructor(options: SubscriberOptions & { callback: string }) {
    this.#options = options;
    this.#callback = options.callback;
    this.#client = createHubClient(options.config, options);
    // Every request listens to it.
    setMaxListeners(2 * askedAtOnce, this.#stop.signal);
  }

  /** One round; answers whether there may be more to do. */
  async turn(): Promise<boolean> {
    const { database, config, log, metrics } = this.#options;
    const { pool } = database;
    const ended = await endUnwantedSubscriptions(pool, this.#callback);
    const made = await createSubscriptions(pool, this.#callback, madeAtOnce);
    const due = await takeDueSubscriptions(pool, askedAtOnce);
    await Promise.all(
      due.map(async (one) => {
        const answer = await askHub(this.#client, one, {
          leaseSeconds: config.websub.leaseDays * 86_400,
          signal: this.#stop.signal,
        });
        // Stopped half way: the claim runs out and it is asked again.
        if (this.#stop.signal.aborted && answer.outcome === 'failed') return;
        metrics.websubRequests.inc({ outcome: answer.outcome });
        if (answer.outcome !== 'accepted')
          log.warn(
            { hub: one.hub, topic: one.topic, reason: answer.reason, tries: one.tries },
            one.state === 'ending'
              ? 'a hub could not be told goodbye'
              : 'a hub did not take our subscription',
          );
        await saveHubAnswer(pool, one, answer);
      }),
    );
    return ended > 0 || made === madeAtOnce || due.length === askedAtOnce;
  }

  /** Gives up what is under way; it is asked again after a restart. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#client.close();
  }
}
