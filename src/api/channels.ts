import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  type Channel,
  type ChannelStatus,
  createChannel,
  findChannel,
  findNamedChannel,
  listAddresses,
  listChannels,
  loadDiscoveryDelay,
  loadPaces,
  loadPollKey,
  loadPushStates,
  type PollRefusal,
  pageChannels,
  pollChannel,
  refusalOf,
  removeChannel,
  setChannelEnabled,
  unknownChannel,
  updateChannel,
  wakeChannel,
} from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { loadAttempts } from '../frontier/index.ts';
import { withScheme } from '../source-lists/index.ts';
import { loadSources, requireSource } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { givenAddress, requireAllowed } from './addresses.ts';
import {
  addedShape,
  channelFields,
  channelShape,
  intervalSeconds,
  kinds,
  named,
  shownChannel,
} from './channel-schemas.ts';
import { parseCursor, serialRange, timeRange, writeCursor } from './cursors.ts';
import { attemptShape } from './frontier-schemas.ts';
import {
  address,
  answer,
  count,
  cursor,
  date,
  limit,
  oneOf,
  orNull,
  page,
  serial,
  slug,
  strict,
  text,
} from './schemas.ts';

const tags = ['channels'];
type Options = { database: Database; config: Config };

/** Channels: the feeds and sitemaps that are polled. */
export function addChannelRoutes(instance: FastifyInstance, options: Options): void {
  addReading(instance, options);
  addChanging(instance, options);
  addActs(instance, options);
}

