import type { Config } from '../config/index.ts';
import { type Database, isConnectionLost } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';
import {
  appendLog,
  countParked,
  endJob,
  type LeasedJob,
  loadFound,
  loadRun,
  type RunEnd,
  removeFound,
  saveBegun,
  sweepExecutions,
  takeReports,
} from '../jobs/index.ts';
import type { Log, Metrics } from '../telemetry/index.ts';
import { kinds } from './kinds.ts';
import { type KindOfRun, type Run, RunStopped } from './run.ts';

export type ExecutionOptions = {
  job: LeasedJob;
  database: Database;
  config: Config;
  log: Log;
  metrics: Metrics;
  owner: string;
};

/** Whether a run is looked at again: `lost` means that it is somebody else's by now. */
export type StepResult = 'goes_on' | 'over' | 'lost';

const reportsAtOnce = 500;
const partsAtOnce = 10;
const mostCounted = 1000;
// Counting what waits reads every row of it: with many waiting, the end is not near.
const manyWaiting = 100;
const manyEveryMs = 2000;
// A log line of what waits, when it has changed; not at every look.
const queueLineEveryMs = 10_000;

/** One run of a job in this process: its first step, then looks at how it stands until it is over. */
export class Execution {
  readonly job: LeasedJob;
  /** Resolves when nothing of it is under way in this process. */
  readonly ended: Promise<void>;
  readonly #options: ExecutionOptions;
  readonly #kind: KindOfRun;
  readonly #run: Run;
  readonly #stop = new AbortController();
  #begun:
    | { outcome: 'done'; metadata: Record<string, unknown> }
    | { outcome: 'failed'; error: unknown }
    | null = null;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #queueSaid = { at: Number.NEGATIVE_INFINITY, waiting: -1 };

