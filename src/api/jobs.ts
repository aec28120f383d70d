import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import {
  actOnJob,
  changeJob,
  countJobs,
  createJob,
  deleteJob,
  type JobAction,
  type JobLine,
  type JobPlace,
  type JobStatus,
  jobKinds,
  jobSorts,
  jobStatuses,
  jobWarnings,
  listExecutions,
  listJobs,
  loadJobEvents,
  loadJobStats,
  requireJob,
} from '../jobs/index.ts';
import { requireSource } from '../sources/index.ts';
import { requireAllowed } from './addresses.ts';
import { parseCursor, serialRange, timeRange, wideRange, writeCursor } from './cursors.ts';
import {
  executionShape,
  executionSums,
  jobChangeShape,
  jobCounts,
  jobEventShape,
  jobLineShape,
  jobShape,
  named,
  newJobShape,
  savedJobShape,
  shownJob,
} from './job-schemas.ts';
import {
  answer,
  count,
  counted,
  cursor,
  limit,
  oneOf,
  orNull,
  page,
  pageFields,
  serial,
  slug,
  strict,
  words,
} from './schemas.ts';

const tags = ['jobs'];
// A list that is to be imported comes with its job.
const mostBytes = 2_500_000;
type Options = { database: Database; config: Config };

/** Jobs: runs that operators ask for, once or again and again. */
export function addJobRoutes(instance: FastifyInstance, options: Options): void {
  addLists(instance, options);
  addReading(instance, options);
  addChanging(instance, options);
  addActs(instance, options);
}

const statusList = Type.String({
  pattern: `^(${jobStatuses.join('|')})(,(${jobStatuses.join('|')})){0,6}$`,
  description: 'statuses, separated by commas',
});

function addLists(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/jobs',
    {
      schema: {
        operationId: 'listJobs',
        tags,
        summary: 'Jobs with their next run and the marks of their last twenty runs',
        description: 'The total is exact up to 10,000. Metadata is answered with a single job only.',
        querystring: Type.Object(
          {
            status: Type.Optional(statusList),
            kind: Type.Optional(oneOf(jobKinds)),
            source: Type.Optional(slug),
            sort: Type.Optional(oneOf(jobSorts)),
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: { 200: answer({ ...pageFields(jobLineShape), total: counted }) },
      },
    },
    async ({ query }) => {
      const { status, kind, source, sort } = query;
      const filter = {
        ...(status === undefined ? {} : { statuses: [...new Set(status.split(','))] as JobStatus[] }),
        ...(kind === undefined ? {} : { kind }),
        ...(source === undefined ? {} : { sourceId: (await requireSource(pool, source)).id }),
      };
      const { rows, next } = await listJobs(pool, {
        ...filter,
        limit: query.limit,
        ...(sort === undefined ? {} : { sort }),
        ...(query.cursor === undefined ? {} : { after: parsePlace(query.cursor) }),
      });
      return {
        items: rows.map(shownLine),
        cursor: next === null ? null : writePlace(next),
        total: await countJobs(pool, filter),
      };
    },
  );
  app.get(
    '/api/v1/jobs/stats',
    {
      schema: {
        operationId: 'getJobStats',
        tags,
        summary: 'How many jobs there are of each status, and how the runs of the last day went',
        querystring: Type.Object({}, strict),
        response: { 200: answer({ total: counted, jobs: jobCounts, executions: executionSums }) },
      },
    },
    async () => {
      const { jobs, executions } = await loadJobStats(pool);
      return { total: await countJobs(pool, {}), jobs, executions };
    },
  );
}

// Two jobs of a page may bring a list of a megabyte each.
function shownLine(line: JobLine) {
  const { metadata: _metadata, ...job } = shownJob(line);
  return job;
}

// A place without a next run stands behind all others.
const noTime = timeRange.most;
const writePlace = ({ nextUs, id }: JobPlace): string => writeCursor([(nextUs ?? noTime).toString(), id]);
function parsePlace(given: string): JobPlace {
  const [nextUs, id] = parseCursor(given, [timeRange, serialRange]) as [bigint, bigint];
  return { nextUs: nextUs === noTime ? null : nextUs, id: Number(id) };
}

function addReading(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/jobs/:id',
    {
      schema: {
        operationId: 'getJob',
        tags,
        summary: 'One job',
        params: named,
        querystring: Type.Object({}, strict),
        response: { 200: jobShape },
      },
    },
    async ({ params }) => shownJob(await requireJob(pool, params.id)),
  );
  app.get(
    '/api/v1/jobs/:id/executions',
    {
      schema: {
        operationId: 'listExecutions',
        tags,
        summary: 'Runs of a job, newest first',
        params: named,
        querystring: Type.Object(
          { number: Type.Optional(serial), limit: limit(500, 50), cursor: Type.Optional(cursor) },
          strict,
        ),
        response: { 200: page(executionShape) },
      },
    },
    async ({ params, query }) => {
      const [before] = query.cursor === undefined ? [] : parseCursor(query.cursor, [serialRange]);
      await requireJob(pool, params.id);
      const items = await listExecutions(pool, params.id, {
        limit: query.limit,
        ...(query.number === undefined ? {} : { number: query.number }),
        ...(before === undefined ? {} : { before: Number(before) }),
      });
      const last = items.length === query.limit ? items.at(-1) : undefined;
      return { items, cursor: last === undefined ? null : writeCursor([last.number]) };
    },
  );
  app.get(
    '/api/v1/jobs/:id/events',
    {
      schema: {
        operationId: 'listJobEvents',
        tags,
        summary: "Changes of a job's status, newest first, with who or what did them",
        params: named,
        querystring: Type.Object({ limit: limit(500, 50), cursor: Type.Optional(cursor) }, strict),
        response: { 200: page(jobEventShape) },
      },
    },
    async ({ params, query }) => {
      const [before] = query.cursor === undefined ? [] : parseCursor(query.cursor, [wideRange]);
      await requireJob(pool, params.id);
      const items = await loadJobEvents(pool, params.id, {
        limit: query.limit,
        ...(before === undefined ? {} : { before }),
      });
      const last = items.length === query.limit ? items.at(-1) : undefined;
      return { items, cursor: last === undefined ? null : writeCursor([last.id]) };
    },
  );
}

