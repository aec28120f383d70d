export { type Backlog, type BacklogBounds, measureBacklog, tidyOutbox } from './backlog.ts';
export { type ClaimOptions, claimDeliveries, type Delivery, type RawPage } from './claim.ts';
export { type DeadLetter, type DeadLetterPlace, listDeadLetters, retryDeadLetters } from './dead-letters.ts';
export { type DeliveryEnd, type EndedDelivery, saveEnds } from './ends.ts';
export { leaseSink, releaseSink, renewSink, type SinkLease, saveSinkFailure } from './leases.ts';
export {
  askReplay,
  listReplays,
  type Replay,
  type ReplayAnswer,
  type ReplayWish,
  requireAsked,
  runReplays,
} from './replay.ts';
export {
  type ClaimResponsesOptions,
  claimResponses,
  type ResponseDelivery,
  ResponseReader,
  saveResponses,
} from './responses.ts';
export { takeDeliveries } from './run-deliveries.ts';
export {
  enableSink,
  listSinks,
  removeSink,
  type SinkStatus,
  type SinkTakes,
  saveSink,
} from './sinks.ts';