  constructor(options: ExecutionOptions) {
    this.#options = options;
    this.job = options.job;
    this.#kind = kinds[options.job.kind];
    const { database, job } = options;
    this.#run = {
      ...options,
      signal: this.#stop.signal,
      say: async (category, message, { level = 'info', detail } = {}) => {
        await appendLog(database.pool, job.executionId, [
          { category, level, message, ...(detail === undefined ? {} : { detail: { ...detail } }) },
        ]);
      },
    };
    this.ended = this.#begin().then(
      (metadata) => {
        this.#begun = { outcome: 'done', metadata };
      },
      (error: unknown) => {
        this.#begun = { outcome: 'failed', error };
      },
    );
  }

  /** Stops what is under way; whether the job is handed back or lost is the caller's matter. */
  abort(): void {
    this.#stop.abort();
  }

  /** Something nobody foresaw: the run ends as failed with the next look. */
  giveUp(error: unknown): void {
    this.#begun = { outcome: 'failed', error };
  }

  /** One look. What it needs of the database may fail and is tried again with the next. */
  async step(): Promise<StepResult> {
    if (this.#begun === null) return 'goes_on';
    if (this.#begun.outcome === 'failed') return this.#fail(this.#begun.error);
    const { database } = this.#options;
    const { executionId } = this.job;
    // Others wait for their look: what a busy run has more of is taken with the next.
    for (let part = 0; part < partsAtOnce; part += 1)
      if ((await takeReports(database, executionId)) < reportsAtOnce) break;
    if (performance.now() < this.#nextLookAt) return 'goes_on';
    const facts = await loadRun(database.pool, executionId);
    if (facts === null) return 'lost';
    if (facts.waiting > manyWaiting) this.#nextLookAt = performance.now() + manyEveryMs;
    const limit = this.#limitOf(facts);
    if (limit !== null) return this.#complete({ sweep: 'run_ended', limit });
    if (this.#kind.waits === 'rows') {
      await this.#sayQueue(facts.waiting);
      if (facts.waiting > 0) return 'goes_on';
      // A settle commits what it tells together with the end of its rows: all of it is there now.
      while ((await takeReports(database, executionId)) > 0);
    } else if (this.#kind.waits !== undefined && !(await this.#kind.waits(this.#run))) return 'goes_on';
    return this.#complete({ sweep: 'free', limit: null });
  }

  async #begin(): Promise<Record<string, unknown>> {
    const { database, job } = this.#run;
    const who = job.takenOver ? 'goes on' : 'begins';
    await this.#run.say('lifecycle', `execution ${job.number} ${who} (${job.trigger.replace('_', ' ')})`, {
      detail: { worker: this.#options.owner, attempt: job.attempt, takenOver: job.takenOver },
    });
    if (job.begun && this.#kind.waits !== undefined) return {};
    // What an earlier run left is free before this one meets it.
    await sweepExecutions(database.pool, job.id);
    const metadata = await this.#kind.begin(this.#run);
    await saveBegun(database.pool, job.executionId, metadata);
    return metadata;
  }

  #limitOf(facts: { crawled: number; ranMs: number }): string | null {
    const { maxPages } = this.job;
    const { maxMinutes } = this.#options.config.jobs;
    if (maxPages !== null && facts.crawled >= maxPages && this.#kind.waits === 'rows')
      return `its ${maxPages} pages are used`;
    return facts.ranMs > maxMinutes * 60_000 ? `its ${maxMinutes} minutes are used` : null;
  }

  async #sayQueue(waiting: number): Promise<void> {
    const now = performance.now();
    if (waiting === this.#queueSaid.waiting || now - this.#queueSaid.at < queueLineEveryMs) return;
    this.#queueSaid = { at: now, waiting };
    const words =
      waiting === mostCounted
        ? `${waiting} pages or more wait`
        : waiting === 1
          ? '1 page waits'
          : `${waiting} pages wait`;
    await this.#run.say('queue', words, { detail: { waiting } });
  }

  async #complete(end: { sweep: 'free' | 'run_ended'; limit: string | null }): Promise<StepResult> {
    const { database } = this.#options;
    const { executionId } = this.job;
    const isCrawl = this.#kind.adaptive === true;
    const found = isCrawl ? await loadFound(database.pool, executionId) : null;
    const parked = this.#kind.waits === 'rows' ? await countParked(database.pool, executionId) : 0;
    if (parked > 0) {
      const becomes = end.sweep === 'free' ? 'go on without it' : 'are left for the next run';
      const words = end.limit === null ? 'wait for longer than an hour' : 'still wait';
      await this.#run.say('queue', `${parked} pages ${words} and ${becomes}`, {
        level: 'warn',
        detail: { parked },
      });
    }
    const failure = end.limit === null ? ((await this.#kind.judge?.(this.#run)) ?? null) : null;
    const facts = await loadRun(database.pool, executionId);
    const summary = {
      crawled: facts?.crawled ?? 0,
      indexed: facts?.indexed ?? 0,
      ...(found === null ? {} : { found: found.found, new: found.fresh }),
      ...(end.limit === null ? {} : { limit: end.limit }),
    };
    await this.#run.say('metrics', `${summary.crawled} pages crawled, ${summary.indexed} documents made`, {
      detail: summary,
    });
    return this.#end({
      outcome: failure === null ? 'completed' : 'failed',
      error: failure,
      foundHash: failure === null ? (found?.hash ?? null) : null,
      metadata: {
        found: found?.found ?? 0,
        new: found?.fresh ?? 0,
        ...(end.limit === null ? {} : { limit: end.limit }),
      },
      sweep: parked > 0 ? end.sweep : null,
      actor: this.#options.owner,
    });
  }

  async #fail(error: unknown): Promise<StepResult> {
    // The process stops, or the job is another's: whoever has it next goes on.
    if (error instanceof RunStopped || this.#stop.signal.aborted) return 'lost';
    if (isConnectionLost(error))
      this.#options.log.warn({ error, job: this.job.id }, 'a run lost the database');
    return this.#end({
      outcome: 'failed',
      error: messageOf(error),
      stack: error instanceof Error ? (error.stack ?? null) : null,
      sweep: 'free',
      actor: this.#options.owner,
    });
  }

  async #end(end: RunEnd): Promise<StepResult> {
    const { database, metrics, log } = this.#options;
    const { id, executionId, startedAt } = this.job;
    // Written first: once the job is leased again, the log of this execution should be whole.
    await this.#run.say(
      'lifecycle',
      end.outcome === 'completed' ? 'completed' : `failed: ${end.error ?? 'unknown'}`,
      end.outcome === 'completed' ? {} : { level: 'error' },
    );
    const status = await endJob(database.pool, this.job, end);
    if (status === null) return 'lost';
    metrics.executions.inc({ outcome: end.outcome });
    metrics.executionSeconds.observe(Math.max(0, (Date.now() - startedAt.getTime()) / 1000));
    log.info(
      { job: id, execution: executionId.toString(), outcome: end.outcome, status },
      'a run of a job ended',
    );
    if (end.sweep == null) await removeFound(database.pool, executionId);
    return 'over';
  }
}