function addChanging(instance: FastifyInstance, { database, config }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/jobs',
    {
      bodyLimit: mostBytes,
      schema: {
        operationId: 'createJob',
        tags,
        summary: 'Make a job: recurring where an interval is given, else due at once',
        description:
          'A recurring job gets the least filled quarter of an hour within its interval. What could not be run is refused here with 422, never later.',
        body: newJobShape,
        response: { 201: savedJobShape },
      },
    },
    async ({ body, identity }, reply) => {
      if (body.url !== undefined) await requireAllowed(config, body.url);
      const { job, warnings } = await createJob(database, body, { actor: identity.name });
      return reply.code(201).send({ ...shownJob(job), warnings });
    },
  );
  app.patch(
    '/api/v1/jobs/:id',
    {
      bodyLimit: mostBytes,
      schema: {
        operationId: 'updateJob',
        tags,
        summary: 'Change a job; what is left out stays, and null takes a value back',
        description:
          'A schedule that is added to a completed job makes it recur. One that is turned off or taken away lets a scheduled job rest as paused; what is due or runs ends first.',
        params: named,
        body: jobChangeShape,
        response: { 200: savedJobShape },
      },
    },
    async ({ params, body, identity }) => {
      if (body.url != null) await requireAllowed(config, body.url);
      const job = await changeJob(database, params.id, body, { actor: identity.name });
      return { ...shownJob(job), warnings: jobWarnings(body) };
    },
  );
  app.delete(
    '/api/v1/jobs/:id',
    {
      schema: {
        operationId: 'deleteJob',
        tags,
        summary: 'Forget a job with its executions and logs; one that runs is cancelled first',
        params: named,
        querystring: Type.Object({}, strict),
        response: { 200: answer({ id: count, deleted: Type.Literal(true) }) },
      },
    },
    async ({ params, identity }) => {
      await deleteJob(database, params.id, identity.name);
      return { id: params.id, deleted: true as const };
    },
  );
}

const acts: readonly { path: string; action: JobAction; operationId: string; summary: string }[] = [
  {
    path: 'pause',
    action: 'pause',
    operationId: 'pauseJob',
    summary: 'Let a scheduled job rest until it is resumed',
  },
  {
    path: 'resume',
    action: 'resume',
    operationId: 'resumeJob',
    summary: 'Let a paused job go on: it gets a slot as a new one does',
  },
  {
    path: 'cancel',
    action: 'cancel',
    operationId: 'cancelJob',
    summary: 'End a job for good; a run under way ends within a second',
  },
  {
    path: 'retry',
    action: 'retry',
    operationId: 'retryJob',
    summary: 'Run a failed job again, with all its retries before it',
  },
  {
    path: 'force-run',
    action: 'force_run',
    operationId: 'forceRunJob',
    summary: 'Run a job now, out of its turn; a paused one rests again afterwards',
  },
];

function addActs(instance: FastifyInstance, { database }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  for (const { path, action, operationId, summary } of acts)
    app.post(
      `/api/v1/jobs/:id/${path}`,
      {
        schema: {
          operationId,
          tags,
          summary,
          params: named,
          // Nobody has to say why; null is what Fastify makes of no body at all.
          body: orNull(Type.Object({ reason: Type.Optional(words(500)) }, strict)),
          response: { 200: jobShape },
        },
      },
      async ({ params, body, identity }) =>
        shownJob(
          await actOnJob(database, params.id, action, {
            actor: identity.name,
            reason: body?.reason ?? null,
          }),
        ),
    );
}
