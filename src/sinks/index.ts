export { configuredSinks } from './configured.ts';
export { Deliverer } from './deliverer.ts';
export type { BatchEnd, ItemEnd, Outage, Sink } from './sink.ts';