function addReading(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/channels',
    {
      schema: {
        operationId: 'listChannels',
        tags,
        summary: 'Channels with their polls and pushes, trouble first',
        querystring: Type.Object(
          {
            source: Type.Optional(slug),
            kind: Type.Optional(oneOf(kinds)),
            failing: Type.Optional(Type.Boolean({ description: 'only those whose polls fail' })),
            pushed: Type.Optional(Type.Boolean({ description: 'only those that a hub pushes' })),
            files: Type.Optional(Type.Boolean({ description: 'also the files that sitemap indexes name' })),
            url: Type.Optional(
              text(2048, { description: 'the one that has or had this address; goes with no other filter' }),
            ),
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: { 200: page(channelShape) },
      },
    },
    async ({ query }) => {
      const { source, kind, failing, pushed, files, url } = query;
      if (url !== undefined) {
        requireAlone(query);
        const found = await findNamedChannel(pool, withScheme(url));
        return { items: found === null ? [] : [await loadShown(pool, found.id)], cursor: null };
      }
      const [errorsInRow, id] =
        query.cursor === undefined ? [] : parseCursor(query.cursor, [serialRange, serialRange]);
      const after = id === undefined ? {} : { after: { errorsInRow: Number(errorsInRow), id: Number(id) } };
      const { rows, next } = await pageChannels(pool, {
        limit: query.limit,
        ...after,
        ...(source === undefined ? {} : { sourceId: (await requireSource(pool, source)).id }),
        ...(kind === undefined ? {} : { kind }),
        ...(failing === undefined ? {} : { failing }),
        ...(pushed === undefined ? {} : { pushed }),
        ...(files === undefined ? {} : { files }),
      });
      return {
        items: await shownAll(pool, rows),
        cursor: next === null ? null : writeCursor([next.errorsInRow, next.id]),
      };
    },
  );
  app.get(
    '/api/v1/channels/delay',
    {
      schema: {
        operationId: 'getDiscoveryDelay',
        tags,
        summary: 'How long after their publication items are found, and how late polls are, on average',
        querystring: Type.Object({}, strict),
        response: {
          200: answer({
            items: count,
            meanSeconds: orNull(Type.Number()),
            lateSeconds: orNull(Type.Number()),
          }),
        },
      },
    },
    async () => loadDiscoveryDelay(pool),
  );
  app.get(
    '/api/v1/channels/:id',
    {
      schema: {
        operationId: 'getChannel',
        tags,
        summary: 'One channel with how its polls went and the addresses it has left',
        params: named,
        response: {
          200: answer({
            ...channelFields,
            addresses: Type.Array(answer({ url: Type.String(), leftAt: date })),
          }),
        },
      },
    },
    async ({ params: { id } }) => ({
      ...(await loadShown(pool, id)),
      addresses: await listAddresses(pool, id),
    }),
  );
  app.get(
    '/api/v1/channels/:id/polls',
    {
      schema: {
        operationId: 'listPolls',
        tags,
        summary: 'Polls of a channel from the crawl log, newest first',
        description:
          'Looks at 20,000 requests of the domain at a time: a page may have few items, or none, and a cursor that goes on.',
        params: named,
        querystring: Type.Object({ limit: limit(500, 50), cursor: Type.Optional(cursor) }, strict),
        response: { 200: page(attemptShape) },
      },
    },
    async ({ params, query }) => {
      const [beforeUs] = query.cursor === undefined ? [] : parseCursor(query.cursor, [timeRange]);
      const key = await loadPollKey(pool, await requireChannel(pool, params.id));
      if (key === null) return { items: [], cursor: null };
      const { attempts, nextUs } = await loadAttempts(pool, key, {
        limit: query.limit,
        ...(beforeUs === undefined ? {} : { beforeUs }),
      });
      return { items: attempts, cursor: nextUs === null ? null : writeCursor([nextUs.toString()]) };
    },
  );
}

const others = ['source', 'kind', 'failing', 'pushed', 'files', 'cursor'] as const;

function requireAlone(query: Partial<Record<(typeof others)[number], unknown>>): void {
  const other = others.find((name) => query[name] !== undefined);
  if (other !== undefined)
    throw new AppError('request_invalid', `"url" names one channel and goes with no "${other}"`, {
      httpStatus: 400,
    });
}

function addChanging(instance: FastifyInstance, { database: { pool }, config }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/channels',
    {
      schema: {
        operationId: 'addChannel',
        tags,
        summary: 'Poll an address for a source; one that is polled already is answered as it is',
        body: Type.Object(
          {
            source: slug,
            url: address,
            kind: Type.Optional(oneOf(kinds)),
            intervalSeconds: Type.Optional(intervalSeconds),
            title: Type.Optional(text(500)),
          },
          strict,
        ),
        response: { 200: addedShape, 201: addedShape },
      },
    },
    async ({ body, identity }, reply) => {
      const source = await requireSource(pool, body.source);
      // A path is one of the source's own site.
      const named = givenAddress(body.url);
      const url = named.startsWith('/') ? new URL(named, source.url).href : named;
      await requireAllowed(config, url);
      const kind = body.kind ?? 'feed';
      const minutes =
        kind === 'sitemap' ? config.polling.sitemapIntervalMinutes : source.feedPollIntervalMinutes;
      const { channel, created } = await createChannel(pool, {
        sourceId: source.id,
        kind,
        url,
        intervalSeconds: body.intervalSeconds ?? minutes * 60,
        foundBy: 'manual',
        ...(body.title === undefined ? {} : { title: body.title }),
      });
      if (created) await audit(pool, identity.name, 'channel_add', channel);
      return reply.code(created ? 201 : 200).send({ ...(await loadShown(pool, channel.id)), created });
    },
  );
  app.patch(
    '/api/v1/channels/:id',
    {
      schema: {
        operationId: 'updateChannel',
        tags,
        summary: 'Change how often an address is polled, or what it is called',
        params: named,
        body: Type.Object(
          { intervalSeconds: Type.Optional(intervalSeconds), title: Type.Optional(orNull(text(500))) },
          { ...strict, minProperties: 1 },
        ),
        response: { 200: channelShape },
      },
    },
    async ({ params, body, identity }) => {
      const { intervalSeconds, title } = body;
      await updateChannel(
        pool,
        await requireChannel(pool, params.id),
        {
          ...(intervalSeconds === undefined ? {} : { intervalSeconds }),
          ...(title === undefined ? {} : { title }),
        },
        identity.name,
      );
      return loadShown(pool, params.id);
    },
  );
  app.delete(
    '/api/v1/channels/:id',
    {
      schema: {
        operationId: 'deleteChannel',
        tags,
        summary: 'Stop polling a channel for good; what it brought stays',
        params: named,
        response: { 200: answer({ id: serial, deleted: Type.Literal(true) }) },
      },
    },
    async ({ params: { id }, identity }) => {
      const channel = await requireChannel(pool, id);
      if (!(await removeChannel(pool, id))) throw unknownChannel(String(id));
      await audit(pool, identity.name, 'channel_remove', channel);
      return { id, deleted: true as const };
    },
  );
}

