export { leaseSlot, type SlotLease } from './lease.ts';
export { promoteSlot } from './promote.ts';
export { type LeaseOrder, ReadyIndex } from './ready-index.ts';
export { type Records, width } from './records.ts';
export { type RowState, Rows, rowFlag, rowState, widened } from './rows.ts';
export { delayOf, type FrontierSettings, firstKnownAt, firstParkedAt, type Tables } from './rules.ts';
export {
  ladderOf,
  type RequestTotals,
  type RowEnding,
  rescoreSlot,
  type Settlement,
  settleSlot,
} from './settle.ts';
export { none, Slots, statuses } from './slots.ts';
export { type SubmitAnswer, type Submitted, submitRow } from './submit.ts';
