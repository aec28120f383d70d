import { onScopeDispose, type Ref, ref, type ShallowRef, shallowRef, watch } from 'vue';
import { type Answer, ask, type Input, type OperationName } from './client.ts';
import { live } from './live.ts';
import { type Problem, problemOf } from './problem.ts';

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
 * `everyMs`. What is shown stays until the new answer is here. `input` answers null while there is nothing to ask.
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
  let askedAt = 0;
  let isAsking = false;
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function load(): Promise<void> {
    const asked = input();
    current?.abort();
    if (asked === null) {
      isLoading.value = false;
      data.value = null;
      return;
    }
    const mine = new AbortController();
    current = mine;
    askedAt = Date.now();
    isAsking = true;
    try {
      const answer = await ask(name, asked, { signal: mine.signal });
      if (current !== mine) return;
      data.value = answer;
      problem.value = null;
    } catch (error) {
      if (current !== mine || mine.signal.aborted) return;
      problem.value = problemOf(error);
    } finally {
      if (current === mine) {
        isLoading.value = false;
        isAsking = false;
        if (isStale) askSoon();
      }
    }
  }

  /** Asks again as soon as it may. What happened too soon is not forgotten: nothing else may happen for a long time. */
  function askSoon(): void {
    isStale = true;
    if (timer !== undefined || isAsking) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        if (isAsking || live.state === 'paused') return;
        isStale = false;
        void load();
      },
      Math.max(0, askedAt + (options.everyMs ?? 0) - Date.now()),
    );
  }

  watch(
    () => JSON.stringify(input()),
    () => {
      isLoading.value = data.value === null;
      void load();
    },
    { immediate: true },
  );
  if (options.everyMs !== undefined) watch(() => live.tick, askSoon);
  onScopeDispose(() => {
    clearTimeout(timer);
    isStale = false;
    current?.abort();
    current = null;
  });
  return { data, problem, isLoading, refresh: load };
}
