import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { loadDistribution, loadJobStats, rebalance, syncEnabledSources } from '../jobs/index.ts';
import { executionSums, jobCounts } from './job-schemas.ts';
import { answer, count, date, orNull, serial, strict } from './schemas.ts';

const tags = ['jobs'];
type Options = { database: Database; config: Config };

const runsAt = answer({ at: date, runs: count });
const score = Type.Number({ minimum: 0, maximum: 1 });

const distributionShape = answer({
  distributionScore: {
    ...score,
    description:
      '1 − runs above the even height ÷ all runs of the next 24 h; the even height is the mean, rounded up',
  },
  slotMinutes: count,
  totalJobs: Type.Integer({ minimum: 0, description: 'recurring jobs that are on' }),
  totalRuns: count,
  hourlyDistribution: Type.Array(runsAt, { maxItems: 24 }),
  slots: Type.Array(runsAt, { maxItems: 96 }),
  peak: orNull(runsAt),
});

const rebalanceShape = answer({
  plan: Type.String({ description: 'names these moves' }),
  moves: Type.Array(answer({ id: serial, from: date, to: date })),
  scoreBefore: score,
  scoreAfter: score,
});

/** How jobs go, where their runs lie, and giving them other times. */
export function addSchedulerRoutes(instance: FastifyInstance, { database }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/scheduler/metrics',
    {
      schema: {
        operationId: 'getSchedulerMetrics',
        tags,
        summary: 'Jobs by status, how the runs of the last day went, and locks of lost schedulers',
        querystring: Type.Object({}, strict),
        response: {
          200: answer({
            jobs: jobCounts,
            executions: executionSums,
            staleLocksCleared: Type.Integer({ minimum: 0, description: 'in the last 24 hours' }),
          }),
        },
      },
    },
    async () => loadJobStats(database.pool),
  );
  app.get(
    '/api/v1/scheduler/distribution',
    {
      schema: {
        operationId: 'getDistribution',
        tags,
        summary: 'Where the runs of the next 24 hours lie, and how evenly',
        querystring: Type.Object({}, strict),
        response: { 200: distributionShape },
      },
    },
    async () => loadDistribution(database.pool),
  );
  app.post(
    '/api/v1/scheduler/rebalance/preview',
    {
      schema: {
        operationId: 'previewRebalance',
        tags,
        summary: 'Which jobs rebalancing would give another time; nothing is written',
        response: { 200: rebalanceShape },
      },
    },
    async ({ identity }) => rebalance(database, { preview: true, actor: identity.name }),
  );
  app.post(
    '/api/v1/scheduler/rebalance',
    {
      schema: {
        operationId: 'rebalanceJobs',
        tags,
        summary: 'Give jobs other times, so that slots are filled evenly',
        description:
          'Jobs that run within half an hour and those that were moved within the hour stay. With the plan of a preview it does exactly that, or answers 409 where something has changed meanwhile.',
        body: orNull(
          Type.Object({ plan: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$' })) }, strict),
        ),
        response: { 200: rebalanceShape },
      },
    },
    async ({ body, identity }) =>
      rebalance(database, {
        preview: false,
        actor: identity.name,
        ...(body?.plan === undefined ? {} : { plan: body.plan }),
      }),
  );
}

/** What only admins do with all jobs at once. */
export function addAdminRoutes(instance: FastifyInstance, { database, config }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/admin/sync-enabled-sources',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'syncEnabledSources',
        tags,
        summary: 'Make missing jobs for enabled sources that the spider reads, and resume paused ones',
        response: { 200: answer({ created: count, resumed: count, unchanged: count }) },
      },
    },
    async ({ identity }) =>
      syncEnabledSources(database, {
        actor: identity.name,
        intervalMinutes: config.jobs.spiderIntervalMinutes,
      }),
  );
}
