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
export { checkImportList, type ImportList, readImportList } from './import-list.ts';
export { findJob, type Job, jobColumns } from './jobs.ts';
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
  wakeSchedulers,
} from './leases.ts';
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
export { effectiveIntervalSeconds, nextRunAt, retryBackoffSeconds } from './next-run.ts';
export { pruneExecutionLogs, pruneExecutions } from './prune.ts';
export { isIndexed, isPage, lineOf, loadLateReports, type Report, takeReports } from './reports.ts';
export { loadRun, type RunFacts, refreshArticles } from './runs.ts';
export { countJobs, loadSchedulerMetrics, type SchedulerMetrics } from './scheduler-metrics.ts';
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
export { sweepExecutions } from './sweep.ts';
export { createJobsOfNewSources, type SyncReport, syncEnabledSources } from './sync.ts';
