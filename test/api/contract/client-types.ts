type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  default?: unknown;
};
type Content = Record<string, { schema?: Schema }>;
type Operation = {
  operationId: string;
  summary?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
/** An OpenAPI description, as far as a client needs it. */
export type Description = { paths: Record<string, Record<string, Operation>> };

/** The dashboard's view of the API: what each operation takes and answers, as TypeScript. */
export function renderClientTypes({ paths }: Description): string {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  all.sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1));
  const types = all.map(
    ({ operation }) =>
      `  /** ${operation.summary ?? ''} */\n  ${operation.operationId}: { input: ${inputOf(operation)}; answer: ${answerOf(operation)} };\n`,
  );
  const places = all.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method.toUpperCase()}', '${path}'],\n`,
  );
  return `// Made from the API's own description; see test/api/contract. Not edited by hand.\n\nexport type Operations = {\n${types.join('')}};\n\nexport const places = {\n${places.join('')}} as const;\n`;
}

function inputOf({ parameters = [], requestBody }: Operation): string {
  const parts: string[] = [];
  for (const [place, field] of [
    ['path', 'path'],
    ['query', 'query'],
  ] as const) {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) continue;
    const isOptional = own.every(({ required }) => required !== true);
    const fields = own.map(
      ({ name, required, schema }) =>
        `${key(name)}${required === true ? '' : '?'}: ${typeOf(schema)}${required === true ? '' : ' | undefined'}`,
    );
    parts.push(`${field}${isOptional ? '?' : ''}: { ${fields.join('; ')} }`);
  }
  const content = requestBody?.content ?? {};
  const json = content['application/json']?.schema;
  // What may come as JSON among others is a file.
  if (json !== undefined && Object.keys(content).length === 1) parts.push(`body: ${typeOf(json)}`);
  else if (Object.keys(content).length > 0) parts.push('text: string');
  return `{ ${parts.join('; ')} }`;
}

function answerOf({ responses }: Operation): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const told = good.map(([, { content }]) => {
    const schema = content?.['application/json']?.schema;
    return schema === undefined || Object.keys(content ?? {}).length > 1 ? 'string' : typeOf(schema);
  });
  return [...new Set(told)].join(' | ') || 'unknown';
}

const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
const literal = (value: unknown): string => JSON.stringify(value);

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'array': {
      const item = schema.items === undefined ? 'unknown' : typeOf(schema.items);
      return item.includes('|') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectOf(schema);
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'unknown';
  }
}

function objectOf({
  properties = {},
  required = [],
  patternProperties,
  additionalProperties,
}: Schema): string {
  const fields = Object.entries(properties).map(([name, value]) =>
    required.includes(name)
      ? `${key(name)}: ${typeOf(value)}`
      : `${key(name)}?: ${typeOf(value)} | undefined`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  const [value] = Object.values(patternProperties ?? {});
  if (value !== undefined) return `Record<string, ${typeOf(value)}>`;
  return typeof additionalProperties === 'object'
    ? `Record<string, ${typeOf(additionalProperties)}>`
    : 'Record<string, unknown>';
}
