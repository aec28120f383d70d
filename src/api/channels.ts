import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { listChannels, loadPushStates } from '../channels/index.ts';
import type { Database } from '../db/index.ts';
import { limit, strict } from './fields.ts';

/** Channels: the feeds and sitemaps that are polled. */
export function addChannelRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/channels',
    {
      schema: {
        summary: 'Channels with their polls and pushes, trouble first',
        querystring: Type.Object({ limit: limit(1000, 100) }, strict),
      },
    },
    async (request) => {
      const channels = await listChannels(pool, request.query);
      const pushes = await loadPushStates(
        pool,
        channels.map((one) => one.id),
      );
      return {
        items: channels.map(
          ({ hash: _hash, rhythm: _rhythm, polls, notModified, itemsSeen, itemsNew, ...rest }) => ({
            ...rest,
            polls: Number(polls),
            notModified: Number(notModified),
            itemsSeen: Number(itemsSeen),
            itemsNew: Number(itemsNew),
            push: pushes.get(rest.id) ?? null,
          }),
        ),
      };
    },
  );
}
