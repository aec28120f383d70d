export { type LoopHealth, type LoopOptions, runLoop, type TurnResult } from './loop.ts';
