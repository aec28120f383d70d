export { type Clock, systemClock } from './clock.ts';
export { createLog, type Log, type LogOptions } from './log.ts';
export { createMetrics, type Metrics } from './metrics.ts';
