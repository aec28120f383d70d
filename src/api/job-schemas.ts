import { type Static, Type } from 'typebox';
import {
  executionStatuses,
  intervalNow,
  intervalTypes,
  type Job,
  jobActions,
  jobKinds,
  jobStatuses,
  legalActions,
  logCategories,
  logLevels,
} from '../jobs/index.ts';
import { address, answer, count, counted, date, oneOf, orNull, serial, slug, strict } from './schemas.ts';

/** A job by its number. */
export const named = Type.Object({ id: serial }, strict);

/** The number of an execution: too wide for a JSON number. */
export const executionId = Type.String({ pattern: '^[0-9]{1,18}$', description: 'number of an execution' });

const wishFields = {
  intervalMinutes: Type.Integer({
    minimum: 1,
    maximum: 525_600,
    description:
      'so many minutes, or what intervalType says, lie between two runs; without it the job runs once',
  }),
  intervalType: oneOf(intervalTypes),
  scheduleEnabled: Type.Boolean({ description: 'false: the job is kept and never due by itself' }),
  adaptiveScheduling: Type.Boolean({ description: 'the interval doubles while runs find nothing new' }),
  maxRetries: Type.Integer({ minimum: 0, maximum: 100 }),
  retryBackoffSeconds: Type.Integer({ minimum: 1, maximum: 3600 }),
  maxPages: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
  maxDepth: Type.Integer({ minimum: -1, maximum: 1000, description: '-1: without end' }),
  metadata: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'up to 64 kB; an import has its list here, as {format, text} up to 1 MB',
  }),
};

/** A new job. */
export const newJobShape = Type.Object(
  {
    kind: Type.Optional(oneOf(jobKinds)),
    source: Type.Optional(Type.Union([slug, serial], { description: 'short name or number of a source' })),
    url: Type.Optional(address),
    intervalMinutes: Type.Optional(wishFields.intervalMinutes),
    intervalType: Type.Optional(wishFields.intervalType),
    scheduleEnabled: Type.Optional(wishFields.scheduleEnabled),
    adaptiveScheduling: Type.Optional(wishFields.adaptiveScheduling),
    maxRetries: Type.Optional(wishFields.maxRetries),
    retryBackoffSeconds: Type.Optional(wishFields.retryBackoffSeconds),
    maxPages: Type.Optional(orNull(wishFields.maxPages)),
    maxDepth: Type.Optional(orNull(wishFields.maxDepth)),
    metadata: Type.Optional(wishFields.metadata),
  },
  strict,
);

/** What may change of a job: what is left out stays, null takes a value back. */
export const jobChangeShape = Type.Object(
  {
    url: Type.Optional(orNull(address)),
    intervalMinutes: Type.Optional(orNull(wishFields.intervalMinutes)),
    intervalType: Type.Optional(wishFields.intervalType),
    scheduleEnabled: Type.Optional(wishFields.scheduleEnabled),
    adaptiveScheduling: Type.Optional(wishFields.adaptiveScheduling),
    maxRetries: Type.Optional(wishFields.maxRetries),
    retryBackoffSeconds: Type.Optional(wishFields.retryBackoffSeconds),
    maxPages: Type.Optional(orNull(wishFields.maxPages)),
    maxDepth: Type.Optional(orNull(wishFields.maxDepth)),
    metadata: Type.Optional(wishFields.metadata),
  },
  { ...strict, minProperties: 1 },
);
export type JobChangeBody = Static<typeof jobChangeShape>;

const openObject = Type.Object({}, { additionalProperties: true });

