import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  actOnFilter,
  actOnIds,
  actOnUrl,
  countKept,
  listUrls,
  loadAttempts,
  loadCounts,
  loadTotals,
  loadUrl,
  submitByHand,
  type UrlAct,
  urlActions,
} from '../frontier/index.ts';
import { requireSource } from '../sources/index.ts';
import { parseUrlId } from '../url/index.ts';
import { parseCursor, timeRange, writeCursor } from './cursors.ts';
import {
  attemptShape,
  type FilterQuery,
  filterFields,
  filterOf,
  idParams,
  rowCounts,
  shownUrl,
  urlCard,
  urlItem,
} from './frontier-schemas.ts';
import { answers, counted, cursor, limit, oneOf, orNull, page, slug, strict } from './schemas.ts';

const tags = ['frontier'];
const priority = Type.Integer({ minimum: 1, maximum: 10 });
const wish = {
  // Longer than any address we take: what is too long is answered as rejected, not refused with its whole batch.
  url: Type.String({ maxLength: 4096 }),
  priority: Type.Optional(priority),
  kind: Type.Optional(oneOf(['article', 'listing'])),
};
const answer = Type.Object({
  url: Type.String(),
  answer: Type.String({ description: 'inserted, raised, refreshed, duplicate or rejected:reason' }),
  id: orNull(Type.String()),
});

/** The frontier: what is known, what is due, and what people want of it. */
export function addFrontierRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  addReading(instance, database);
  addSubmitting(instance, database);
  addActions(instance, database);
}

function addReading(instance: FastifyInstance, { pool }: Database): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/frontier',
    {
      schema: {
        operationId: 'listUrls',
        tags,
        summary: 'URLs, a page at a time; polls and probes only when their kind is named',
        description:
          'A filter that no index serves reads at most 20,000 rows a call: a page may be short or empty and still have a cursor to go on with. `total` is exact where only status and source narrow the list, or the list ends here.',
        querystring: Type.Object(
          { ...filterFields, limit: limit(1000, 100), cursor: Type.Optional(cursor) },
          strict,
        ),
        response: answers(
          Type.Object({ items: Type.Array(urlItem), cursor: orNull(Type.String()), total: counted }),
        ),
      },
    },
    async ({ query }) => {
      const { limit: most, cursor: place, ...named } = query;
      const filter = await filterOf(pool, named);
      const page = await listUrls(pool, filter, {
        limit: most,
        cursor: place ?? null,
        ...(named.sort === undefined ? {} : { sort: named.sort }),
      });
      const kept = keptFilter(named) ? await countKept(pool, filter) : null;
      const ends = page.cursor === null && place === undefined;
      const seen = page.rows.length + (page.cursor === null || page.rows.length < most ? 0 : 1);
      return {
        items: page.rows.map(shownUrl),
        cursor: page.cursor,
        total: kept === null ? { count: seen, exact: ends } : { count: kept, exact: true },
      };
    },
  );

  /** Kept counts know statuses and sources. */
  const keptFilter = ({ sort: _sort, status: _status, source: _source, ...others }: FilterQuery): boolean =>
    Object.keys(others).length === 0;

  app.get(
    '/api/v1/frontier/stats',
    {
      schema: {
        operationId: 'getFrontierStats',
        tags,
        summary: 'URLs by status and by source, and totals over all time',
        description: 'Exact: the counts are kept with the rows. Sources with most URLs come first.',
        querystring: Type.Object({ source: Type.Optional(slug), limit: limit(1000, 100) }, strict),
        response: answers(
          Type.Object({
            urls: Type.Object({ ...rowCounts, inFlight: Type.Integer() }),
            totals: Type.Record(Type.String(), Type.Number()),
            sources: Type.Array(
              Type.Object({
                sourceId: orNull(Type.Integer()),
                slug: orNull(Type.String()),
                name: orNull(Type.String()),
                ...rowCounts,
              }),
            ),
          }),
        ),
      },
    },
    async ({ query }) => {
      const sourceId = query.source === undefined ? undefined : (await requireSource(pool, query.source)).id;
      const { all, sources } = await loadCounts(pool, {
        sources: query.limit,
        ...(sourceId === undefined ? {} : { sourceId }),
      });
      return { urls: all, totals: await loadTotals(pool, sourceId), sources };
    },
  );
  app.get(
    '/api/v1/frontier/:id',
    {
      schema: {
        operationId: 'getUrl',
        tags,
        summary: 'One URL with everything its row says',
        params: idParams,
        response: answers(urlCard),
      },
    },
    async ({ params }) => {
      const found = await loadUrl(pool, parseUrlId(params.id)!);
      if (found === null) throw unknownUrl(params.id);
      return shownUrl(found);
    },
  );
  app.get(
    '/api/v1/frontier/:id/attempts',
    {
      schema: {
        operationId: 'listAttempts',
        tags,
        summary: 'Requests for a URL from the crawl log, newest first',
        description:
          'Looks at 20,000 requests of the domain at a time: a page may have few items, or none, and a cursor that goes on.',
        params: idParams,
        querystring: Type.Object({ limit: limit(500, 50), cursor: Type.Optional(cursor) }, strict),
        response: { 200: page(attemptShape) },
      },
    },
    async ({ params, query }) => {
      const [beforeUs] = query.cursor === undefined ? [] : parseCursor(query.cursor, [timeRange]);
      // A row that was pruned has its requests in the log still.
      const { attempts, nextUs } = await loadAttempts(pool, parseUrlId(params.id)!, {
        limit: query.limit,
        ...(beforeUs === undefined ? {} : { beforeUs }),
      });
      return { items: attempts, cursor: nextUs === null ? null : writeCursor([nextUs.toString()]) };
    },
  );
}

