import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { identifyKnown } from '../frontier/index.ts';
import { type ImagePlace, pageImages } from '../images/index.ts';
import { requireSource } from '../sources/index.ts';
import type { UrlIdentity } from '../url/index.ts';
import { answer, count, cursor, date, limit, orNull, page, serial, slug, strict, text } from './schemas.ts';

const imageShape = answer({
  url: Type.String(),
  pageUrl: orNull(Type.String({ description: 'the document that shows it' })),
  sourceId: orNull(serial),
  status: Type.String({ description: 'state of its address in the frontier' }),
  errorCode: orNull(Type.String()),
  sha256: orNull(Type.String({ description: 'null: it is not stored' })),
  format: orNull(Type.String()),
  width: orNull(count),
  height: orNull(count),
  bytes: orNull(count),
  perceptualHash: orNull(Type.String({ description: '64 bits; alike images differ in few of them' })),
  storedIn: orNull(Type.String()),
  firstSeenAt: date,
  lastSeenAt: date,
});

/** Images that documents show, and what became of them. Their bytes are not served: they are other people's. */
export function addImageRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/images',
    {
      schema: {
        operationId: 'listImages',
        tags: ['documents'],
        summary: 'Images that documents show, newest first, and what became of them',
        querystring: Type.Object(
          {
            source: Type.Optional(slug),
            document: Type.Optional(text(2048, { description: 'address of the document that shows them' })),
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: { 200: page(imageShape) },
      },
    },
    async ({ query }) => {
      const after = query.cursor === undefined ? undefined : parsePlace(query.cursor);
      const document = query.document === undefined ? undefined : await documentOf(pool, query.document);
      const { rows, next } = await pageImages(pool, {
        limit: query.limit,
        ...(query.source === undefined ? {} : { sourceId: (await requireSource(pool, query.source)).id }),
        ...(document === undefined ? {} : { page: document }),
        ...(after === undefined ? {} : { after }),
      });
      return { items: rows, cursor: next === null ? null : writePlace(next) };
    },
  );
}

async function documentOf(db: Queryable, url: string): Promise<UrlIdentity> {
  const identified = await identifyKnown(db, url);
  if (identified.outcome === 'ok') return identified.identity;
  throw new AppError('request_invalid', '"document" is no address of a document', { httpStatus: 400 });
}

const writePlace = ({ firstSeenUs, hash, pageHash }: ImagePlace): string =>
  `${firstSeenUs}.${hash.toString('hex')}.${pageHash.toString('hex')}`;

function parsePlace(given: string): ImagePlace {
  // 17 digits of microseconds reach into the year 5138: beyond lies no time that was ever seen.
  const [, us, hash, pageHash] = /^(\d{1,17})\.([0-9a-f]{64})\.([0-9a-f]{64})$/.exec(given) ?? [];
  if (us === undefined || hash === undefined || pageHash === undefined)
    throw new AppError('cursor_invalid', 'this is not a cursor that this list has answered', {
      httpStatus: 400,
      advice: 'Begin again without a cursor.',
    });
  return { firstSeenUs: BigInt(us), hash: Buffer.from(hash, 'hex'), pageHash: Buffer.from(pageHash, 'hex') };
}