const jobFields = {
  id: serial,
  kind: oneOf(jobKinds),
  status: oneOf(jobStatuses),
  actions: Type.Array(oneOf(jobActions), { description: 'what may be done with it as it stands' }),
  source: orNull(Type.String({ description: 'short name of its source; null: it is about all of them' })),
  sourceId: orNull(serial),
  url: orNull(Type.String({ description: "null: the source's address" })),
  intervalSeconds: orNull(Type.Integer({ minimum: 60, description: 'null: it runs once' })),
  effectiveIntervalSeconds: orNull(
    Type.Integer({ minimum: 60, description: 'stretched while runs find nothing new' }),
  ),
  scheduleEnabled: Type.Boolean(),
  adaptiveScheduling: Type.Boolean(),
  unchangedRuns: count,
  nextRunAt: orNull(date),
  movedAt: orNull(date),
  maxRetries: count,
  retryBackoffSeconds: count,
  retries: count,
  maxPages: orNull(count),
  maxDepth: orNull(Type.Integer({ minimum: -1 })),
  pauseReason: orNull(oneOf(['operator', 'source_disabled'] as const)),
  returnsTo: orNull(oneOf(['scheduled', 'paused'] as const)),
  executionId: orNull(Type.String({ description: 'the execution under way' })),
  lockedBy: orNull(Type.String()),
  heartbeatAt: orNull(date),
  executions: Type.Integer({ minimum: 0, description: 'runs so far' }),
  createdAt: date,
  createdBy: Type.String(),
  updatedAt: date,
};

/** A job as it is answered. */
export const jobShape = answer({ ...jobFields, metadata: openObject });

/** A job that was made or changed. */
export const savedJobShape = answer({
  ...jobFields,
  metadata: openObject,
  warnings: Type.Array(Type.String(), { description: 'what is taken, but should be thought over' }),
});

/** A job in a list, with the marks of its last runs. */
export const jobLineShape = answer({
  ...jobFields,
  marks: Type.Array(
    answer({
      id: executionId,
      number: serial,
      status: oneOf(executionStatuses),
      startedAt: date,
      durationMs: orNull(Type.Number()),
      itemsIndexed: count,
    }),
    { maxItems: 20, description: 'its last runs, newest first' },
  ),
});

/** A job with what may be done with it, and how long it really waits between two runs. */
export const shownJob = <T extends Job>(job: T) => ({
  ...job,
  actions: legalActions(job.status),
  effectiveIntervalSeconds: intervalNow(job),
});

/** A change of a job's status. */
export const jobEventShape = answer({
  id: Type.String(),
  at: date,
  from: orNull(oneOf(jobStatuses)),
  to: oneOf(jobStatuses),
  action: Type.String(),
  reason: orNull(Type.String()),
  actor: Type.String(),
  executionId: orNull(Type.String()),
});

const executionFields = {
  id: executionId,
  jobId: serial,
  number: serial,
  status: oneOf(executionStatuses),
  trigger: oneOf(['schedule', 'force_run', 'retry'] as const),
  worker: Type.String(),
  startedAt: date,
  completedAt: orNull(date),
  durationMs: orNull(Type.Number({ description: 'null: it runs' })),
  itemsCrawled: count,
  itemsIndexed: count,
  retryAttempt: count,
  errorMessage: orNull(Type.String()),
  cpuMs: Type.Number(),
  peakMemoryBytes: orNull(Type.Number()),
  logLines: count,
};

/** A run in a list. */
export const executionShape = answer(executionFields);

/** A run with all that is kept of it. */
export const executionDetailShape = answer({
  ...executionFields,
  errorStack: orNull(Type.String()),
  metadata: openObject,
});

/** A line of a log. */
export const logLineShape = answer({
  id: serial,
  at: date,
  category: oneOf(logCategories),
  level: oneOf(logLevels),
  message: Type.String(),
  detail: orNull(openObject),
});

/** How many jobs there are of each status. */
export const jobCounts = answer({
  pending: counted,
  scheduled: counted,
  running: counted,
  paused: counted,
  completed: counted,
  failed: counted,
  cancelled: counted,
});

/** How the runs of the last day went. */
export const executionSums = answer({
  total: count,
  running: count,
  completed: count,
  failed: count,
  cancelled: count,
  averageDurationMs: orNull(Type.Number()),
  successRate: orNull(Type.Number({ description: 'completed among those that completed or failed' })),
});
