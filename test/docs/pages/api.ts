import { buildApi } from '../../../src/api/app.ts';
import { neededRole } from '../../../src/api/identity.ts';
import { loadConfig } from '../../../src/config/index.ts';
import type { Database } from '../../../src/db/index.ts';
import { createLog, createMetrics, systemClock } from '../../../src/telemetry/index.ts';
import { code, table } from './markdown.ts';

type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  format?: string;
};
type Content = Record<string, { schema?: Schema }>;
type Described = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; description?: string }>;
};
type Operation = Described & { method: string; path: string; role: string };

/** What the API says of itself, with the role that each route needs. */
export async function listOperations(database: Database): Promise<Operation[]> {
  const roles = new Map<string, string>();
  const app = await buildApi({
    database,
    config: loadConfig({ env: {} }).config,
    clock: systemClock,
    log: createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
    version: '0',
    loops: () => [],
    onRoute: ({ method, url, config }) => {
      for (const one of [method].flat()) roles.set(`${one} ${url}`, neededRole(one, config?.role));
    },
  });
  try {
    await app.ready();
    const { paths } = app.swagger() as unknown as { paths: Record<string, Record<string, Described>> };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([name, described]) => {
        const method = name.toUpperCase();
        const url = path.replace(/\{(\w+)\}/g, ':$1');
        return { ...described, method, path: url, role: roles.get(`${method} ${url}`) ?? 'public' };
      }),
    );
  } finally {
    await app.close();
  }
}

/** A type in a few words. */
function typeOf(schema: Schema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ');
  const { minimum, maximum, maxLength, maxItems, items } = schema;
  if (schema.type === 'array') {
    const inside = typeOf(items ?? {});
    const one = inside.includes(' | ') ? `(${inside})` : inside;
    return `list of ${one}${maxItems === undefined ? '' : `, at most ${maxItems}`}`;
  }
  const kind = schema.format ?? [schema.type ?? 'anything'].flat().join(' | ');
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}…${maximum ?? ''}`;
  return `${kind}${range}${maxLength === undefined ? '' : `, at most ${maxLength} long`}`;
}

const noteOf = (schema: Schema, isRequired: boolean, words = schema.description): string =>
  [
    words ?? '',
    schema.default === undefined ? '' : `${JSON.stringify(schema.default)} unless said`,
    isRequired ? 'required' : '',
  ]
    .filter((one) => one !== '')
    .join('; ');

/** The fields of a body; of a list or a choice, those of what is in it. */
function fieldsOf(schema: Schema): [string, Schema, boolean][] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(fieldsOf);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    field,
    schema.required?.includes(name) === true,
  ]);
}

// Whoever wants all of them looks at the running server, where they have their types and words.
const mostFields = 10;

/** The fields of a body with those of the objects in it, as "settings.render"; deeper ones are told by the server. */
function bodyRows(schema: Schema, place: string, before = ''): string[][] {
  return fieldsOf(schema).flatMap(([name, field, isRequired]) => [
    [code(`${before}${name}`), place, typeOf(field), noteOf(field, isRequired)],
    ...(before === '' ? bodyRows(field, place, `${name}.`) : []),
  ]);
}

function answersOf({ responses }: Operation): string {
  const statuses = new Map<string, string[]>();
  for (const [status, { content = {} }] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue;
    const shown = Object.entries(content).map(([type, { schema = {} }]) => {
      if (type !== 'application/json') return type;
      const names = [...new Set(fieldsOf(schema).map(([name]) => name))];
      const more = names.length > mostFields ? ` and ${names.length - mostFields} more` : '';
      return names.length > 0 ? `${names.slice(0, mostFields).map(code).join(' ')}${more}` : typeOf(schema);
    });
    const words = shown.length === 0 ? '' : ` with ${shown.join(', or ')}`;
    statuses.set(words, [...(statuses.get(words) ?? []), status]);
  }
  return [...statuses].map(([words, some]) => `${some.join(' or ')}${words}`).join('; ');
}

function section(operation: Operation): string[] {
  const { method, path, role, summary = '', description, parameters = [], requestBody } = operation;
  const asked = parameters.map((one) => [
    code(one.name),
    one.in,
    typeOf(one.schema),
    noteOf(one.schema, one.required === true, one.description ?? one.schema.description),
  ]);
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema = {} }]) => {
    const fields = bodyRows(schema, type === 'application/json' ? 'body' : type);
    return fields.length > 0 ? fields : [['–', `body, ${type}`, 'text', noteOf(schema, false)]];
  });
  return [
    '',
    `### ${method} ${path}`,
    '',
    `${summary}. Needs ${role === 'public' ? 'nothing' : `the role ${role}`}; answers ${answersOf(operation)}.${description === undefined ? '' : ` ${description}`}`,
    ...table(['name', 'in', 'form', 'what it is'], [...asked, ...bodies]),
  ];
}

/** docs/reference/api.md. */
export async function renderApi(database: Database): Promise<string> {
  const operations = await listOperations(database);
  const tags = [...new Set(operations.map((one) => one.tags?.[0] ?? 'other'))].sort();
  return `${[
    '# API',
    '',
    'Made from the description that the API serves (`/api/v1/openapi.json`, OpenAPI 3.1) by `scripts/write-reference.mjs`; a test keeps it in step. A running server shows the same at `/api/v1/docs`, with whole answers.',
    '',
    'Requests carry `Authorization: Bearer TOKEN` ([access](../guides/api-access.md)). Bodies and answers are JSON in UTF-8 unless said otherwise; bodies come uncompressed. Unknown parameters are an error. Lists are read by `limit` and `cursor`: an answer names the cursor of the next page, `null` at the end. Errors are problem documents (RFC 9457) with a `code` of [errors](errors.md): any route may answer 400 `request_invalid`, 401 `sign_in_needed`, 403 `role_missing`, 405 `method_not_allowed` with `Allow`, 421 `wrong_host`, 429 `rate_limited` and 503 while the database is away; one that names a thing answers 404 when there is none. Beside the API stand `/healthz`, `/readyz` (open), `/health` and `/metrics` (open to programs of the same machine, else role read), and `/websub/…` for hubs.',
    '',
    ...tags.map((tag) => `- [${tag}](#${tag})`),
    ...tags.flatMap((tag) => [
      '',
      `## ${tag}`,
      ...operations.filter((one) => (one.tags?.[0] ?? 'other') === tag).flatMap(section),
    ]),
  ].join('\n')}\n`;
}
