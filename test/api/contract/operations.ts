import type { Random } from '../../web/random.ts';
import { hostile, type Schema, valid } from './values.ts';

type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Described = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

/** What the API says of itself. */
export type ApiDocument = { openapi: string; paths: Record<string, Record<string, Described>> };

/** One operation of it. */
export type Operation = Described & { method: string; path: string };

/** A request for an operation. */
export type Asked = {
  method: string;
  url: string;
  headers: Record<string, string>;
  payload: string | undefined;
};

/** All operations. */
export const operationsOf = (document: ApiDocument): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
  );

/** Whether an operation answers without end. */
export const isStream = (operation: Operation): boolean =>
  operation.responses['200']?.content?.['text/event-stream'] !== undefined;

/** The schema of an answer; undefined where it is no JSON. */
export function answerSchema(operation: Operation, status: number, type: string): Schema | undefined {
  const { responses } = operation;
  const found = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;
  const [plainType] = type.split(';') as [string];
  if (plainType !== 'application/json' && !plainType.endsWith('+json')) return undefined;
  // Problem documents are described as plain JSON.
  return (found?.content?.[plainType] ?? found?.content?.['application/json'])?.schema;
}

const encoded = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  try {
    return encodeURIComponent(text);
  } catch {
    // Half a surrogate pair has no encoding in an address.
    return '%ED%A0%80';
  }
};

/** The values of a request, before anybody has written them down. */
type Drawn = {
  parameters: { name: string; in: string; value: unknown }[];
  body: unknown;
  type: string | undefined;
};

/** Makes requests; ids that are known make some of them mean something. */
export class Requests {
  readonly #random: Random;
  readonly #known: Readonly<Record<string, readonly string[]>>;

  constructor(random: Random, known: Readonly<Record<string, readonly string[]>>) {
    this.#random = random;
    this.#known = known;
  }

  /** Parameters and body as they should be, for a client that writes them down itself. */
  proper(operation: Operation): {
    parameters: Record<string, unknown>;
    body: unknown;
    type: string | undefined;
  } {
    const { parameters, body, type } = this.#draw(operation, (schema) => valid(schema, this.#random));
    // A client cannot write half of a surrogate pair into an address, nor tell an empty segment from none.
    const written = parameters
      .filter((one) => one.value !== '')
      .map(({ name, value }) => [name, typeof value === 'string' ? value.toWellFormed() : value]);
    // A file goes as it is: what was drawn for one must be text, or the client refuses to send it.
    const isFile = type !== undefined && type !== 'application/json' && typeof body !== 'string';
    return { parameters: Object.fromEntries(written), body: isFile ? JSON.stringify(body) : body, type };
  }

  /** A request for an operation: as it should be, or not. */
  make(operation: Operation): Asked {
    const random = this.#random;
    const isWild = random.next() < 0.6;
    const drawn = this.#draw(operation, (schema) =>
      isWild && random.next() < 0.5 ? hostile(schema, random) : valid(schema, random),
    );
    let url = operation.path;
    const query: string[] = [];
    for (const { name, in: place, value } of drawn.parameters) {
      if (place === 'path') url = url.replace(`{${name}}`, encoded(value) || '%20');
      if (place === 'query') query.push(`${encodeURIComponent(name)}=${encoded(value)}`);
    }
    if (isWild && random.next() < 0.1) query.push('unknown=1');
    if (query.length > 0) url += `?${query.join('&')}`;
    return { method: operation.method, url, ...this.#write(drawn) };
  }

  #draw(operation: Operation, draw: (schema: Schema) => unknown): Drawn {
    const random = this.#random;
    const parameters: Drawn['parameters'] = [];
    for (const { name, in: place, required, schema } of operation.parameters ?? []) {
      if (!required && random.next() < 0.6) continue;
      const known = this.#known[name];
      const value = known !== undefined && random.next() < 0.6 ? random.pick(known) : draw(schema);
      parameters.push({ name, in: place, value });
    }
    const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    return { parameters, type, body: body === undefined ? undefined : draw(body.schema) };
  }

  #write({ type, body }: Drawn): Pick<Asked, 'headers' | 'payload'> {
    const random = this.#random;
    if (type === undefined) return { headers: {}, payload: undefined };
    const text = type !== 'application/json' && typeof body === 'string' ? body : JSON.stringify(body);
    if (random.next() < 0.03)
      return { headers: { 'content-type': type }, payload: text.slice(0, random.int(text.length + 1)) };
    if (random.next() < 0.02) return { headers: { 'content-type': 'text/odd' }, payload: text };
    return { headers: { 'content-type': type }, payload: text };
  }
}
