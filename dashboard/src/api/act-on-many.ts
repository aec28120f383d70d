import { ref } from 'vue';
import { plural } from '../parts/format.ts';
import { say } from '../parts/toasts.ts';
import { type Answer, ask, type Input } from './client.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ListName } from './use-list.ts';

/** So many of what matches are read: their names are all held by the page. */
export const mostMatching = 50_000;
const pageSize = 1000;
// Small enough that the count moves and Stop is heard within a second.
const portion = 200;

/** What is done to many things just now, and how far it is. */
export const underWay = ref<{ done: number; most: number } | null>(null);
let isStopped = false;

/** Ends what is under way after the portion that it is at. */
export function stopMany(): void {
  isStopped = true;
}

/** Everything that matches a filter, as far as it is needed; `more` says that there are others. */
export async function loadMatching<K extends ListName, T>(
  name: K,
  filter: Readonly<Record<string, string | number | boolean | undefined>>,
  pick: (item: Answer<K>['items'][number]) => T,
): Promise<{ items: T[]; more: boolean }> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const query: object = { ...filter, limit: pageSize, cursor: cursor ?? undefined };
    const page: Answer<K> = await ask(name, { query } as unknown as Input<K>);
    for (const item of page.items) items.push(pick(item));
    cursor = page.cursor;
  } while (cursor !== null && items.length < mostMatching);
  return { items, more: cursor !== null };
}

/** What one call came to. */
type Portion<T> = { done: number; refused: readonly { detail: string }[]; left: readonly T[] };

/** Does the same to many things, a portion at a time, and says how it went; answers how many it was done to. */
export async function actOnMany<T>(
  ids: readonly T[],
  act: (ids: T[]) => Promise<Portion<T>>,
  done: (count: number) => string,
): Promise<number> {
  let waiting = [...ids];
  let count = 0;
  const refused: { detail: string }[] = [];
  let problem: Problem | null = null;
  isStopped = false;
  underWay.value = { done: 0, most: ids.length };
  try {
    while (waiting.length > 0 && !isStopped) {
      const answer = await act(waiting.slice(0, portion));
      waiting = [...answer.left, ...waiting.slice(portion)];
      count += answer.done;
      refused.push(...answer.refused);
      underWay.value = { done: ids.length - waiting.length, most: ids.length };
    }
  } catch (error) {
    problem = problemOf(error);
  } finally {
    underWay.value = null;
  }
  if (count > 0) say(done(count));
  if (problem === null && waiting.length > 0)
    say(`Stopped: ${plural(waiting.length, 'other is', 'others are')} as before.`);
  const left = refused.length + (problem === null ? 0 : waiting.length);
  if (left > 0)
    say(`${left} of ${ids.length} not done: ${problem?.message ?? refused[0]?.detail ?? ''}`, 'fail');
  return count;
}
