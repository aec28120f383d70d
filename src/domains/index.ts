export { ageLadder, decideLadder, goodStanding, type LadderSignal, type LadderStep } from './ladder.ts';
export {
  type BlockReason,
  blockReasons,
  type DomainStatus,
  domainStatuses,
  mayMove,
} from './lifecycle.ts';
export { rescoreDomains, reviveAllowed, saveBudget } from './maintenance.ts';
export { blockDomain, configureDomain, type DomainChoice, type DomainKey, resetDomain } from './operate.ts';
export { decideRefresh, type RefreshOptions } from './refresh.ts';
export { loadRobots, loadRobotsOfDomain, type RobotsRecord, saveRobots } from './robots-cache.ts';
