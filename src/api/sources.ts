import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  countSources,
  findDiscovery,
  findNamedChannel,
  findSourceStatus,
  loadFoundChannels,
  pageSources,
  sourceSorts,
  sourceStatuses,
  startDiscovery,
  submitFrontPage,
} from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import { countedUpTo, type Database, mostCounted, type Queryable } from '../db/index.ts';
import { loadSelectorRates, removeSource } from '../documents/index.ts';
import { applyGroup, releaseGroup } from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import { warnOfSettings } from '../source-lists/index.ts';
import {
  applyHolds,
  createSource,
  loadSources,
  removeEmptySource,
  requireSource,
  type Source,
  type SourceChange,
  saveRespectRobots,
  setSourceEnabled,
  unknownSource,
  updateSource,
} from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { givenAddress, requireAllowed } from './addresses.ts';
import { parseSourcePlace, writeSourcePlace } from './cursors.ts';
import type { Identity } from './identity.ts';
import {
  answer,
  count,
  counted,
  cursor,
  limit,
  oneOf,
  orNull,
  pageFields,
  slug,
  strict,
  text,
} from './schemas.ts';
import {
  addedShape,
  changedSourceShape,
  discoveryShape,
  modes,
  newSourceShape,
  reasonText,
  requireAdmin,
  requireUsable,
  type SourceChangeBody,
  selectorRate,
  shownSource,
  shownStatus,
  sourceChangeShape,
  sourceShape,
  statusFields,
} from './source-schemas.ts';

const tags = ['sources'];
const named = Type.Object({ slug }, strict);
type Options = { database: Database; config: Config };

/** Sources: who is followed. */
export function addSourceRoutes(instance: FastifyInstance, options: Options): void {
  addReading(instance, options);
  addChanging(instance, options);
  addActs(instance, options);
  addTakingBack(instance, options);
}

