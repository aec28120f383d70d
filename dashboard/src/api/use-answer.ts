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
      }
    }
  }

  watch(
    () => JSON.stringify(input()),
    () => {
      isLoading.value = data.value === null;
      void load();
    },
    { immediate: true },
  );
  const { everyMs } = options;
  // What happens too soon after an answer is asked for later: it may be the last thing that happens for a while.
  let later: ReturnType<typeof setTimeout> | undefined;
  function loadLater(inMs: number): void {
    later ??= setTimeout(
      () => {
        later = undefined;
        // One that is slow is not given up for another.
        if (isAsking) loadLater(everyMs ?? 0);
        else void load();
      },
      Math.max(0, inMs),
    );
  }
  if (everyMs !== undefined)
    watch(
      () => live.tick,
      () => loadLater(askedAt + everyMs - Date.now()),
    );
  onScopeDispose(() => {
    clearTimeout(later);
    current?.abort();
    current = null;
  });
  return { data, problem, isLoading, refresh: load };
}
