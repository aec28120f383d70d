import { say } from '../parts/toasts.ts';
import { type Answer, ask, type Input, type OperationName } from './client.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ListName } from './use-list.ts';

/** So many things are changed one by one at most: a caller has 600 requests a minute, and this page needs some itself. */
export const mostOneByOne = 200;
const mostAtOnce = 3;

/** The first of everything that matches a filter, read in one go; `more` says that there are others. */
export async function loadMatching<K extends ListName>(
  name: K,
  filter: Readonly<Record<string, string | number | boolean | undefined>>,
): Promise<{ items: Answer<K>['items']; more: boolean }> {
  const items: unknown[] = [];
  let cursor: string | null = null;
  do {
    const query: object = { ...filter, limit: mostOneByOne, cursor: cursor ?? undefined };
    const page: Answer<K> = await ask(name, { query } as unknown as Input<K>);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null && items.length < mostOneByOne);
  return {
    items: items.slice(0, mostOneByOne) as Answer<K>['items'],
    more: cursor !== null || items.length > mostOneByOne,
  };
}

// What would be answered to all the others as well.
const isForAll = ({ status }: Problem): boolean => [0, 401, 403, 429].includes(status);

/** Does the same to many things, a few at a time, and says how it went; answers how many it was done to. */
export async function actOnMany<K extends OperationName>(
  name: K,
  inputs: readonly Input<K>[],
  done: (count: number) => string,
): Promise<number> {
  const waiting = inputs.slice(0, mostOneByOne);
  const problems: Problem[] = [];
  let count = 0;
  const work = async (): Promise<void> => {
    for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
      try {
        await ask(name, input);
        count += 1;
      } catch (error) {
        const problem = problemOf(error);
        problems.push(problem);
        if (isForAll(problem)) waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  if (count > 0) say(done(count));
  const left = inputs.length - count;
  if (left > 0) say(`${left} of ${inputs.length} not done: ${problems[0]?.message ?? 'too many'}`, 'fail');
  return count;
}
