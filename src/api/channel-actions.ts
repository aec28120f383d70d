import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { actOnFailing, channelActions, countFailing } from '../channels/index.ts';
import type { Database } from '../db/index.ts';
import { requireSource } from '../sources/index.ts';
import { kinds } from './channel-schemas.ts';
import { parseCursor, serialRange, writeCursor } from './cursors.ts';
import { answer, count, counted, cursor, limit, oneOf, orNull, slug, strict } from './schemas.ts';

/** `POST /api/v1/channels/actions`: one act for all channels that fail. */
export function addChannelActions(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.post(
    '/api/v1/channels/actions',
    {
      schema: {
        operationId: 'actOnChannels',
        tags: ['channels'],
        summary: 'Poll the channels that fail, or forget their errors as well, a portion at a time',
        description:
          'Call again with the cursor until it is null. `total` is how many matched before this call; a dry run answers the same and changes nothing.',
        body: Type.Object(
          {
            action: oneOf(channelActions),
            filter: Type.Object(
              {
                state: oneOf(['failing'] as const),
                source: Type.Optional(slug),
                kind: Type.Optional(oneOf(kinds)),
                files: Type.Optional(
                  Type.Boolean({ description: 'also the files that sitemap indexes name' }),
                ),
              },
              strict,
            ),
            dryRun: Type.Optional(Type.Boolean()),
            limit: limit(1000, 500),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: {
          200: answer({
            dryRun: Type.Boolean(),
            matched: count,
            outcomes: Type.Record(Type.String(), count, {
              description:
                'polled, reset, or refused:disabled, refused:source_disabled, refused:links_only, refused:no_row',
            }),
            total: counted,
            cursor: orNull(Type.String()),
          }),
        },
      },
    },
    async ({ body, identity }) => {
      const { source, kind, files } = body.filter;
      const filter = {
        ...(source === undefined ? {} : { sourceId: (await requireSource(pool, source)).id }),
        ...(kind === undefined ? {} : { kind }),
        ...(files === undefined ? {} : { files }),
      };
      const [errorsInRow, id] =
        body.cursor === undefined ? [] : parseCursor(body.cursor, [serialRange, serialRange]);
      const dryRun = body.dryRun ?? false;
      const total = await countFailing(pool, filter);
      const { matched, outcomes, next } = await actOnFailing(pool, filter, {
        action: body.action,
        actor: identity.name,
        limit: body.limit,
        dryRun,
        shown: body.filter,
        ...(id === undefined ? {} : { after: { errorsInRow: Number(errorsInRow), id: Number(id) } }),
      });
      return {
        dryRun,
        matched,
        outcomes: { ...outcomes },
        total,
        cursor: next === null ? null : writeCursor([next.errorsInRow, next.id]),
      };
    },
  );
}
