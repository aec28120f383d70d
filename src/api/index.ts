export { type ApiOptions, startApi } from './server.ts';
