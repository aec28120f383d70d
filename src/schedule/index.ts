export { Scheduler, type SchedulerOptions } from './scheduler.ts';
