import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Database, loadDatabaseFacts } from '../db/index.ts';
import { loadScale } from '../frontier/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { answer, answers, count, date, orNull, strict } from './schemas.ts';
import { shareAnswer } from './shared-answer.ts';

const mostTables = 15;
const sharedMs = 10_000;

const tableShape = answer({
  name: Type.String(),
  rows: Type.Number({ description: 'estimated' }),
  tableBytes: count,
  indexBytes: count,
  toastBytes: Type.Integer({ minimum: 0, description: 'long values, which lie beside the table' }),
  totalBytes: count,
  deadShare: Type.Number({
    description: 'rows that are deleted or replaced and not cleared away yet, 0 to 1',
  }),
  lastVacuumAt: orNull(date),
  parts: Type.Integer({ minimum: 0, description: 'parts of a partitioned table; 0: it is none' }),
});

const databaseShape = answer({
  at: Type.Unsafe<Date>({ type: 'string', description: 'when this was looked at; shared for 10 s' }),
  version: Type.String(),
  startedAt: date,
  sizeBytes: count,
  connections: answer({ used: count, most: count }),
  oldestTransactionMs: orNull(Type.Number({ description: 'null: none is under way' })),
  transactionAge: Type.Number({ description: 'at 2,000 million the server would stop' }),
  migration: count,
  scale: answer({
    mode: Type.Union([Type.Literal('single'), Type.Literal('buckets'), Type.Literal('citus')], {
      description: 'leases are taken over all domains, bucket by bucket, or so from tables that are spread',
    }),
    distributed: Type.Integer({ minimum: 0, description: 'hot tables that are spread over a cluster' }),
    nodes: Type.Integer({ minimum: 0, description: 'servers that hold their parts' }),
  }),
  rawPageBytes: Type.Integer({ minimum: 0, description: 'pages as they came' }),
  tables: Type.Array(tableShape, { description: `the largest ${mostTables}, the largest first` }),
});

/** `GET /api/v1/database`: how large the database is and how it does. */
export function addDatabaseRoutes(
  instance: FastifyInstance,
  { database, clock }: { database: Database; clock: Clock },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  // The files of the database are looked at once for all screens that watch.
  const load = shareAnswer(clock, sharedMs, async () => {
    const facts = await loadDatabaseFacts(database.pool, mostTables);
    const { mode, distributed, nodes } = await loadScale(database.pool);
    return { ...facts, scale: { mode, distributed, nodes } };
  });
  app.get(
    '/api/v1/database',
    {
      schema: {
        operationId: 'getDatabase',
        tags: ['health'],
        summary: `Version, size, connections and the largest ${mostTables} tables of the database`,
        description: 'From the statistics of the server; numbers of rows are estimated.',
        querystring: Type.Object({}, strict),
        response: answers(databaseShape),
      },
    },
    load,
  );
}
