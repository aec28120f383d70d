import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { removeSource } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { setSourceEnabled, unknownSource } from '../sources/index.ts';
import { actOnEach, eachShape, names } from './each.ts';
import { stayWith } from './long-work.ts';
import { oneOf, slug, strict } from './schemas.ts';
import { reasonText, requireAdmin } from './source-schemas.ts';

/** `POST /api/v1/sources/actions`: one act for many sources. */
export function addSourceActions(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.post(
    '/api/v1/sources/actions',
    {
      schema: {
        operationId: 'actOnSources',
        tags: ['sources'],
        summary: 'Enable, disable or delete up to 500 sources',
        description:
          'A call works for some seconds; call again with those that are `left`. To delete needs the admin role, to disable a reason.',
        body: Type.Object(
          {
            action: oneOf(['enable', 'disable', 'delete'] as const),
            slugs: names(slug),
            reason: Type.Optional(reasonText),
            documents: Type.Optional({
              ...oneOf(['keep', 'delete'] as const),
              description: 'what becomes of the documents of what is deleted; keep unless said',
            }),
          },
          strict,
        ),
        response: { 200: eachShape(Type.String()) },
      },
    },
    async ({ body: { action, slugs, reason, documents }, identity: { name: actor, role }, raw }) => {
      if (action === 'delete') requireAdmin({ name: actor, role }, 'to delete sources');
      else if (documents !== undefined) throw invalid('documents goes with the action delete');
      if (action === 'disable' && reason === undefined) throw invalid('to disable sources needs a reason');
      stayWith(raw);
      return actOnEach(slugs, async (name) => {
        if (action === 'delete')
          return removeSource(database, name, { documents: documents ?? 'keep', actor });
        const act = { actor, reason: reason ?? null };
        const source = await setSourceEnabled(pool, name, action === 'enable', act);
        if (source === null) throw unknownSource(name);
        return source;
      });
    },
  );
}

const invalid = (detail: string): AppError => new AppError('request_invalid', detail, { httpStatus: 400 });
