import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { listSwitches, saveSwitch, switchNames } from '../switches/index.ts';
import { answer, date, oneOf, orNull, strict, words } from './schemas.ts';

const state = answer({
  name: oneOf(switchNames),
  on: Type.Boolean(),
  changedAt: orNull(date),
  changedBy: orNull(Type.String()),
});

/** What can be switched off while everything runs. */
export function addSwitchRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/switches',
    {
      schema: {
        operationId: 'listSwitches',
        tags: ['operate'],
        summary: 'What can be switched off while everything runs, and how it stands',
        querystring: Type.Object({}, strict),
        response: { 200: answer({ items: Type.Array(state) }) },
      },
    },
    async () => ({ items: await listSwitches(pool) }),
  );
  app.put(
    '/api/v1/switches/:name',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'setSwitch',
        tags: ['operate'],
        summary: 'Switch something on or off; every process follows within seconds',
        params: Type.Object({ name: oneOf(switchNames) }, strict),
        body: Type.Object({ on: Type.Boolean(), reason: Type.Optional(words(2000)) }, strict),
        response: { 200: state },
      },
    },
    async ({ params: { name }, body, identity }) => {
      await saveSwitch(pool, name, body.on, identity.name, body.reason);
      const switches = await listSwitches(pool);
      return switches.find((one) => one.name === name)!;
    },
  );
}