function addSubmitting(instance: FastifyInstance, { pool }: Database): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/frontier/submit',
    {
      schema: {
        operationId: 'submitUrl',
        tags,
        summary: 'Put one URL into the frontier',
        description: "Without a source it is the domain's, else the source `manual`.",
        body: Type.Object({ ...wish, source: Type.Optional(slug) }, strict),
        response: answers(answer),
      },
    },
    async ({ body: { source, ...one } }) => {
      const [answered] = await submitByHand(pool, [one], await namedSource(source));
      return answered!;
    },
  );
  app.post(
    '/api/v1/frontier/submit/bulk',
    {
      bodyLimit: 32 * 1024 * 1024,
      schema: {
        operationId: 'submitUrls',
        tags,
        summary: 'Put up to 10,000 URLs into the frontier',
        description: 'Answers for each, in order. A dry run answers the same and writes nothing.',
        body: Type.Object(
          {
            source: Type.Optional(slug),
            dry_run: Type.Optional(Type.Boolean()),
            urls: Type.Array(Type.Union([wish.url, Type.Object(wish, strict)]), {
              minItems: 1,
              maxItems: 10_000,
            }),
          },
          strict,
        ),
        response: answers(
          Type.Object({
            dryRun: Type.Boolean(),
            counts: Type.Record(Type.String(), Type.Integer()),
            items: Type.Array(answer),
          }),
        ),
      },
    },
    async ({ body }) => {
      const items = await submitByHand(
        pool,
        body.urls.map((one) => (typeof one === 'string' ? { url: one } : one)),
        { ...(await namedSource(body.source)), dryRun: body.dry_run ?? false },
      );
      const counts: Record<string, number> = {};
      for (const one of items) counts[one.answer] = (counts[one.answer] ?? 0) + 1;
      return { dryRun: body.dry_run ?? false, counts, items };
    },
  );

  const namedSource = async (
    name: string | undefined,
  ): Promise<{ source?: { id: number; priority: number } }> =>
    name === undefined ? {} : { source: await requireSource(pool, name) };
}

const outcome = Type.Object({
  id: Type.String(),
  outcome: Type.String({ description: 'retried, removed, changed or unchanged' }),
});

