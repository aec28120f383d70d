import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { loadLeases, loadWorkers } from '../domains/index.ts';
import { loadRecoveredLeases } from '../frontier/index.ts';
import { describeLoop, presentOf, readLoops, restartsLately } from '../resilience/index.ts';
import { answer, answers, count, date, oneOf, orNull, strict } from './schemas.ts';

const nothing = Type.Object({}, strict);
const days = 14;

const loopShape = answer({
  name: Type.String(),
  state: oneOf(['ok', 'failing', 'broken', 'still']),
  sentence: Type.String({ description: 'how it does, in words' }),
  lastTurnAt: orNull(date),
  errorsInRow: count,
  lastError: orNull(Type.String()),
  backlog: orNull(Type.Integer({ description: 'what waits for it, as far as it knows' })),
});

const memoryShape = answer({
  usedBytes: count,
  limitBytes: count,
});

const restartShape = answer({
  lastHour: Type.Integer({ description: 'how often its supervisor has replaced it' }),
  sentence: Type.String({ description: 'the same in words, with the last reason' }),
});

function shownLoops(stored: unknown): object[] {
  const loops = readLoops(stored);
  const now = presentOf(loops);
  return loops.map((loop) => {
    const { state, text } = describeLoop(loop, now);
    return {
      name: loop.name,
      state,
      sentence: text,
      lastTurnAt: loop.lastTurnAt === null ? null : new Date(loop.lastTurnAt),
      errorsInRow: loop.errorsInRow,
      lastError: loop.lastError?.slice(0, 1000) ?? null,
      backlog: loop.backlog ?? null,
    };
  });
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function shownMemory(stored: unknown): object | null {
  const { usedBytes, limitBytes } = (stored ?? {}) as Record<string, unknown>;
  return isSize(usedBytes) && isSize(limitBytes) ? { usedBytes, limitBytes } : null;
}

function shownRestarts(stored: unknown): object {
  const { lastHour, text } = restartsLately(stored, Date.now());
  return { lastHour, sentence: text };
}

/** Who works, and what they hold. */
export function addWorkerRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains/leases',
    {
      schema: {
        operationId: 'listLeases',
        tags: ['workers'],
        summary:
          'Leases by worker, with the earliest end, how many have expired, and how many were recovered lately',
        querystring: nothing,
        response: answers(
          Type.Object({
            workers: Type.Array(
              Type.Object({
                owner: Type.String(),
                leases: Type.Integer(),
                earliestExpiry: date,
                expired: Type.Integer(),
              }),
            ),
            expired: Type.Integer({ description: 'past their end, and not taken over yet' }),
            recovered: Type.Array(count, {
              minItems: days,
              maxItems: days,
              description: `taken over after their end, on each of the last ${days} days of UTC; the last is today`,
            }),
          }),
        ),
      },
    },
    async () => ({ ...(await loadLeases(pool)), recovered: await loadRecoveredLeases(pool, days) }),
  );
  app.get(
    '/api/v1/workers',
    {
      schema: {
        operationId: 'listWorkers',
        tags: ['workers'],
        summary: 'Processes with their loops and the domains they hold',
        querystring: nothing,
        response: answers(
          Type.Object({
            items: Type.Array(
              Type.Object({
                id: Type.String(),
                isKnown: Type.Boolean({ description: 'false: it holds leases and never registered' }),
                role: orNull(Type.String()),
                pool: orNull(Type.String()),
                host: orNull(Type.String()),
                pid: orNull(Type.Integer()),
                version: orNull(Type.String()),
                startedAt: orNull(date),
                heartbeatAt: orNull(date),
                isAlive: Type.Boolean(),
                isAway: Type.Boolean({ description: 'it believes its own network to be down' }),
                renders: Type.Boolean({ description: 'it has a browser for pages that need JavaScript' }),
                loops: Type.Array(loopShape, { description: 'as they were at its last heartbeat' }),
                memory: orNull(memoryShape),
                restarts: restartShape,
                leases: Type.Integer(),
                earliestExpiry: orNull(date),
                expired: Type.Integer(),
              }),
            ),
          }),
        ),
      },
    },
    async () => ({
      items: (await loadWorkers(pool)).map((worker) => ({
        ...worker,
        loops: shownLoops(worker.loops),
        memory: shownMemory(worker.memory),
        restarts: shownRestarts(worker.restarts),
      })),
    }),
  );
}
