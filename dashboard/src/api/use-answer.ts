import { onScopeDispose, type Ref, ref, type ShallowRef, shallowRef, watch } from 'vue';
import { type Answer, ask, type Input, type OperationName } from './client.ts';
import { live } from './live.ts';
import { type Problem, problemOf } from './problem.ts';
import { useNews } from './use-news.ts';

/** What was asked, and where the asking stands. */
export type Asked<K extends OperationName> = {
  data: ShallowRef<Answer<K> | null>;
  problem: ShallowRef<Problem | null>;
  /** While there is nothing to show yet. */
  isLoading: Ref<boolean>;
  refresh(): Promise<void>;
};

/**
 * Asks the API for what a screen shows, again whenever the question changes, and again while things happen, at most every
 * `everyMs`. What is shown stays until the new answer is here, as long as it is about the same thing. `input` answers null while there is nothing to ask.
 */
export function useAnswer<K extends OperationName>(
  name: K,
  input: () => Input<K> | null,
  options: { everyMs?: number } = {},
): Asked<K> {
  const data = shallowRef<Answer<K> | null>(null) as ShallowRef<Answer<K> | null>;
  const problem = shallowRef<Problem | null>(null);
  const isLoading = ref(true);
  let current: AbortController | null = null;
  let isAsking = false;
  // Something happened while an answer was on its way, which may not tell of it.
  let isBehind = false;

  // What was asked for what is shown.
  let shown = '';

  async function load(): Promise<void> {
    const asked = input();
    current?.abort();
    if (asked === null) {
      current = null;
      isAsking = false;
      isLoading.value = false;
      data.value = null;
      return;
    }
    const mine = new AbortController();
    current = mine;
    isAsking = true;
    isBehind = false;
    try {
      const answer = await ask(name, asked, { signal: mine.signal });
      if (current !== mine) return;
      data.value = answer;
      shown = JSON.stringify(asked);
      problem.value = null;
    } catch (error) {
      if (current !== mine || mine.signal.aborted) return;
      const failed = problemOf(error);
      // A filter that is refused has no rows: those of the one before are not "from before", they are of something else.
      const isRefused = failed.status >= 400 && failed.status < 500 && failed.status !== 429;
      if (isRefused && JSON.stringify(asked) !== shown) data.value = null;
      problem.value = failed;
    } finally {
      if (current === mine) {
        isLoading.value = false;
        isAsking = false;
        // Paused meanwhile: going on brings news by itself.
        if (isBehind && live.state !== 'paused') void load();
      }
    }
  }

  // Which thing is asked about, where it is about one.
  let thing = '';
  watch(
    () => JSON.stringify(input()),
    () => {
      const named = JSON.stringify((input() as { path?: unknown } | null)?.path);
      // Another filter may leave its rows for a moment. Another thing may not: with an address that leads to nothing,
      // what was there before would be taken for it, buttons and all.
      if (named !== thing) {
        data.value = null;
        problem.value = null;
      }
      thing = named;
      isLoading.value = data.value === null;
      void load();
    },
    { immediate: true },
  );
  const { everyMs } = options;
  if (everyMs !== undefined)
    useNews(everyMs, () => {
      if (isAsking) isBehind = true;
      else void load();
    });
  // The page says that it asks again as soon as the server answers; what is asked only once keeps to that too.
  watch(
    () => live.state,
    (state) => {
      if (state === 'live' && problem.value?.status === 0 && !isAsking) void load();
    },
  );
  onScopeDispose(() => {
    current?.abort();
    current = null;
  });
  return { data, problem, isLoading, refresh: load };
}
