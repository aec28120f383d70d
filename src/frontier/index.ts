export {
  actOnFilter,
  actOnIds,
  actOnUrl,
  actOnUrls,
  type BulkOutcome,
  type UrlAct,
  type UrlAction,
  type UrlActOutcome,
  urlActions,
} from './actions.ts';
export { type Attempt, loadAttempts } from './attempts.ts';
export { manualSource, submitByHand, type WishAnswer, type WishedUrl } from './by-hand.ts';
export { findSlotProblems, type SlotProblem } from './check.ts';
export {
  type CountProblem,
  countKept,
  findCountProblems,
  loadCounts,
  mendCounts,
  type RowCounts,
  type SourceCounts,
} from './counts.ts';
export { foldCounters, pruneRollups } from './fold.ts';
export { identifyKnown, loadHostRules, saveHostRules } from './host-rules.ts';
export { type Refusal, tryHotPath } from './hot-path-trial.ts';
export {
  type Ladder,
  type Lease,
  type LeasedUrl,
  type LeaseOptions,
  lease,
  type PromoteOptions,
  promote,
  renew,
} from './lease.ts';
export { type LeaseMode, Leaser, type LeaserOptions, loadLeaseMode, saveLeaseMode } from './lease-mode.ts';
export { decidePriority, levelOf, type PriorityInput } from './levels.ts';
export {
  listUrls,
  type UrlFilter,
  type UrlPage,
  type UrlRow,
  type UrlSort,
  urlSorts,
} from './list.ts';
export { loadUrl, type UrlDetails } from './load.ts';
export {
  dropOldPartitions,
  ensurePartitions,
  loadTotals,
  pruneProbes,
  type Totals,
} from './maintenance.ts';
export { createMarks, type Marks } from './marks.ts';
export { type RekeyReport, type RekeyState, rekeyDomains } from './rekey.ts';
export { releaseDomain } from './release.ts';
export {
  howToGiveBrowser,
  isRenderPool,
  loadRenderingState,
  type RenderingState,
  renderPool,
  tendRendering,
} from './rendering.ts';
export {
  type HoldReason,
  type UrlKind,
  type UrlOrigin,
  type UrlStatus,
  urlKinds,
  urlOrigins,
  urlStatuses,
} from './rows.ts';
export { findCitusObstacles, loadScale, planCitus, type ScaleState } from './scale.ts';
export {
  type Learnt,
  type LoggedRequest,
  type SettleDocument,
  type SettleItem,
  type SettleOptions,
  type SettleResponse,
  type SettleResult,
  settle,
  type Validators,
} from './settle.ts';
export { loadRecoveredLeases, loadSourceDays, pruneSourceDays, type SourceDays } from './source-days.ts';
export {
  countExecution,
  countRows,
  type ExecutionStats,
  type FrontierStats,
  removeWorker,
  saveWorker,
} from './stats.ts';
export {
  type SubmitAnswer,
  type SubmitItem,
  type SubmitOptions,
  type SubmitResult,
  submit,
} from './submit.ts';
export { countDueDomains, loadIdleMs, WakeListener } from './wake.ts';
