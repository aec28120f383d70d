export { configuredSinks } from './configured.ts';
export { Deliverer } from './deliverer.ts';
export type { BatchEnd, ItemEnd, Outage, ResponseSink, Sink } from './sink.ts';
