import type { Database } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';
import {
  type DeliveryEnd,
  leaseSink,
  releaseSink,
  renewSink,
  type SinkLease,
  saveSinkFailure,
} from '../outbox/index.ts';
import type { TurnResult } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { withDeadline } from './deadline.ts';
import { type Queue, type QueuedBatch, type QueuedItem, queueOf } from './queues.ts';
import {
  type BatchEnd,
  type ItemEnd,
  nobodyTook,
  type Outage,
  type ResponseSink,
  type Sink,
} from './sink.ts';

export type DelivererOptions = {
  sink: Sink | ResponseSink;
  database: Database;
  owner: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

const leaseMs = 60_000;
const renewAfterMs = 15_000;
// Less than the lease by more than saving takes: whoever answers later has been replaced.
const deliveryTimeoutMs = 40_000;
const mostAttempts = 10;
const firstPauseMs = 1000;
const longestPauseMs = 300_000;
const firstItemPauseMs = 10_000;
const longestItemPauseMs = 3_600_000;
// Longer than it takes to go through all that may wait behind.
const elsewherePauseMs = 300_000;

const backoffMs = (tries: number, first: number, most: number): number =>
  Math.min(most, first * 2 ** Math.min(tries, 30)) * (0.75 + Math.random() * 0.5);

/** Carries the outbox of one sink to it. Several processes may run one each: the one that holds the lease works. */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #queue: Queue;
  #held: { lease: SinkLease; renewedAt: number } | null = null;
  #failures = 0;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#queue = queueOf(options.sink);
  }

  /** Delivers the next batch. */
  async turn(signal: AbortSignal): Promise<TurnResult> {
    const lease = await this.#lease(signal);
    if (lease === null) return 'idle';
    const { database, sink } = this.#options;
    const batch = await this.#queue.claim(database.pool);
    if (batch !== null) return this.#deliver(lease, batch, signal);
    await sink.idle?.();
    return 'idle';
  }

  /** Lets go of the sink. */
  async stop(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    await this.#options.sink.close();
    if (held !== null) await releaseSink(this.#options.database.pool, held.lease);
  }

  async #deliver(lease: SinkLease, batch: QueuedBatch, signal: AbortSignal): Promise<TurnResult> {
    const { sink, log } = this.#options;
    let end: BatchEnd;
    try {
      end = await withDeadline(signal, deliveryTimeoutMs, (limited) => batch.deliver(limited));
    } catch (error) {
      // What a sink throws is no answer.
      end = nobodyTook(batch.items, { reason: messageOf(error) });
    }
    const ends = batch.items.map((item, index) => this.#endOf(item, end.ends[index]));
    const isAnyOver = ends.some((one) => one !== null);
    const isToSave = isAnyOver || end.position !== undefined;
    if (isToSave && !(await batch.save(lease, ends, end.position ?? null))) {
      log.warn({ sink: sink.name }, 'deliveries took so long that another deliverer has taken over');
      await this.#lose();
      return 'idle';
    }
    if (isAnyOver) {
      this.#count(batch.items, ends);
      // It answers, whatever else is the matter with it: the next batch need not wait for minutes.
      this.#failures = end.outage === undefined ? this.#failures : 0;
    }
    if (end.outage !== undefined) {
      await this.#fail(lease, end.outage, signal);
      return 'idle';
    }
    if (this.#failures > 0) log.info({ sink: sink.name }, `the sink ${sink.name} takes deliveries again`);
    this.#failures = 0;
    return 'busy';
  }

  #count(items: readonly QueuedItem[], ends: readonly (DeliveryEnd | null)[]): void {
    const { sink, log, metrics, clock } = this.#options;
    for (const [index, { enqueuedAt }] of items.entries()) {
      const delayMs = Math.max(0, clock.now() - enqueuedAt.getTime());
      metrics.sinkDelay.observe({ sink: sink.name }, delayMs / 1000);
      const end = ends[index];
      if (end) metrics.sinkDeliveries.inc({ sink: sink.name, outcome: end.end });
    }
    const rejected = ends.flatMap((one) => (one?.end === 'rejected' ? [one] : []));
    if (rejected.length > 0)
      log.warn(
        { sink: sink.name, rejected: rejected.length, reason: rejected[0]!.reason },
        `the sink ${sink.name} refused documents; outrider sinks dead ${sink.name} lists them`,
      );
  }

  #endOf({ attempts }: QueuedItem, end: ItemEnd | undefined): DeliveryEnd | null {
    if (end === undefined || end.end === 'waiting') return null;
    if (end.end === 'later') return { ...end, afterMs: backoffMs(0, elsewherePauseMs, elsewherePauseMs) };
    if (end.end !== 'retry') return end;
    if (attempts + 1 >= mostAttempts)
      return { end: 'rejected', reason: `${end.reason} (given up after ${mostAttempts} attempts)` };
    return { ...end, afterMs: backoffMs(attempts, firstItemPauseMs, longestItemPauseMs) };
  }

  async #lease(signal: AbortSignal): Promise<SinkLease | null> {
    const { sink, database, owner, clock } = this.#options;
    const now = clock.monotonic();
    if (this.#held !== null) {
      if (now - this.#held.renewedAt < renewAfterMs) return this.#held.lease;
      if (await renewSink(database.pool, this.#held.lease, leaseMs)) {
        this.#held.renewedAt = now;
        return this.#held.lease;
      }
      // Paused, and maybe to go on in a moment: whoever is next need not wait until the lease would have ended.
      await releaseSink(database.pool, this.#held.lease);
      await this.#lose();
    }
    const lease = await leaseSink(database.pool, sink.name, owner, leaseMs);
    if (lease === null) return null;
    let outage: Outage | null;
    try {
      outage = await sink.open(lease.position, signal);
    } catch (error) {
      outage = { reason: messageOf(error) };
    }
    if (outage !== null) {
      await this.#fail(lease, outage, signal);
      return null;
    }
    this.#held = { lease, renewedAt: now };
    return lease;
  }

  /** The lease is another's by now; what was written last may be cut off by it. */
  async #lose(): Promise<void> {
    this.#held = null;
    await this.#options.sink.close();
  }

  async #fail(lease: SinkLease, { reason, retryAfterMs }: Outage, signal: AbortSignal): Promise<void> {
    const { sink, database, log, metrics } = this.#options;
    this.#held = null;
    await sink.close();
    // Nobody's fault: the process is being stopped.
    if (signal.aborted) return releaseSink(database.pool, lease);
    const retryInMs = Math.max(backoffMs(this.#failures, firstPauseMs, longestPauseMs), retryAfterMs ?? 0);
    this.#failures += 1;
    metrics.sinkFailures.inc({ sink: sink.name });
    const level = this.#failures === 1 ? 'warn' : 'debug';
    log[level](
      { sink: sink.name, reason, retryInMs: Math.round(retryInMs) },
      `the sink ${sink.name} takes nothing; what is meant for it waits`,
    );
    await saveSinkFailure(database.pool, lease, {
      error: reason.replaceAll('\u0000', '').slice(0, 2000),
      retryInMs,
    });
  }
}
