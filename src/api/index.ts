export { type HealthOptions, startHealthServer } from './health.ts';
export { type ApiOptions, startApi } from './server.ts';
