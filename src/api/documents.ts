import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { findChannelIds } from '../channels/index.ts';
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
  loadVersionText,
  resolveFilter,
  type StoredDocument,
  saveVerdicts,
  searchDocuments,
  unifiedDiff,
} from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { requireSource } from '../sources/index.ts';
import { urlId } from '../url/index.ts';
import { parseCursor, parseDocumentPlace, serialRange, writeCursor, writeDocumentPlace } from './cursors.ts';
import { classification, hitShape, recordFields, versionShape, wholeShape } from './document-schemas.ts';
import {
  answer,
  count,
  cursor,
  givenDate,
  limit,
  oneOf,
  orNull,
  pageFields,
  parseDate,
  serial,
  slug,
  strict,
  text,
} from './schemas.ts';

const tags = ['documents'];
const place = Type.String({ pattern: '^(\\d{1,18}|now)$', description: 'number of a change, or "now"' });
// Plain values only: they are shown, filtered by and delivered, and nobody looks deeper.
const scalar = Type.Union([text(1000, { least: 0 }), Type.Number(), Type.Boolean(), Type.Null()]);
const labels = Type.Record(
  Type.String({ pattern: '^[\\w.:-]{1,100}$' }),
  Type.Union([scalar, Type.Array(scalar, { maxItems: 100 })]),
  { maxProperties: 100, additionalProperties: false },
);
const verdict = {
  version: serial,
  status: classification,
  labels: Type.Optional(labels),
};

/** The options of a change feed. */
export const changeQuery = {
  source: Type.Optional(slug),
  status: Type.Optional(classification),
  after: Type.Optional(place),
};

const named = Type.Object({ id: text(200) }, strict);

/** Documents: search, read, follow, and write verdicts back. */
export function addDocumentRoutes(instance: FastifyInstance, options: { database: Database }): void {
  addReading(instance, options);
  addHistory(instance, options);
  addVerdicts(instance, options);
}

function addReading(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/documents',
    {
      schema: {
        operationId: 'searchDocuments',
        tags,
        summary: 'Newest documents, or the best matches of a search among its newest 500',
        response: {
          200: answer({
            ...pageFields(hitShape),
            ranked: Type.Optional(Type.Integer({ description: 'matches that were compared' })),
          }),
        },
        querystring: Type.Object(
          {
            q: Type.Optional(text(500)),
            source: Type.Optional(slug),
            domain: Type.Optional(text(253)),
            language: Type.Optional(Type.String({ pattern: '^[a-z]{2,3}$' })),
            since: Type.Optional(givenDate),
            until: Type.Optional(givenDate),
            limit: limit(1000, 20),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
      },
    },
    async ({ query }) => {
      const { q: _q, limit: _limit, cursor: given, ...named } = query;
      const filter = await filterOf(pool, named);
      if (query.q === undefined) {
        const after = given === undefined ? {} : { after: parseDocumentPlace(given) };
        const hits = await listRecentDocuments(pool, query.limit, { ...filter, ...after });
        const last = hits.length === query.limit ? hits.at(-1) : undefined;
        return {
          items: hits.map(({ crawledUs: _us, ...hit }) => shown(hit)),
          cursor: last === undefined ? null : writeDocumentPlace(last),
        };
      }
      const [skipped = 0n] = given === undefined ? [] : parseCursor(given, [serialRange]);
      const skip = Number(skipped);
      const { hits, ranked } = await searchDocuments(pool, query.q, { ...filter, limit: query.limit, skip });
      const next = skip + hits.length;
      return {
        items: hits.map(shown),
        cursor: hits.length > 0 && next < ranked ? writeCursor([next]) : null,
        ranked,
      };
    },
  );
  app.get(
    '/api/v1/documents/changes',
    {
      schema: {
        operationId: 'listChanges',
        tags,
        summary: 'Documents that are new, changed or judged, in order, a page at a time',
        response: {
          200: answer({
            items: Type.Array(answer({ place: Type.String(), document: answer(recordFields) })),
            next: Type.String(),
            more: Type.Boolean(),
          }),
        },
        description:
          'Read on from `next`; it moves on past changes that the filter leaves out. `more` says that there are others already.',
        querystring: Type.Object({ ...changeQuery, limit: limit(500, 100) }, strict),
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
        operationId: 'getDocument',
        tags,
        summary: 'One document with its text, its copies, its versions and who told of it',
        params: named,
        response: { 200: wholeShape },
      },
    },
    async ({ params }) => {
      const document = await loadDocument(pool, params.id);
      if (document === null) throw unknownDocument(params.id);
      const cluster = await loadCluster(pool, params.id);
      const sightings = await loadSightings(pool, document);
      const channels = await findChannelIds(
        pool,
        sightings.flatMap(({ parentUrl }) => parentUrl ?? []),
      );
      return {
        ...documentRecord(document),
        source_name: document.sourceName,
        last_seen_at: document.lastSeenAt,
        confidence: document.confidence,
        meta: document.meta,
        copies: cluster?.members ?? [],
        copyCount: cluster?.size ?? 0,
        versions: await loadVersions(pool, document),
        sightings: sightings.map((one) => ({ ...one, channelId: channels.get(one.parentUrl ?? '') ?? null })),
      };
    },
  );
}

function addHistory(instance: FastifyInstance, { database: { pool } }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/documents/:id/versions',
    {
      schema: {
        operationId: 'listVersions',
        tags,
        summary: 'The versions of a document that are kept, newest first, at most 200',
        params: named,
        response: { 200: answer({ items: Type.Array(versionShape) }) },
      },
    },
    async ({ params }) => ({
      items: await loadVersions(pool, requireKey(params.id, await loadDocument(pool, params.id))),
    }),
  );
  app.get(
    '/api/v1/documents/:id/diff',
    {
      schema: {
        operationId: 'diffVersions',
        tags,
        summary: 'What differs between the texts of two versions, as a unified diff',
        description:
          'Without `to` the newest version, without `from` the one before it. `coarse` says that the texts differ too much to be compared line by line.',
        params: named,
        querystring: Type.Object({ from: Type.Optional(serial), to: Type.Optional(serial) }, strict),
        response: {
          200: answer({
            id: Type.String(),
            from: versionTitle,
            to: versionTitle,
            unified: Type.String(),
            removed: count,
            added: count,
            coarse: Type.Boolean(),
          }),
        },
      },
    },
    async ({ params: { id }, query }) => {
      const document = requireKey(id, await loadDocument(pool, id));
      const to = query.to ?? document.version;
      const from = query.from ?? to - 1;
      const [before, after] = [
        await requireVersion(pool, document, from),
        await requireVersion(pool, document, to),
      ];
      const { unified, removed, added, isCoarse } = unifiedDiff(before.text, after.text);
      return {
        id,
        from: { version: from, title: before.title },
        to: { version: to, title: after.title },
        unified,
        removed,
        added,
        coarse: isCoarse,
      };
    },
  );
}

