import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Config, dumpConfig, listSettings, originsOf } from '../config/index.ts';
import { answer, orNull, strict } from './schemas.ts';

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]);

/** The settings in force. */
export function addConfigRoutes(instance: FastifyInstance, { config }: { config: Config }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/config',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'listSettings',
        tags: ['operate'],
        summary: 'The settings in force, secrets masked, with the origin of each value and what it is for',
        querystring: Type.Object({}, strict),
        response: {
          200: answer({
            items: Type.Array(
              answer({
                key: Type.String(),
                env: Type.String(),
                value: Type.Unsafe<unknown>(orNull(value)),
                origin: Type.String(),
                default: Type.Unsafe<unknown>(orNull(value)),
                form: Type.String({ description: 'how a value is written' }),
                description: Type.String(),
                secret: Type.Boolean({ description: 'its value is masked' }),
              }),
            ),
          }),
        },
      },
    },
    async () => {
      const known = new Map(listSettings().map((one) => [one.key, one]));
      return {
        items: dumpConfig({ config, origins: originsOf(config), file: null }).map((line) => {
          const { default: usual, form, description, secret = false } = known.get(line.key)!;
          return { ...line, default: usual, form, description, secret };
        }),
      };
    },
  );
}
