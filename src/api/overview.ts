import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import {
  actionKinds,
  find,
  foundKinds,
  loadOverview,
  loadSeries,
  screens,
  seriesSpans,
} from '../overview/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { answer, count, counted, date, oneOf, orNull, strict, text } from './schemas.ts';
import { shareAnswer } from './shared-answer.ts';

const tags = ['overview'];
const rate = Type.Number({ minimum: 0 });
const exit = (description: string) => Type.Integer({ minimum: 0, description });

const countsShape = answer({
  sources: counted,
  failingChannels: counted,
  blockedDomains: counted,
  unreachableDomains: counted,
  failedJobs: counted,
  deadUrls: count,
  pendingUrls: count,
  fetchingDomains: count,
  fetchingUrls: count,
  documents: counted,
  deadLetters: counted,
});

const flowShape = answer({
  seconds: Type.Number({ description: 'over how long everything below was counted' }),
  discoveredPerMinute: rate,
  fetchedPerMinute: rate,
  documentsPerMinute: rate,
  deliveredPerMinute: orNull({
    ...rate,
    description: 'deliveries to all sinks together; null: nobody looked before, and there were sinks then',
  }),
  sinks: Type.Integer({ minimum: 0, description: 'sinks that take documents and are on' }),
  exits: answer({
    known: exit('items of feeds and sitemaps that were known'),
    rejected: exit('items that may not enter'),
    robotsDenied: exit('URLs that robots.txt forbids'),
    redirected: exit('URLs that lead elsewhere'),
    duplicate: exit('pages whose text another address has'),
    failed: exit('fetches that are tried again'),
    dead: exit('URLs that were given up'),
    needsRender: exit('pages that need a browser'),
    unchanged: exit('answers that were the same as before'),
  }),
});

const attentionShape = answer({
  id: Type.String({ description: 'stays the same while the trouble does' }),
  severity: oneOf(['fail', 'warn'] as const),
  sentence: Type.String(),
  action: orNull(
    answer({
      label: Type.String(),
      kind: oneOf(actionKinds),
      target: answer({
        screen: oneOf(screens),
        id: orNull(Type.String({ description: 'the one thing it is about' })),
        filter: Type.Record(Type.String(), Type.String(), {
          description: 'parameters of the list that it is about',
        }),
      }),
    }),
  ),
});

const overviewShape = answer({
  state: oneOf(['ok', 'warn', 'fail'] as const),
  sentence: Type.String({ description: 'how everything does, in one line' }),
  counts: countsShape,
  flow: flowShape,
  attention: Type.Array(attentionShape, { maxItems: 20, description: 'what needs somebody, worst first' }),
});

const pointShape = answer({
  at: date,
  discovered: count,
  fetched: count,
  documents: count,
  failed: count,
  unchanged: count,
  duplicate: count,
  dead: count,
  requests: count,
  backlog: orNull(Type.Integer({ minimum: 0, description: 'URLs that waited; null: nobody looked' })),
  latencyP50Ms: orNull(count),
  latencyP95Ms: orNull(count),
  delayP50Seconds: orNull(count),
});

const foundShape = answer({
  kind: oneOf(foundKinds),
  label: Type.String(),
  detail: Type.String(),
  target: answer({
    screen: oneOf(screens),
    id: orNull(Type.String()),
    query: orNull(Type.String({ description: 'what to search documents for' })),
  }),
});

// Every open dashboard asks again and again: those that ask within a second share an answer.
const lifeMs = 1000;

type Options = { database: Database; clock: Clock };

/** What the dashboard shows first, its charts, and its search. */
export function addOverviewRoutes(instance: FastifyInstance, { database: { pool }, clock }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const load = shareAnswer(clock, lifeMs, () => loadOverview(pool));
  app.get(
    '/api/v1/overview',
    {
      schema: {
        operationId: 'getOverview',
        tags,
        summary: 'How everything does: in a sentence, in counts, as a flow, and what needs somebody',
        querystring: Type.Object({}, strict),
        response: { 200: overviewShape },
      },
    },
    load,
  );
  app.get(
    '/api/v1/overview/series',
    {
      schema: {
        operationId: 'getOverviewSeries',
        tags,
        summary: 'What happened over the last hour, day or week, step by step',
        description: 'The last step is still under way. A step that nobody saw has no backlog.',
        querystring: Type.Object({ span: { ...oneOf(seriesSpans), default: '1h' as const } }, strict),
        response: {
          200: answer({
            span: oneOf(seriesSpans),
            stepSeconds: count,
            from: date,
            until: date,
            points: Type.Array(pointShape, { maxItems: 300 }),
          }),
        },
      },
    },
    async ({ query }) => loadSeries(pool, query.span),
  );
  app.get(
    '/api/v1/overview/find',
    {
      schema: {
        operationId: 'find',
        tags,
        summary: 'What a text may mean: a URL, a domain, a source, a channel, a document or an id',
        querystring: Type.Object(
          { q: text(2048, { description: 'as somebody typed or pasted it' }) },
          strict,
        ),
        response: { 200: answer({ items: Type.Array(foundShape, { maxItems: 10 }) }) },
      },
    },
    async ({ query }) => ({ items: await find(pool, query.q) }),
  );
}
