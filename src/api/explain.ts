import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { explain, type Subject } from '../explain/index.ts';
import { answers, date, oneOf, orNull, strict } from './schemas.ts';

/** Why something is where it is, in words and as data. */
export function addExplainRoutes(
  instance: FastifyInstance,
  { database, config }: { database: Database; config: Config },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/explain',
    {
      schema: {
        operationId: 'explain',
        tags: ['explain'],
        summary:
          'Where a URL, a domain or a channel stands, why it was not fetched yet, and when it is expected',
        description: 'Give one of the three. An address that is a page and a channel too has two answers.',
        querystring: Type.Object(
          {
            url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
            domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
            channel: Type.Optional(
              Type.String({ minLength: 1, maxLength: 2048, description: 'its number or address' }),
            ),
          },
          strict,
        ),
        response: answers(
          Type.Object({
            items: Type.Array(
              Type.Object({
                subject: oneOf(['url', 'domain', 'channel']),
                name: Type.String(),
                state: Type.String(),
                text: Type.String({ description: 'the answer as one paragraph' }),
                sentences: Type.Array(Type.String()),
                expectedAt: orNull(date),
                advice: Type.Array(Type.String({ description: 'a command that would change something' })),
                facts: Type.Record(Type.String(), Type.Unknown(), {
                  description: 'what the answer was made from',
                }),
              }),
            ),
          }),
        ),
      },
    },
    async ({ query }) => {
      const found = await explain(database.pool, subjectOf(query), {
        defaultDelayMs: config.fetch.defaultDelayMs,
        productToken: config.fetch.productToken,
        defaultBudget: config.domains.maxPagesPerRun,
      });
      return { items: found.map((one) => ({ ...one, text: `${one.state}. ${one.sentences.join(' ')}` })) };
    },
  );
}

function subjectOf(query: { url?: string; domain?: string; channel?: string }): Subject {
  const given = Object.entries(query);
  const [first] = given;
  if (first === undefined || given.length > 1)
    throw new AppError('request_invalid', 'give exactly one of url, domain and channel', { httpStatus: 400 });
  return { [first[0]]: first[1] } as Subject;
}
