export { findJob, type Job, jobColumns } from './jobs.ts';
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
