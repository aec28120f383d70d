export { describeLoop, describeLoops, type LoopState, type StoredLoop } from './describe-loop.ts';
export { type LoopHealth, type LoopOptions, runLoop, type TurnResult } from './loop.ts';
export { presentOf, readLoops } from './stored-loops.ts';
export {
  type RoleMessage,
  type RoleSpec,
  reportToSupervisor,
  Supervisor,
  type SupervisorOptions,
} from './supervisor.ts';
