import type { FastifyInstance } from 'fastify';

type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
};
type Content = Record<string, { schema?: Schema }>;
type Operation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Description = {
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
};

const style = `:root { color-scheme: light dark; --edge: #8884; --quiet: #777; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--edge); }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid var(--edge); border-radius: 6px; }
details { border: 1px solid var(--edge); border-radius: 6px; margin: 0.5rem 0; padding: 0.5rem 0.75rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4rem; }
summary span { color: var(--quiet); }
nav a { margin-right: 0.75rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--edge); padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
`;

/** `GET /api/v1/docs`: what the OpenAPI document says, for people. Without a script, so that any policy allows it. */
export function addReferencePage(app: FastifyInstance): void {
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  app.get('/api/v1/docs', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'self'; frame-ancestors 'none'")
      .send(renderReference(app.swagger() as unknown as Description)),
  );
  app.get('/api/v1/docs/style.css', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/css; charset=utf-8').send(style),
  );
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

function renderReference({ info, paths }: Description): string {
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? 'other';
      groups.set(tag, [...(groups.get(tag) ?? []), renderOperation(method, path, operation)]);
    }
  }
  const tags = [...groups.keys()];
  const links = tags.map((tag) => `<a href="#${escaped(tag)}">${escaped(tag)}</a>`).join('');
  const parts = tags.map(
    (tag) => `<h2 id="${escaped(tag)}">${escaped(tag)}</h2>${groups.get(tag)!.join('')}`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(info.title)} API</title><link rel="stylesheet" href="/api/v1/docs/style.css"></head><body>
<h1>${escaped(info.title)} API <small>${escaped(info.version)}</small></h1>
<p>For programs: <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1). Send a token as <code>Authorization: Bearer …</code>;
<code>outrider token create</code> makes one. Errors are problem documents (RFC 9457) with a stable <code>code</code>.</p>
<nav>${links}</nav>${parts.join('')}</body></html>`;
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const { summary = '', description, parameters = [], requestBody, responses } = operation;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description: words }) =>
      `<tr><td><code>${escaped(name)}</code><td>${place}${required ? ', required' : ''}<td><code>${escaped(typeOf(schema))}</code><td>${escaped(words ?? schema.description ?? '')}</tr>`,
  );
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) => `<p>Body, ${escaped(type)}:</p><pre>${escaped(outlineOf(schema ?? {}))}</pre>`,
  );
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(
        ([type, { schema }]) =>
          `<p>Answers ${status}, ${escaped(type)}:</p><pre>${escaped(outlineOf(schema ?? {}))}</pre>`,
      ),
    );
  return `<details id="${escaped(operation.operationId ?? '')}"><summary><b>${method.toUpperCase()}</b> <code>${escaped(path)}</code> <span>${escaped(summary)}</span></summary>
${description === undefined ? '' : `<p>${escaped(description)}</p>`}${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}${body.join('')}${answers.join('')}</details>`;
}

/** A type in a few words. */
function typeOf(schema: Schema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.type === 'array') return listOf(typeOf(schema.items ?? {}));
  const { minimum, maximum } = schema;
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}…${maximum ?? ''}`;
  return `${String(schema.type ?? 'anything')}${range}${schema.default === undefined ? '' : `, ${JSON.stringify(schema.default)} unless said`}`;
}

const listOf = (type: string): string => (type.includes(' | ') ? `(${type})[]` : `${type}[]`);

const deepest = 6;

/** A schema as an outline: one line per field of an object, fields inside further in. */
function outlineOf(schema: Schema, depth = 0): string {
  if (depth > deepest) return typeOf(schema);
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => outlineOf(one, depth)).join(' | ');
  if (schema.type === 'array') return listOf(outlineOf(schema.items ?? {}, depth));
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return typeOf(schema);
  const required = new Set(schema.required);
  const lines = fields.map(
    ([name, one]) =>
      `${'  '.repeat(depth + 1)}${name}${required.has(name) ? '' : '?'}: ${outlineOf(one, depth + 1)}`,
  );
  return ['{', ...lines, `${'  '.repeat(depth)}}`].join('\n');
}
