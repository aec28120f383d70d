import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../auth/index.ts';
import type { ApiOptions } from './app.ts';
import type { StreamRoom } from './streams.ts';

/** What routes are made of. */
export type RouteParts = ApiOptions & { streams: StreamRoom; auth: Authenticator | null };
type AddRoutes = (app: FastifyInstance, parts: RouteParts) => void;

/**
 * The routes below /api/v1 by their first word. Each brings its part of the engine when it is loaded: a server loads
 * them all, a command only what it asks.
 */
const loaders = {
  tokens: async () => [(await import('./tokens.ts')).addTokenRoutes],
  sources: async () => [
    (await import('./sources.ts')).addSourceRoutes,
    (await import('./source-actions.ts')).addSourceActions,
    (await import('./source-activity.ts')).addSourceActivity,
    (await import('./selectors.ts')).addSelectorRoutes,
    (await import('./lists.ts')).addListRoutes,
  ],
  channels: async () => [
    (await import('./channels.ts')).addChannelRoutes,
    (await import('./channel-actions.ts')).addChannelActions,
  ],
  frontier: async () => [(await import('./frontier.ts')).addFrontierRoutes],
  domains: async () => [
    (await import('./domains.ts')).addDomainRoutes,
    (await import('./domain-actions.ts')).addDomainActionRoutes,
  ],
  explain: async () => [(await import('./explain.ts')).addExplainRoutes],
  workers: async () => [(await import('./workers.ts')).addWorkerRoutes],
  documents: async () => [
    (await import('./documents.ts')).addDocumentRoutes,
    (await import('./document-stream.ts')).addDocumentStream,
    (await import('./document-page.ts')).addDocumentPage,
  ],
  jobs: async () => [
    (await import('./jobs.ts')).addJobRoutes,
    (await import('./job-actions.ts')).addJobActions,
  ],
  executions: async () => [
    (await import('./executions.ts')).addExecutionRoutes,
    (await import('./log-stream.ts')).addLogStream,
  ],
  scheduler: async () => [(await import('./scheduler.ts')).addSchedulerRoutes],
  admin: async () => [(await import('./scheduler.ts')).addAdminRoutes],
  images: async () => [(await import('./images.ts')).addImageRoutes],
  sinks: async () => [(await import('./sinks.ts')).addSinkRoutes],
  switches: async () => [(await import('./switches.ts')).addSwitchRoutes],
  config: async () => [(await import('./config.ts')).addConfigRoutes],
  events: async () => [(await import('./events.ts')).addEventRoutes],
  overview: async () => [(await import('./overview.ts')).addOverviewRoutes],
  database: async () => [(await import('./database.ts')).addDatabaseRoutes],
  diagnosis: async () => [(await import('./diagnosis.ts')).addDiagnosisRoutes],
} satisfies Record<string, () => Promise<AddRoutes[]>>;

/** A word that routes begin with, or belong to. */
export type Subject = keyof typeof loaders;

/** All of them. */
export const subjects = Object.keys(loaders) as Subject[];

/** What adds the routes of a subject. */
export const loadSubject = (subject: Subject): Promise<AddRoutes[]> => loaders[subject]();
