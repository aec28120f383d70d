export { actOnJob, type JobAct } from './act.ts';
export { changeJob, decideStanding, deleteJob, type Standing } from './change.ts';
export { type CreatedJob, createJob, createJobs } from './create.ts';
export {
  type Execution,
  type ExecutionDetail,
  type ExecutionStatus,
  executionStatuses,
  findExecution,
  type LogPage,
  type LogSearch,
  listExecutions,
  loadLogEnds,
  requireExecution,
  searchLog,
} from './history.ts';
export {
  type IntervalType,
  intervalNow,
  intervalSecondsOf,
  intervalTypes,
} from './interval.ts';
export { findJob, type Job, jobColumns, jobState, requireJob, unknownJob } from './jobs.ts';
export {
  countJobs,
  countJobsByStatus,
  type ExecutionMark,
  type JobEvent,
  type JobFilter,
  type JobLine,
  type JobPlace,
  type JobSort,
  jobSorts,
  listJobs,
  loadJobEvents,
} from './list.ts';
export {
  appendLog,
  type LogCategory,
  type LogLevel,
  type LogLine,
  logCategories,
  logLevels,
  type NewLogLine,
  readLog,
} from './log.ts';
export { type JobWishes, jobWarnings, type NewJob } from './new-job.ts';
export { loadDistribution, placeJobs, type Rebalance, type RebalanceMove, rebalance } from './placing.ts';
export { type Distribution, distributionOf, slotSeconds } from './slots.ts';
export {
  actionMove,
  isLegalMove,
  type JobAction,
  type JobKind,
  type JobStatus,
  jobActions,
  jobKinds,
  jobStatuses,
  kindsOfSources,
  legalActions,
} from './states.ts';
export { type JobProgress, type JobStats, loadJobProgress, loadJobStats } from './stats.ts';
export { type SyncReport, syncEnabledSources } from './sync-sources.ts';
export {
  type FailedJob,
  type JobTroubles,
  leastDistributionScore,
  leastSuccessRate,
  loadJobTroubles,
  manyStaleLocks,
} from './troubles.ts';