function addReading(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/sources',
    {
      schema: {
        operationId: 'listSources',
        tags,
        summary: 'Sources with how they go, in the order they were added unless another is given',
        description:
          'A search looks at 20,000 sources at a time: a page may have few items, or none, and a cursor that goes on. The total is of all sources, and null where a filter is given.',
        querystring: Type.Object(
          {
            q: Type.Optional(text(200, { description: 'part of a name, short name or address' })),
            enabled: Type.Optional(Type.Boolean()),
            status: Type.Optional(oneOf(sourceStatuses)),
            mode: Type.Optional(oneOf(modes)),
            failing: Type.Optional(
              Type.Boolean({ description: 'only those with a channel whose polls fail, disabled or not' }),
            ),
            sort: Type.Optional({
              ...oneOf(sourceSorts),
              description: 'silent: those first that brought nothing for longest',
            }),
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: { 200: answer({ ...pageFields(answer(statusFields)), total: orNull(counted) }) },
      },
    },
    async ({ query }) => {
      const { q, enabled, status, mode, failing, sort = 'added' } = query;
      const { rows, next } = await pageSources(pool, {
        sort,
        after: query.cursor === undefined ? null : parseSourcePlace(query.cursor, sort),
        limit: query.limit,
        ...(q === undefined ? {} : { search: q }),
        ...(enabled === undefined ? {} : { enabled }),
        ...(status === undefined ? {} : { status }),
        ...(mode === undefined ? {} : { mode }),
        ...(failing === undefined ? {} : { failing }),
      });
      const isAll = [q, enabled, status, mode, failing].every((one) => one === undefined);
      return {
        items: rows.map(shownStatus),
        cursor: next === null ? null : writeSourcePlace(next, sort),
        total: isAll ? countedUpTo(await countSources(pool, mostCounted)) : null,
      };
    },
  );
  app.get(
    '/api/v1/sources/:slug',
    {
      schema: {
        operationId: 'getSource',
        tags,
        summary: 'One source with how it goes, and the last search for its feeds',
        params: named,
        response: { 200: answer({ ...statusFields, discovery: orNull(discoveryShape) }) },
      },
    },
    async ({ params }) => {
      const source = await findSourceStatus(pool, params.slug);
      if (source === null) throw unknownSource(params.slug);
      return { ...shownStatus(source), discovery: await shownDiscovery(pool, source.id) };
    },
  );
  app.get(
    '/api/v1/sources/:slug/selectors',
    {
      schema: {
        operationId: 'getSelectorRates',
        tags,
        summary: "How often a source's selectors matched on its newest documents; a redesign shows here",
        params: named,
        querystring: Type.Object({ last: limit(100_000, 1000) }, strict),
        response: { 200: answer({ items: Type.Array(selectorRate) }) },
      },
    },
    async ({ params, query }) => ({
      items: await loadSelectorRates(pool, await requireSource(pool, params.slug), query.last),
    }),
  );
}

async function shownDiscovery(db: Queryable, sourceId: number) {
  const discovery = await findDiscovery(db, sourceId);
  if (discovery === null) return null;
  const { state, candidates, channelId, reason } = discovery;
  return {
    state,
    candidates: candidates.map(({ url, by, outcome }) => ({ url, by, outcome })),
    channelId,
    reason,
    found: await loadFoundChannels(db, discovery),
  };
}

function addChanging(instance: FastifyInstance, { database, config }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.post(
    '/api/v1/sources',
    {
      schema: {
        operationId: 'addSource',
        tags,
        summary: 'Add a source and look for its feeds; one that is known is answered as it is',
        body: newSourceShape,
        description:
          '`created` tells the two apart; `channelId` is set where the address is that of a channel which is polled already, and the source is the one it belongs to.',
        response: { 200: addedShape, 201: addedShape },
      },
    },
    async ({ body, identity }, reply) => {
      const url = givenAddress(body.url);
      await requireAllowed(config, url);
      const settings = requireUsable(body.settings ?? {}, identity);
      // The address of a feed that is followed names its source: no second one is made for it.
      const channel = await findNamedChannel(pool, url);
      const [owner] = channel === null ? [] : await loadSources(pool, [channel.sourceId]);
      if (channel !== null && owner !== undefined)
        return reply.code(200).send({
          ...shownSource(owner),
          created: false,
          channelId: channel.id,
          overruled: [],
          warnings: [],
        });
      const { name, ingestionMode, feedPollIntervalMinutes, priority, rateLimitMs } = body;
      const { source, created } = await createSource(pool, {
        url,
        settings,
        ...(name === undefined ? {} : { name }),
        ...(ingestionMode === undefined ? {} : { mode: ingestionMode }),
        ...(feedPollIntervalMinutes === undefined ? {} : { intervalMinutes: feedPollIntervalMinutes }),
        ...(priority === undefined ? {} : { priority }),
        ...(rateLimitMs === undefined ? {} : { rateLimitMs }),
      });
      // Before anything of it is asked.
      const overruled = created ? await applyGroup(pool, source, identity.name) : [];
      if (created) {
        await startDiscovery(pool, source.id);
        await audit(pool, identity, 'source_add', source);
      }
      // Settings of a source that was there before are not taken.
      const warnings = created ? warnOfSettings(settings) : [];
      return reply.code(created ? 201 : 200).send({
        ...shownSource(source),
        created,
        channelId: null,
        overruled,
        warnings,
      });
    },
  );
  app.patch(
    '/api/v1/sources/:slug',
    {
      schema: {
        operationId: 'updateSource',
        tags,
        summary: 'Change a source; what is left out stays, and null takes a setting back',
        params: named,
        body: sourceChangeShape,
        response: { 200: changedSourceShape },
      },
    },
    async ({ params, body, identity }) => {
      const change = changeOf(body, identity);
      let source: Source = await requireSource(pool, params.slug);
      const modeBefore = source.ingestionMode;
      if (body.respectRobots !== undefined) {
        const by = { reason: requireReason(body, identity), actor: identity.name };
        source = required(await saveRespectRobots(pool, params.slug, body.respectRobots, by), params.slug);
      }
      if (Object.keys(change).length > 0)
        source = required(await updateSource(pool, params.slug, change, identity.name), params.slug);
      if (change.mode !== undefined) await applyHolds(pool, source);
      if (source.enabled && modeBefore === 'feed' && source.ingestionMode !== 'feed')
        await submitFrontPage(pool, source);
      const overruled = change.group === undefined ? [] : await applyGroup(pool, source, identity.name);
      return { ...shownSource(source), overruled, warnings: warnOfSettings(body.settings ?? {}) };
    },
  );
  app.delete(
    '/api/v1/sources/:slug',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'deleteSource',
        tags,
        summary: 'Forget a source and its channels; its documents stay unless said otherwise',
        params: named,
        querystring: Type.Object({ documents: Type.Optional(oneOf(['keep', 'delete'] as const)) }, strict),
        response: {
          200: answer({ slug: Type.String(), deleted: Type.Literal(true), documents: count }),
        },
      },
    },
    async ({ params, query, identity }) => ({
      slug: params.slug,
      deleted: true as const,
      documents: await removeSource(database, params.slug, {
        documents: query.documents ?? 'keep',
        actor: identity.name,
      }),
    }),
  );
}

