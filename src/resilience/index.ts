export { describeLoop, describeLoops, type LoopState, type StoredLoop } from './describe-loop.ts';
export {
  type LoopHealth,
  type LoopOptions,
  type LoopVoice,
  newLoop,
  runLoop,
  type TurnResult,
} from './loop.ts';
export {
  availableMemory,
  decideMemoryLimit,
  describeMemory,
  isMemoryShort,
  type Memory,
  measureMemory,
} from './memory.ts';
export { type RestartHistory, restartsLately } from './restarts.ts';
export { type GuardEnd, RoleGuard, type SelfDiagnosis } from './role-guard.ts';
export { SupervisorLine } from './role-messages.ts';
export { ServiceManager } from './service-manager.ts';
export { presentOf, readLoops } from './stored-loops.ts';
export { type RoleSpec, Supervisor, type SupervisorOptions } from './supervisor.ts';
export { createVitals, describeVitals, type Vitals } from './vitals.ts';
export { Watchdog } from './watchdog.ts';