function addActs(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const acts = [
    ['poll', 'pollChannel', 'Poll a channel as soon as its domain may be asked', requirePoll(pollChannel)],
    ['reset', 'resetChannel', 'Forget the errors of a channel and poll it', requirePoll(wakeChannel)],
    ['enable', 'enableChannel', 'Poll a channel again', enable(true)],
    ['disable', 'disableChannel', 'Do not poll a channel for now', enable(false)],
  ] as const;
  for (const [path, operationId, summary, act] of acts)
    app.post(
      `/api/v1/channels/:id/${path}`,
      { schema: { operationId, tags, summary, params: named, response: { 200: channelShape } } },
      async ({ params: { id }, identity }) => {
        const channel = await requireChannel(pool, id);
        await act(pool, channel);
        await audit(pool, identity.name, `channel_${path}`, channel);
        return loadShown(pool, id);
      },
    );
}

type Act = (db: Queryable, channel: Channel) => Promise<void>;

const enable =
  (enabled: boolean): Act =>
  (db, { id }) =>
    setChannelEnabled(db, id, enabled);

const refusalWords: Record<PollRefusal | 'no_row', (slug: string) => string> = {
  disabled: () => 'it is disabled',
  source_disabled: (slug) => `its source ${slug} is disabled`,
  links_only: (slug) => `its source ${slug} is followed by links only`,
  no_row: () => 'it has no row to wake',
};

/** A poll that would not happen is refused: of what is disabled, or has no row. */
function requirePoll(wake: (db: Queryable, id: number) => Promise<boolean>): Act {
  return async (db, channel) => {
    const [source] = await loadSources(db, [channel.sourceId]);
    const refusal = refusalOf(channel, source) ?? ((await wake(db, channel.id)) ? null : 'no_row');
    if (refusal === null) return;
    const reason = refusalWords[refusal](source?.slug ?? '');
    throw new AppError('channel_busy', `${channel.url} cannot be polled: ${reason}`, { httpStatus: 409 });
  };
}

const audit = (db: Queryable, actor: string, action: string, channel: Channel): Promise<void> =>
  saveAudit(db, { actor, action, subject: String(channel.id), detail: { url: channel.url } });

async function requireChannel(db: Queryable, id: number): Promise<Channel> {
  const channel = await findChannel(db, id);
  if (channel === null) throw unknownChannel(String(id));
  return channel;
}

async function loadShown(db: Queryable, id: number) {
  const [shown] = await shownAll(db, await listChannels(db, { ids: [id], limit: 1, files: true }));
  if (shown === undefined) throw unknownChannel(String(id));
  return shown;
}

async function shownAll(db: Queryable, channels: readonly ChannelStatus[]) {
  const pushes = await loadPushStates(
    db,
    channels.map((one) => one.id),
  );
  const paces = await loadPaces(db, channels, Date.now());
  return channels.flatMap((one) => {
    const pace = paces.get(one.id);
    return pace === undefined ? [] : [shownChannel(one, pace, pushes.get(one.id) ?? null)];
  });
}