function addActs(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/sources/:slug/enable',
    {
      schema: {
        operationId: 'enableSource',
        tags,
        summary: 'Go on with a source where it stood',
        params: named,
        // Nobody has to say why; null is what Fastify makes of no body at all.
        body: orNull(Type.Object({ reason: Type.Optional(reasonText) }, strict)),
        response: { 200: sourceShape },
      },
    },
    async ({ params, body, identity }) => {
      const act = { actor: identity.name, reason: body?.reason ?? null };
      return shownSource(required(await setSourceEnabled(pool, params.slug, true, act), params.slug));
    },
  );
  app.post(
    '/api/v1/sources/:slug/disable',
    {
      schema: {
        operationId: 'disableSource',
        tags,
        summary: 'Poll and fetch nothing of a source for now',
        params: named,
        body: Type.Object({ reason: reasonText }, strict),
        response: { 200: sourceShape },
      },
    },
    async ({ params, body, identity }) => {
      const act = { actor: identity.name, reason: body.reason };
      return shownSource(required(await setSourceEnabled(pool, params.slug, false, act), params.slug));
    },
  );
  app.post(
    '/api/v1/sources/:slug/discover',
    {
      schema: {
        operationId: 'discoverSource',
        tags,
        summary: "Look for a source's feeds again; a search under way is left alone",
        params: named,
        response: { 202: answer({ slug: Type.String(), discovery: orNull(discoveryShape) }) },
      },
    },
    async ({ params, identity }, reply) => {
      const source = await requireSource(pool, params.slug);
      await startDiscovery(pool, source.id);
      await audit(pool, identity, 'source_discover', source);
      return reply.code(202).send({ slug: source.slug, discovery: await shownDiscovery(pool, source.id) });
    },
  );
}

function addTakingBack(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/sources/:slug/discard',
    {
      schema: {
        operationId: 'discardSource',
        tags,
        summary: 'Take back a source that was added within the hour and has no channels',
        description: 'For a search that ended in nothing. Any other source is deleted by an admin.',
        params: named,
        response: { 200: answer({ slug: Type.String(), discarded: Type.Boolean() }) },
      },
    },
    async ({ params, identity }) => {
      const source = await requireSource(pool, params.slug);
      const discarded = await removeEmptySource(pool, source.id);
      if (discarded) await releaseGroup(pool, source.id);
      if (discarded) await audit(pool, identity, 'source_discard', source);
      return { slug: source.slug, discarded };
    },
  );
}

const audit = (db: Queryable, identity: Identity, action: string, source: Source): Promise<void> =>
  saveAudit(db, { actor: identity.name, action, subject: source.slug, detail: { url: source.url } });

function required(source: Source | null, name: string): Source {
  if (source === null) throw unknownSource(name);
  return source;
}

function requireReason(body: SourceChangeBody, identity: Identity): string {
  requireAdmin(identity, 'respectRobots');
  if (body.reason !== undefined) return body.reason;
  throw new AppError('request_invalid', 'respectRobots needs a reason, which is kept for good', {
    httpStatus: 400,
  });
}

function changeOf(body: SourceChangeBody, identity: Identity): SourceChange {
  const { name, ingestionMode, feedPollIntervalMinutes, priority, rateLimitMs, settings = {} } = body;
  requireUsable(settings, identity);
  return {
    ...(name === undefined ? {} : { name }),
    ...(ingestionMode === undefined ? {} : { mode: ingestionMode }),
    ...(feedPollIntervalMinutes === undefined ? {} : { intervalMinutes: feedPollIntervalMinutes }),
    ...(priority === undefined ? {} : { priority }),
    ...(rateLimitMs === undefined ? {} : { rateLimitMs }),
    ...(settings as Omit<SourceChange, 'name'>),
  };
}
