import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Database, Queryable } from '../db/index.ts';
import {
  type DocumentFilter,
  type DocumentHit,
  documentRecord,
  hasChangesSince,
  listRecentDocuments,
  loadChanges,
  loadCluster,
  loadDocument,
  loadLastPlace,
  loadSightings,
  loadVersions,
  resolveFilter,
  saveVerdicts,
  searchDocuments,
} from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { requireSource } from '../sources/index.ts';
import { urlId } from '../url/index.ts';
import { strict } from './fields.ts';

const slug = Type.String({ minLength: 1, maxLength: 200, description: 'slug of a source' });
const day = Type.String({ minLength: 4, maxLength: 40, description: 'date or time, as ISO 8601 writes it' });
const status = Type.Union([Type.Literal('pending'), Type.Literal('classified'), Type.Literal('failed')]);
const place = Type.String({ pattern: '^(\\d{1,18}|now)$', description: 'number of a change, or "now"' });
// Plain values only: they are shown, filtered by and delivered, and nobody looks deeper.
const scalar = Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean(), Type.Null()]);
const labels = Type.Record(
  Type.String({ pattern: '^[\\w.:-]{1,100}$' }),
  Type.Union([scalar, Type.Array(scalar, { maxItems: 100 })]),
  { maxProperties: 100, additionalProperties: false },
);
const verdict = {
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  status: Type.Union([Type.Literal('classified'), Type.Literal('failed')]),
  labels: Type.Optional(labels),
};

/** The options of a change feed. */
export const changeQuery = {
  source: Type.Optional(slug),
  status: Type.Optional(status),
  after: Type.Optional(place),
};

/** Documents: search, read, follow, and write verdicts back. */
export function addDocumentRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/documents',
    {
      schema: {
        summary: 'Newest documents, or the best matches of a search among its newest 500',
        querystring: Type.Object(
          {
            q: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
            source: Type.Optional(slug),
            domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
            language: Type.Optional(Type.String({ pattern: '^[a-z]{2}$' })),
            since: Type.Optional(day),
            until: Type.Optional(day),
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 20 }),
          },
          strict,
        ),
      },
    },
    async ({ query }) => {
      const { q: _q, limit: _limit, ...named } = query;
      const filter = await filterOf(pool, named);
      if (query.q === undefined)
        return { items: (await listRecentDocuments(pool, query.limit, filter)).map(shown) };
      const { hits, ranked } = await searchDocuments(pool, query.q, { ...filter, limit: query.limit });
      return { items: hits.map(shown), ranked };
    },
  );
  app.get(
    '/api/v1/documents/changes',
    {
      schema: {
        summary: 'Documents that are new, changed or judged, in order, a page at a time',
        description:
          'Read on from `next`; it moves on past changes that the filter leaves out. `more` says that there are others already.',
        querystring: Type.Object(
          { ...changeQuery, limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }) },
          strict,
        ),
      },
    },
    async ({ query }) => {
      const after = await placeOf(pool, query.after);
      const found = await loadChanges(pool, after, {
        ...(await changeFilter(pool, query)),
        limit: query.limit,
      });
      return {
        items: found.changes.map((one) => ({ place: one.place.toString(), document: one.document })),
        next: found.place.toString(),
        more: found.place < (await loadLastPlace(pool)),
      };
    },
  );
  app.get(
    '/api/v1/documents/:id',
    {
      schema: {
        summary: 'One document with its text, its copies, its versions and who told of it',
        params: Type.Object({ id: Type.String() }),
      },
    },
    async ({ params }) => {
      const document = await loadDocument(pool, params.id);
      if (document === null) throw unknownDocument(params.id);
      return {
        ...documentRecord(document),
        copies: (await loadCluster(pool, params.id))?.members ?? [],
        versions: await loadVersions(pool, document),
        sightings: await loadSightings(pool, document),
      };
    },
  );
  app.put(
    '/api/v1/documents/:id/verdict',
    {
      schema: {
        summary: "Write a classifier's verdict on one version of a document",
        params: Type.Object({ id: Type.String() }),
        body: Type.Object(verdict, strict),
      },
    },
    async ({ params, body }) => {
      const [outcome] = await saveVerdicts(database, [{ labels: {}, ...body, id: params.id }]);
      if (outcome === 'unknown_document') throw unknownDocument(params.id);
      if (outcome === 'changed_since')
        throw new AppError('changed_since', `${params.id} has another version than ${body.version} by now`, {
          httpStatus: 409,
          advice: 'Read it again and judge what it says now.',
        });
      return { id: params.id, outcome };
    },
  );
  app.post(
    '/api/v1/documents/verdicts',
    {
      schema: {
        summary: 'Write up to 1,000 verdicts, each by itself',
        body: Type.Object(
          {
            verdicts: Type.Array(Type.Object({ id: Type.String({ maxLength: 100 }), ...verdict }, strict), {
              minItems: 1,
              maxItems: 1000,
            }),
          },
          strict,
        ),
      },
    },
    async ({ body }) => {
      const outcomes = await saveVerdicts(
        database,
        body.verdicts.map((one) => ({ labels: {}, ...one })),
      );
      return { items: outcomes.map((outcome, index) => ({ id: body.verdicts[index]!.id, outcome })) };
    },
  );
}

/** Where a reader goes on; from the beginning unless said. */
export async function placeOf(db: Queryable, after: string | undefined): Promise<bigint> {
  if (after === 'now') return loadLastPlace(db);
  const place = BigInt(after ?? 0);
  if (await hasChangesSince(db, place)) return place;
  throw new AppError('changes_gone', `changes after ${place} are not kept any more`, {
    httpStatus: 410,
    advice: 'Begin anew without "after", or read the documents themselves.',
  });
}

/** What a reader of changes wants, with the source found. */
export async function changeFilter(
  db: Queryable,
  query: { source?: string; status?: 'pending' | 'classified' | 'failed' },
): Promise<{ sourceId?: number; status?: 'pending' | 'classified' | 'failed' }> {
  return {
    ...(query.source === undefined ? {} : { sourceId: (await requireSource(db, query.source)).id }),
    ...(query.status === undefined ? {} : { status: query.status }),
  };
}

type FilterQuery = { source?: string; domain?: string; language?: string; since?: string; until?: string };

function filterOf(db: Queryable, { since, until, ...named }: FilterQuery): Promise<DocumentFilter> {
  return resolveFilter(db, {
    ...named,
    ...(since === undefined ? {} : { since: dateOf('since', since) }),
    ...(until === undefined ? {} : { until: dateOf('until', until) }),
  });
}

function dateOf(name: string, text: string): Date {
  const ms = Date.parse(text);
  if (!Number.isFinite(ms))
    throw new AppError('request_invalid', `"${name}" is no date: ${text}`, { httpStatus: 400 });
  return new Date(ms);
}

const unknownDocument = (id: string): AppError =>
  new AppError('document_unknown', `there is no document ${id.slice(0, 100)}`, { httpStatus: 404 });

const shown = ({ domainKey, hash, ...rest }: DocumentHit) => ({ id: urlId(domainKey, hash), ...rest });