function addActions(instance: FastifyInstance, { pool }: Database): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const act = async (id: string, wanted: UrlAct): Promise<{ id: string; outcome: string }> => {
    const became = await actOnUrl(pool, parseUrlId(id)!, wanted);
    if (became === 'unknown') throw unknownUrl(id);
    if (became.startsWith('refused:')) throw refused(became.slice('refused:'.length));
    return { id, outcome: became };
  };
  app.patch(
    '/api/v1/frontier/:id',
    {
      schema: {
        operationId: 'updateUrl',
        tags,
        summary: 'Set the priority of a URL',
        params: idParams,
        body: Type.Object({ priority }, strict),
        response: answers(outcome),
      },
    },
    async ({ params, body, identity }) =>
      act(params.id, { action: 'set_priority', priority: body.priority, actor: identity.name }),
  );
  app.post(
    '/api/v1/frontier/:id/retry',
    {
      schema: {
        operationId: 'retryUrl',
        tags,
        summary: 'Fetch a URL again as soon as its domain may be asked',
        params: idParams,
        response: answers(outcome),
      },
    },
    async ({ params, identity }) => act(params.id, { action: 'retry', actor: identity.name }),
  );
  app.delete(
    '/api/v1/frontier/:id',
    {
      schema: {
        operationId: 'removeUrl',
        tags,
        summary: 'Remove a URL: it stays known, is never fetched, and no producer brings it back',
        params: idParams,
        response: answers(outcome),
      },
    },
    async ({ params, identity }) => act(params.id, { action: 'remove', actor: identity.name }),
  );
  app.post(
    '/api/v1/frontier/actions',
    {
      schema: {
        operationId: 'actOnUrls',
        tags,
        summary: 'Retry, remove or set the priority of the URLs that match, a portion at a time',
        description:
          'Give a filter, even an empty one, and call again with the cursor until it is null; or give up to 1,000 ids.',
        body: Type.Object(
          {
            action: oneOf(urlActions),
            priority: Type.Optional(priority),
            filter: Type.Optional(Type.Object(filterFields, strict)),
            ids: Type.Optional(
              Type.Array(idParams.properties.id, { minItems: 1, maxItems: 1000, uniqueItems: true }),
            ),
            limit: limit(1000, 500),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: answers(
          Type.Object({
            matched: Type.Integer(),
            outcomes: Type.Record(Type.String(), Type.Integer()),
            cursor: orNull(Type.String()),
          }),
        ),
      },
    },
    async ({ body, identity }) => {
      const { action, filter, ids } = body;
      if ((action === 'set_priority') !== (body.priority !== undefined))
        throw invalid('set_priority needs a priority, and no other action takes one');
      const act: UrlAct = {
        action,
        ...(body.priority === undefined ? {} : { priority: body.priority }),
        actor: identity.name,
      };
      if (ids !== undefined && filter === undefined && body.cursor === undefined)
        return {
          ...(await actOnIds(
            pool,
            ids.map((id) => parseUrlId(id)!),
            act,
          )),
          cursor: null,
        };
      if (filter === undefined || ids !== undefined)
        throw invalid('give either a filter, or ids without a cursor');
      return actOnFilter(pool, await filterOf(pool, filter), {
        ...act,
        ...(filter.sort === undefined ? {} : { sort: filter.sort }),
        limit: body.limit,
        cursor: body.cursor ?? null,
        shown: filter,
      });
    },
  );
}

const invalid = (detail: string): AppError => new AppError('request_invalid', detail, { httpStatus: 400 });
const unknownUrl = (id: string): AppError =>
  new AppError('url_unknown', `there is no URL ${id}`, { httpStatus: 404 });

const refusals: Record<string, [detail: string, advice: string]> = {
  probe: ['it is a probe, which ends by itself', 'Nothing is to be done.'],
  channel: ['it is the poll of a channel', 'Change or remove the channel itself.'],
  channel_gone: ['its channel was removed or has moved', 'Add the channel again.'],
  source_gone: ['its source was deleted', 'Submit it for another source.'],
  held: ['its source is disabled', 'Enable the source.'],
  in_flight: ['a worker is fetching it right now', 'Look again in a minute.'],
};

function refused(reason: string): AppError {
  const [detail, advice] = refusals[reason] ?? [reason, ''];
  return new AppError('url_refused', detail, { httpStatus: 409, advice, retry: reason === 'in_flight' });
}
