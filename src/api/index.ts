export { type ApiOptions, buildApi } from './app.ts';
export { type HealthOptions, startHealthServer } from './health.ts';
export { startApi } from './server.ts';
export { type Subject, subjects } from './subjects.ts';
