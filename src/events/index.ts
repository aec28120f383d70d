export {
  type AuditEntry,
  type DomainMove,
  type Event,
  type EventPlace,
  eventPlaceText,
  isEventPlace,
  type JobMove,
  listAudit,
  loadEvents,
  loadEventsEnd,
  loadNewestEvent,
  parseEventPlace,
} from './events.ts';
export { type Activity, loadActivity, loadWorkerHealth, type WorkerHealth } from './pulse.ts';
