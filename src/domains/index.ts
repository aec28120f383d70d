export {
  changeDomain,
  type DomainChange,
  type RulesChange,
  requireDomain,
  takeDomain,
  unknownDomain,
} from './actions.ts';
export { type BackfillOptions, type BackfillReport, backfillCooldowns, backfillDomains } from './backfill.ts';
export { ageLadder, decideLadder, goodStanding, type LadderSignal, type LadderStep } from './ladder.ts';
export { loadLeases, loadWorkers, type WorkerLeases, type WorkerState } from './leases.ts';
export {
  type BlockReason,
  blockReasons,
  type DomainStatus,
  domainStatuses,
  mayMove,
} from './lifecycle.ts';
export {
  countDomains,
  countDomainsUpTo,
  countOpenCircuits,
  type DomainDefaults,
  type DomainLine,
  type DomainRow,
  type DomainSort,
  domainSorts,
  listDomains,
  topDomains,
} from './list.ts';
export {
  type DomainDetails,
  type DomainEvent,
  type DomainName,
  type DomainRun,
  keyOfDomain,
  listDomainEvents,
  loadDomain,
  loadDomainEvents,
  loadDomainRuns,
} from './load.ts';
export { rescoreDomains, reviveAllowed, saveBudget } from './maintenance.ts';
export {
  blockDomain,
  borrowTurn,
  configureDomain,
  type DomainChoice,
  type DomainKey,
  resetDomain,
} from './operate.ts';
export {
  applyGroup,
  applyGroups,
  type DomainPin,
  followGroup,
  listDomainPins,
  type Overruled,
  releaseGroup,
} from './pins.ts';
export { type RecalculateReport, recalculatePart } from './recalculate.ts';
export { decideRefresh, type RefreshOptions } from './refresh.ts';
export {
  isRobotsUsable,
  loadRobots,
  loadRobotsOfDomain,
  type RobotsRecord,
  saveRobots,
} from './robots-cache.ts';
export { listRobots, type RobotsVerdict, type RobotsView, testRobots } from './robots-view.ts';
export { type SeedOptions, type SeedReport, seedDomains } from './seeds.ts';
