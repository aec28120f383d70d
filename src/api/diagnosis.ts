import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { diagnose } from '../diagnose/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { answers, date, strict } from './schemas.ts';
import { shareAnswer } from './shared-answer.ts';

const state = Type.Union([Type.Literal('ok'), Type.Literal('warn'), Type.Literal('fail')]);
const diagnosis = Type.Object(
  {
    at: date,
    state,
    findings: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'what was looked at; several findings may share it' }),
          state,
          sentence: Type.String({ description: 'what was found, in words' }),
          advice: Type.Union([Type.String(), Type.Null()], { description: 'what to do about it' }),
        },
        strict,
      ),
    ),
  },
  strict,
);

// A look reads the whole outbox and asks DNS: many dashboards that ask at once share one.
const lifeMs = 5000;

/** `GET /api/v1/diagnosis`: what `outrider doctor` sees, from the server. */
export function addDiagnosisRoutes(
  instance: FastifyInstance,
  { database, config, version, clock }: { database: Database; config: Config; version: string; clock: Clock },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const load = shareAnswer(clock, lifeMs, async () => ({
    ...(await diagnose({ config, version, open: async () => database, withPort: false })),
    at: new Date(clock.now()),
  }));
  app.get(
    '/api/v1/diagnosis',
    {
      schema: {
        operationId: 'getDiagnosis',
        tags: ['operate'],
        summary: 'What is wrong with the server, its database and its processes, in words',
        querystring: Type.Object({}, strict),
        response: answers(diagnosis),
      },
    },
    load,
  );
}
