import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { actOnFailing, actOnNamed, channelActions, countFailing } from '../channels/index.ts';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { requireSource } from '../sources/index.ts';
import { kinds } from './channel-schemas.ts';
import { parseCursor, serialRange, writeCursor } from './cursors.ts';
import { names } from './each.ts';
import { answer, count, counted, cursor, limit, oneOf, orNull, serial, slug, strict } from './schemas.ts';

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
        summary:
          'Poll, reset, enable or disable channels: those that fail, a portion at a time, or up to 500 that are named',
        description:
          'Give a filter with the action poll or reset, and call again with the cursor until it is null; or give ids. `total` is how many matched before this call; a dry run answers the same and changes nothing.',
        body: Type.Object(
          {
            action: oneOf([...channelActions, 'enable', 'disable'] as const),
            ids: Type.Optional(names(serial)),
            filter: Type.Optional(
              Type.Object(
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
                'polled, reset, enabled, disabled, or refused:disabled, refused:source_disabled, refused:links_only, refused:no_row, refused:unknown',
            }),
            total: counted,
            cursor: orNull(Type.String()),
          }),
        },
      },
    },
    async ({ body, identity }) => {
      const { action, ids } = body;
      if (ids !== undefined) {
        if (body.filter !== undefined || body.cursor !== undefined || body.dryRun !== undefined)
          throw invalid('ids go with an action alone: without filter, cursor and dryRun');
        const outcomes = await actOnNamed(pool, ids, { action, actor: identity.name });
        const total = { count: ids.length, exact: true };
        return { dryRun: false, matched: ids.length, outcomes, total, cursor: null };
      }
      if (body.filter === undefined) throw invalid('give either a filter, or ids');
      if (action === 'enable' || action === 'disable') throw invalid(`to ${action} channels give their ids`);
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
        action,
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

const invalid = (detail: string): AppError => new AppError('request_invalid', detail, { httpStatus: 400 });
