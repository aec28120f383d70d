import { setMaxListeners } from 'node:events';
import type { Config } from '../config/index.ts';
import { type Database, isConnectionLost } from '../db/index.ts';
import { WakeListener } from '../frontier/index.ts';
import {
  appendLog,
  areSweepsLeft,
  beatJobs,
  createJobsOfNewSources,
  handBackJobs,
  type LeasedJob,
  leaseJobs,
  loadEnd,
  loadLateReports,
  recoverJobs,
  sweepExecutions,
  takeReports,
} from '../jobs/index.ts';
import type { LoopVoice, TurnResult } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { Execution, type StepResult } from './execution.ts';

export type JobRunnerOptions = {
  database: Database;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Who this process is to the others. */
  owner: string;
};

const pollEveryMs = 10_000;
// Fetchers leave a domain alone for longer than this when they let rows of a run go.
const sweepEveryMs = 500;
const stepEveryMs = 500;

/** Runs due jobs, a bounded number at once. Several may run: a job is one's at a time, by its token. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #executions = new Map<string, Execution>();
  readonly #listener: WakeListener;
  readonly #stop = new AbortController();
  #wake: (() => void) | null = null;
  #polledAt = Number.NEGATIVE_INFINITY;
  #isWoken = false;
  #pollEveryMs = pollEveryMs;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
    const woken = (): void => {
      this.#isWoken = true;
      this.#wake?.();
    };
    this.#listener = new WakeListener(options.database.directConnectionString, woken, 'outrider_jobs');
  }

  /** Listens for what operators do. */
  start(): void {
    this.#listener.start();
  }

  /** One look at everything that runs, and every ten seconds or when told so at what is due. */
  async turn(voice?: LoopVoice): Promise<TurnResult> {
    const now = this.#options.clock.monotonic();
    const isPoll = this.#isWoken || now - this.#polledAt >= this.#pollEveryMs;
    this.#isWoken = false;
    if (isPoll) {
      // What was cancelled is noticed at once.
      await this.beat();
      await this.#poll(now);
    }
    for (const execution of [...this.#executions.values()]) {
      // Stopped in the middle, it is handed back.
      if (this.#stop.signal.aborted) return 'busy';
      voice?.progress();
      if ((await this.#step(execution)) === 'goes_on') continue;
      this.#executions.delete(execution.job.token);
      // What ended has rows to let go, and made room.
      this.#isWoken = true;
    }
    if (!this.#isWoken && !this.#stop.signal.aborted) {
      voice?.rest(pollEveryMs);
      await this.#sleep();
    }
    return 'busy';
  }

  /** Takes jobs from schedulers that are lost. */
  async recover(): Promise<TurnResult> {
    const { database, config, owner, log, metrics } = this.#options;
    const recovered = await recoverJobs(database.pool, {
      actor: owner,
      lostMs: config.jobs.lostSeconds * 1000,
    });
    for (const { jobId, executionId, worker } of recovered) {
      metrics.staleLocks.inc();
      metrics.executions.inc({ outcome: 'failed' });
      log.warn(
        { job: jobId, execution: executionId.toString(), worker },
        'a job lost its scheduler; it is due again',
      );
      await appendLog(database.pool, executionId, [
        {
          category: 'lifecycle',
          level: 'error',
          message: `no heartbeat from ${worker}: the job is due again`,
        },
      ]);
    }
    if (recovered.length > 0) this.#hurry();
    return 'idle';
  }

  /** Takes nothing more and lets go of what is under way; the turn that runs ends soon. */
  drain(): void {
    this.#stop.abort();
    this.#wake?.();
    for (const execution of this.#executions.values()) execution.abort();
  }

  /** After the last turn: hands running jobs back, so that the next scheduler goes on with the same executions. */
  async stop(): Promise<void> {
    this.drain();
    await this.#listener.stop();
    const executions = [...this.#executions.values()];
    for (const execution of executions) await execution.ended;
    const tokens = executions.map(({ job }) => job.token);
    if (tokens.length > 0) await handBackJobs(this.#options.database.pool, tokens);
    this.#executions.clear();
  }

  /** One run that cannot be looked at does not keep the others waiting; while the database is away, all wait. */
  async #step(execution: Execution): Promise<StepResult> {
    try {
      return await execution.step();
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      execution.giveUp(error);
      return 'goes_on';
    }
  }

  async #poll(now: number): Promise<void> {
    const { database, config, owner } = this.#options;
    // First, so that a run which comes after one that was cut short meets rows that are free.
    await sweepExecutions(database.pool);
    this.#pollEveryMs = (await areSweepsLeft(database.pool)) ? sweepEveryMs : pollEveryMs;
    for (const id of await loadLateReports(database.pool)) await takeReports(database, id);
    await createJobsOfNewSources(database.pool, {
      actor: owner,
      intervalSeconds: config.jobs.spiderIntervalMinutes * 60,
    });
    const limit = config.jobs.atOnce - this.#executions.size;
    const leased = await leaseJobs(database.pool, { owner, limit: this.#stop.signal.aborted ? 0 : limit });
    for (const job of leased) this.#begin(job);
    this.#polledAt = now;
  }

  #begin(job: LeasedJob): void {
    this.#executions.set(job.token, new Execution({ ...this.#options, job }));
  }

  /** Says that what runs here is being run. A loop of its own: a turn may have much to sweep. */
  async beat(): Promise<TurnResult> {
    const tokens = [...this.#executions.keys()];
    if (tokens.length === 0 || this.#stop.signal.aborted) return 'idle';
    const held = await beatJobs(this.#options.database.pool, tokens);
    for (const token of tokens) {
      if (held.has(token)) continue;
      // Cancelled, or somebody else's: what it was doing ends, and nothing of it is written.
      const execution = this.#executions.get(token);
      // It ended while this was asked.
      if (execution === undefined) continue;
      execution.abort();
      this.#executions.delete(token);
      const { id, executionId } = execution.job;
      const ended = await loadEnd(this.#options.database.pool, executionId);
      if (ended === 'cancelled') this.#options.metrics.executions.inc({ outcome: ended });
      this.#options.log.info(
        { job: id, execution: executionId.toString(), status: ended },
        'a run was cancelled or is another scheduler’s',
      );
    }
    return 'idle';
  }

  #hurry(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Sleeps until something is to be looked at, or somebody wakes it. */
  async #sleep(): Promise<void> {
    const { clock } = this.#options;
    const untilPoll = Math.max(0, this.#pollEveryMs - (clock.monotonic() - this.#polledAt));
    const ms = this.#executions.size > 0 ? Math.min(stepEveryMs, untilPoll) : untilPoll;
    const controller = new AbortController();
    const wake = (): void => controller.abort();
    this.#wake = wake;
    this.#stop.signal.addEventListener('abort', wake, { once: true });
    await clock.wait(ms, controller.signal).finally(() => {
      this.#stop.signal.removeEventListener('abort', wake);
      this.#wake = null;
    });
  }
}
