import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { LeasedJob, LogCategory, LogLevel } from '../jobs/index.ts';
import type { Log } from '../telemetry/index.ts';

/** What the work of a job may use. */
export type Run = {
  job: LeasedJob;
  database: Database;
  config: Config;
  log: Log;
  /** Aborted when the job is cancelled, lost, or the process stops. */
  signal: AbortSignal;
  /** Adds a line to the execution's log. */
  say(category: LogCategory, message: string, more?: { level?: LogLevel; detail?: object }): Promise<void>;
};

/** How a kind of job is run. */
export type KindOfRun = {
  /**
   * The work, or its first step where fetchers do the rest. Called again when another scheduler takes the execution over,
   * unless the kind waits and its first step was taken.
   */
  begin(run: Run): Promise<Record<string, unknown>>;
  /** What is waited for afterwards: the rows it submitted, or whatever this says; left out: nothing. */
  waits?: 'rows' | ((run: Run) => Promise<boolean>);
  /** Why a run that is through has failed all the same; null: it has not. */
  judge?: (run: Run) => Promise<string | null>;
  /** Articles it meets decide how soon it runs again. */
  adaptive?: boolean;
};

/** Ends the work of a run whose signal was aborted. */
export class RunStopped extends Error {
  constructor() {
    super('the run was stopped');
  }
}

/** Throws when the run is to stop. */
export function checkSignal(run: Run): void {
  if (run.signal.aborted) throw new RunStopped();
}
