import { type Operations, places } from './operations.ts';
import { readProblem } from './problem.ts';

/** The name of something the API can be asked. */
export type OperationName = keyof Operations;
/** What it is asked with. */
export type Input<K extends OperationName> = Operations[K]['input'];
/** What it answers. */
export type Answer<K extends OperationName> = Operations[K]['answer'];
/** One of the things in a list. */
export type Item<K extends OperationName> = Answer<K> extends { items: (infer T)[] } ? T : never;

type AnyInput = {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  text?: string;
};

let onSignedOut = (): void => undefined;

/** Says what to do when the server does not know us any more. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

/** The address of a request. */
export function addressOf<K extends OperationName>(name: K, input: Input<K>): string {
  const { path = {}, query = {} } = input as AnyInput;
  const [, template] = places[name];
  const address = template.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(path[part])));
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') words.set(key, String(value));
  const tail = words.toString();
  return tail === '' ? address : `${address}?${tail}`;
}

/** Asks the API; throws a `Problem` when it refuses. */
export async function ask<K extends OperationName>(
  name: K,
  input: Input<K>,
  options: { signal?: AbortSignal; bearer?: string } = {},
): Promise<Answer<K>> {
  const { body, text } = input as AnyInput;
  const [method] = places[name];
  const response = await fetch(addressOf(name, input), {
    method,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(text === undefined ? {} : { body: text }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(text === undefined ? {} : { 'content-type': 'text/plain' }),
    },
  });
  if (response.ok) {
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return (isJson ? await response.json() : await response.text()) as Answer<K>;
  }
  if (response.status === 401) onSignedOut();
  throw await readProblem(response);
}