const versionTitle = answer({ version: serial, title: orNull(Type.String()) });

function requireKey(id: string, document: StoredDocument | null): StoredDocument {
  if (document === null) throw unknownDocument(id);
  return document;
}

async function requireVersion(
  db: Queryable,
  document: StoredDocument,
  version: number,
): Promise<{ title: string | null; text: string }> {
  const found = version < 1 ? null : await loadVersionText(db, document, version);
  if (found !== null) return found;
  const what =
    version < 1
      ? `version 1 of ${document.url} is the first, there is none before it`
      : `version ${version} of ${document.url} is not kept`;
  throw new AppError('version_unknown', what, {
    httpStatus: 404,
    advice: 'GET /api/v1/documents/ID/versions lists those that are.',
  });
}

function addVerdicts(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.patch(
    '/api/v1/documents/:id/classification',
    {
      schema: {
        operationId: 'classifyDocument',
        tags,
        summary: "Write a classifier's verdict on one version of a document; pending takes it back",
        params: named,
        body: Type.Object(verdict, strict),
        response: { 200: answer({ id: Type.String(), outcome: Type.Literal('saved') }) },
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
      return { id: params.id, outcome: 'saved' as const };
    },
  );
  app.post(
    '/api/v1/documents/verdicts',
    {
      schema: {
        operationId: 'classifyDocuments',
        tags,
        summary: 'Write up to 1,000 verdicts, each by itself',
        response: {
          200: answer({
            items: Type.Array(
              answer({
                id: Type.String(),
                outcome: oneOf(['saved', 'unknown_document', 'changed_since'] as const),
              }),
            ),
          }),
        },
        body: Type.Object(
          {
            verdicts: Type.Array(Type.Object({ id: text(100), ...verdict }, strict), {
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
  throw new AppError(
    'changes_gone',
    `changes after ${place} are not kept any more, or it is a place of another database`,
    {
      httpStatus: 410,
      advice: 'Begin anew without "after", or read the documents themselves.',
    },
  );
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
    ...(since === undefined ? {} : { since: parseDate('since', since) }),
    ...(until === undefined ? {} : { until: parseDate('until', until) }),
  });
}

const unknownDocument = (id: string): AppError =>
  new AppError('document_unknown', `there is no document ${id.slice(0, 100)}`, { httpStatus: 404 });

const shown = ({ domainKey, hash, ...rest }: DocumentHit) => ({ id: urlId(domainKey, hash), ...rest });
