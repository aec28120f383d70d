export { actOnJob, type JobAct } from './act.ts';
export { changeJob, deleteJob } from './change.ts';
export { type CreatedJob, createJob, createJobs } from './create.ts';
export {
  countParked,
  type ExecutionState,
  type FoundArticle,
  type FoundSet,
  loadEnd,
  loadExecutionStates,
  loadFound,
  removeFound,
  saveBegun,
  saveFound,
  saveUsage,
  type Usage,
} from './executions.ts';
export {
  type Execution,
  type ExecutionDetail,
  type ExecutionStatus,
  executionStatuses,
  type LogPage,
  type LogSearch,
  listExecutions,
  loadLogEnds,
  requireExecution,
  searchLog,
} from './history.ts';
export { checkImportList, type ImportList, readImportList } from './import-list.ts';
export {
  type IntervalType,
  intervalNow,
  intervalSecondsOf,
  intervalTypes,
} from './interval.ts';
export { findJob, type Job, jobState, requireJob, unknownJob } from './jobs.ts';
export {
  beatJobs,
  cancelJob,
  endJob,
  handBackJobs,
  type LeasedJob,
  leaseJobs,
  type RecoveredJob,
  type RunEnd,
  recoverJobs,
} from './leases.ts';
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
export { effectiveIntervalSeconds, nextRunAt, retryBackoffSeconds } from './next-run.ts';
export { loadDistribution, placeJobs, type Rebalance, type RebalanceMove, rebalance } from './placing.ts';
export { pruneExecutionLogs, pruneExecutions } from './prune.ts';
export { isIndexed, isPage, lineOf, loadLateReports, type Report, takeReports } from './reports.ts';
export { loadRun, type RunFacts, refreshArticles } from './runs.ts';
export { type Distribution, distributionOf } from './slots.ts';
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
export { areSweepsLeft, sweepExecutions } from './sweep.ts';
export { createJobsOfNewSources, type SyncReport, syncEnabledSources } from './sync.ts';
export {
  type FailedJob,
  type JobTroubles,
  leastDistributionScore,
  leastSuccessRate,
  loadJobTroubles,
  manyStaleLocks,
} from './troubles.ts';
