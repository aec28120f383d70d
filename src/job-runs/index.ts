/** What runs jobs: the runner that leases them, one file for all kinds, and the housekeeping they share with the clock. */
export { type HousekeepDeps, housekeep, type Pruned } from './housekeep.ts';
export { JobRunner, type JobRunnerOptions } from './runner.ts';
