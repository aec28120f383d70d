import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { loadSourceDays, type SourceDays } from '../frontier/index.ts';
import { findSourceIds } from '../sources/index.ts';
import { answer, count, orNull, strict } from './schemas.ts';

const days = 14;
const mostSources = 100;

const daily = (description: string) => Type.Array(count, { minItems: days, maxItems: days, description });

const activityShape = answer({
  slug: Type.String(),
  documents: daily('documents that are new'),
  found: daily('addresses that were not known before'),
  errors: daily('requests that failed'),
  requests: daily('requests for pages, feeds, sitemaps and images'),
  pages: daily('pages that were answered'),
  totals: answer({ documents: count, found: count, errors: count, requests: count, pages: count }),
  yield: orNull(Type.Number({ description: 'documents per page; null: no page was answered' })),
});

/** `GET /api/v1/sources/activity`: how sources did lately, for the marks beside their names. */
export function addSourceActivity(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/sources/activity',
    {
      schema: {
        operationId: 'listSourceActivity',
        tags: ['sources'],
        summary: `What some sources brought on each of the last ${days} days`,
        description:
          'Days are those of UTC, the oldest first; the last one is `until`, which goes on. Names that no source has are told as `unknown`.',
        querystring: Type.Object(
          {
            slugs: Type.String({
              pattern: `^[a-z0-9_]{1,600}(,[a-z0-9_]{1,600}){0,${mostSources - 1}}$`,
              description: `short names of at most ${mostSources} sources, with commas between them`,
            }),
          },
          strict,
        ),
        response: {
          200: answer({
            until: Type.String({ description: 'the last day, as 2026-11-16' }),
            items: Type.Array(activityShape),
            unknown: Type.Array(Type.String()),
          }),
        },
      },
    },
    async ({ query }) => {
      const slugs = [...new Set(query.slugs.split(','))];
      const ids = await findSourceIds(database.pool, slugs);
      const known = slugs.filter((slug) => ids.has(slug));
      const { until, sources } = await loadSourceDays(
        database.pool,
        known.map((slug) => ids.get(slug)!),
        days,
      );
      return {
        until,
        items: sources.map((source, index) => shown(known[index]!, source)),
        unknown: slugs.filter((slug) => !ids.has(slug)),
      };
    },
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

function shown(slug: string, { documents, inserted: found, errors, requests, pages }: SourceDays) {
  const totals = {
    documents: sum(documents),
    found: sum(found),
    errors: sum(errors),
    requests: sum(requests),
    pages: sum(pages),
  };
  return {
    slug,
    documents,
    found,
    errors,
    requests,
    pages,
    totals,
    yield: totals.pages === 0 ? null : totals.documents / totals.pages,
  };
}
