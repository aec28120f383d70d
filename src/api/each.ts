import { type TSchema, Type } from 'typebox';
import { AppError } from '../errors/index.ts';
import { answer, count } from './schemas.ts';

/** As many as one call may name. */
export const mostNamed = 500;
// Acts are some milliseconds each, but to delete a source with its documents may take a minute: whoever asked should hear
// how far it is, and what is left is asked again.
const mostMs = 5000;

/** What became of things that were named one by one. */
export const eachShape = <T extends TSchema>(name: T) =>
  answer({
    done: count,
    refused: Type.Array(answer({ id: name, code: Type.String(), detail: Type.String() }), {
      description: 'left as they were, with why',
    }),
    left: Type.Array(name, { description: 'not tried yet: name them in another call' }),
  });

/** Things by their names, each once. */
export const names = <T extends TSchema>(name: T) =>
  Type.Array(name, { minItems: 1, maxItems: mostNamed, uniqueItems: true });

/** Does the same to one thing after the other; one that refuses holds up no other. */
export async function actOnEach<K>(ids: readonly K[], act: (id: K) => Promise<unknown>) {
  const refused: { id: K; code: string; detail: string }[] = [];
  const begun = performance.now();
  let tried = 0;
  for (const id of ids) {
    if (tried > 0 && performance.now() - begun > mostMs) break;
    tried += 1;
    try {
      await act(id);
    } catch (error) {
      if (!(error instanceof AppError) || error.httpStatus >= 500) throw error;
      refused.push({ id, code: error.code, detail: error.message });
    }
  }
  return { done: tried - refused.length, refused, left: ids.slice(tried) };
}
