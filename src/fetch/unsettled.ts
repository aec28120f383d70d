import type { Queryable } from '../db/index.ts';
import {
  type Learnt,
  type Lease,
  type LoggedRequest,
  type SettleDocument,
  type SettleItem,
  settle,
} from '../frontier/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { RecordingRoom } from './client/index.ts';
import type { Pacer } from './pacer.ts';
import { Recordings } from './recordings.ts';

// No page waits longer for its settle, so that a crash repeats little and screens stay live.
const settleEveryMs = 2000;
const settleEveryItems = 25;
const longAgoMs = 3_600_000;

const classOf = (status: number): string => (status === 429 ? '429' : `${Math.floor(status / 100)}xx`);

/** What a settle needs of the run. */
export type UnsettledDeps = {
  db: Queryable;
  owner: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recordingRoom: RecordingRoom;
  options: { defaultDelayMs: number };
};

/** What a run has done and not yet settled: ends of rows, documents, requests and recorded responses. */
export class Unsettled {
  readonly recordings: Recordings;
  readonly #deps: UnsettledDeps;
  readonly #lease: Lease;
  readonly #pacer: Pacer;
  #items: SettleItem[] = [];
  #documents: SettleDocument[] = [];
  #requests: LoggedRequest[] = [];
  // So many of them are in the metrics.
  #counted = 0;
  // When the first of the items came.
  #since = 0;

  constructor(deps: UnsettledDeps, lease: Lease, pacer: Pacer) {
    this.#deps = deps;
    this.#lease = lease;
    this.#pacer = pacer;
    this.recordings = new Recordings(deps.recordingRoom, deps.clock);
  }

  /** Requests whose log is not written yet, the latest last. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** Keeps how rows ended. */
  keep(items: readonly SettleItem[], document: SettleDocument | null = null): void {
    if (this.#items.length === 0) this.#since = this.#deps.clock.monotonic();
    this.#items.push(...items);
    if (document !== null) this.#documents.push(document);
  }

  /** Keeps a request for the crawl log. */
  note(request: LoggedRequest): void {
    const { metrics } = this.#deps;
    this.#requests.push(request);
    if (request.status !== null) metrics.responses.inc({ status: classOf(request.status) });
    metrics.responseBytes.inc(request.bytes);
    if (request.headersMs !== null) metrics.requestSeconds.observe(request.headersMs / 1000);
  }

  // Late: what came of a page, or that our own network is away, is known when the request is long over, and the metrics
  // name it as the log does.
  #count(): void {
    for (const { outcome } of this.#requests.slice(this.#counted))
      this.#deps.metrics.requests.inc({ outcome });
    this.#counted = this.#requests.length;
  }

  /** Asked between two rows: when the next one may start, will the oldest end have waited too long? */
  isDue(): boolean {
    if (this.recordings.isHeavy) return true;
    if (this.#items.length === 0) return false;
    const nextStartAt = Math.max(this.#deps.clock.monotonic(), this.#pacer.nextStartAt());
    return this.#items.length >= settleEveryItems || nextStartAt - this.#since >= settleEveryMs;
  }

  /** Settles all of it; stale where the lease is another's by now. */
  async settle(options: {
    final: boolean;
    learnt: Learnt | undefined;
    budget: number | null;
    retried: <T>(call: () => Promise<T>) => Promise<T>;
  }): Promise<{ outcome: 'settled' | 'stale'; items: readonly SettleItem[] }> {
    const { db, owner, clock, metrics, log, options: run } = this.#deps;
    const { final, learnt, budget, retried } = options;
    this.#count();
    const responses = await this.recordings.answered();
    const now = clock.monotonic();
    const items = this.#items;
    let repeated = false;
    const result = await retried(() => {
      const sent = settle(db, this.#lease, {
        owner,
        final,
        items,
        documents: this.#documents,
        requests: this.#requests,
        responses,
        monotonicMs: clock.monotonic(),
        // Nothing was requested: the gap before this lease has passed already.
        lastAnswerAt: this.#pacer.lastAnswerAt ?? now - longAgoMs,
        defaultDelayMs: run.defaultDelayMs,
        ...(learnt === undefined ? {} : { learnt }),
        budget,
        repeated,
      });
      repeated = true;
      return sent;
    });
    this.#items = [];
    this.#documents = [];
    this.#requests = [];
    this.#counted = 0;
    this.recordings.release();
    if (result.outcome === 'stale') {
      metrics.staleSettles.inc();
      log.warn(
        { epoch: this.#lease.epoch.toString() },
        'lease was lost before its work was settled; nothing was changed',
      );
      return { outcome: 'stale', items };
    }
    metrics.documents.inc({ change: 'new' }, result.documents);
    metrics.documents.inc({ change: 'changed' }, result.versions);
    metrics.documents.inc({ change: 'duplicate' }, result.duplicates);
    return { outcome: 'settled', items };
  }
}
